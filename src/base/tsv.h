// Lines and fields of the text files everybody in the field uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// Lines without their ends; "\r\n" counts as one end, a last line without an end is a line.
std::vector<std::string_view> SplitLines(std::string_view text);

// Fields between single tabs (empty fields are kept).
std::vector<std::string_view> SplitTabs(std::string_view line);

// Fields between runs of spaces and tabs (none are empty).
std::vector<std::string_view> SplitBlanks(std::string_view line);

// A finite decimal number, or Error: "<where>: 'x' is not a number".
double ParseNumber(std::string_view text, const std::string& where);

// A tab-separated table with a header line; no quoting. Views point into `text`.
struct Tsv {
  std::vector<std::string_view> header;
  std::vector<std::vector<std::string_view>> rows;
  std::vector<std::size_t> lines;  // line number of each row, counted from 1
  // Index of a column, or npos.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t Column(std::string_view name) const;
};

// Throws Error naming `where` and the line when the header is missing or repeats a name, a row has
// another number of fields than the header, or a line is no UTF-8 or holds control characters. A
// byte-order mark is skipped, empty lines are not rows.
Tsv ParseTsv(std::string_view text, const std::string& where);

}  // namespace sotto
