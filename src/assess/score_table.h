// A tab-separated table with named columns, some of which are scores.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/tsv.h"

namespace sotto {

// Views point into the text given, which must outlive the table.
class ScoreTable {
 public:
  // Throws Error naming the file when a required column is missing or there is no row.
  ScoreTable(std::string_view text, std::string where,
             std::initializer_list<std::string_view> required);
  std::size_t Rows() const { return table_.rows.size(); }
  bool Has(std::string_view column) const { return table_.Column(column) != Tsv::kNone; }
  std::string_view Text(std::string_view column, std::size_t row) const;
  // A number or an infinity; Error naming the line for NaN and anything else.
  double Score(std::string_view column, std::size_t row) const;
  // "file, line 3".
  std::string At(std::size_t row) const;

 private:
  std::string where_;
  Tsv table_;
};

}  // namespace sotto
