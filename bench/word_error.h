// Word errors: the least number of words inserted, deleted or replaced between two texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace sotto {

inline std::size_t WordErrors(const std::vector<std::string>& reference,
                              const std::vector<std::string>& heard) {
  std::vector<std::size_t> row(heard.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= reference.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t replaced = diagonal + (reference[i - 1] == heard[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace sotto
