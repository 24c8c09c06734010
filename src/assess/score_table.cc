#include "assess/score_table.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

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
  std::string_view text = Text(column, row);
  if (text.substr(0, 1) == "+") text.remove_prefix(1);
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() ||
      (code != std::errc() && code != std::errc::result_out_of_range) || std::isnan(value)) {
    throw Error(fmt::format("{}: {} '{}' is not a score (a number, inf or -inf)", At(row), column,
                            Text(column, row)));
  }
  if (code == std::errc::result_out_of_range) {
    throw Error(fmt::format("{}: {} '{}' is outside the range of a double", At(row), column, text));
  }
  return value;
}

std::string ScoreTable::At(std::size_t row) const {
  return fmt::format("{}, row {}", where_, row + 1);
}

}  // namespace sotto
