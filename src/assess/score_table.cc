#include "assess/score_table.h"

#include <fmt/format.h>

#include "assess/trial_lines.h"
#include "base/error.h"

namespace sotto {

ScoreTable::ScoreTable(std::string_view text, std::string where,
                       std::initializer_list<std::string_view> required)
    : where_(std::move(where)), table_(ParseTsv(text, where_)) {
  for (const std::string_view column : required) {
    if (!Has(column)) throw Error(fmt::format("{}: no column '{}'", where_, column));
  }
  if (table_.rows.empty()) throw Error(fmt::format("{}: no rows", where_));
}

std::string_view ScoreTable::Text(std::string_view column, std::size_t row) const {
  return table_.rows[row][table_.Column(column)];
}

double ScoreTable::Score(std::string_view column, std::size_t row) const {
  return ParseScore(Text(column, row), where_, table_.lines[row]);
}

std::string ScoreTable::At(std::size_t row) const {
  return fmt::format("{}, line {}", where_, table_.lines[row]);
}

}  // namespace sotto
