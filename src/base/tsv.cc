#include "base/tsv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace sotto {

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> SplitTabs(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> SplitBlanks(std::string_view line) {
  std::vector<std::string_view> fields;
  constexpr std::string_view kBlanks = " \t";
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return fields;
}

double ParseNumber(std::string_view text, const std::string& where) {
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw Error(fmt::format("{}: '{}' is not a number", where, text));
  }
  return value;
}

std::size_t Tsv::Column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? kNone : static_cast<std::size_t>(found - header.begin());
}

Tsv ParseTsv(std::string_view text, const std::string& where) {
  RequireClean(text, where);
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  const auto lines = SplitLines(text);
  Tsv table;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    auto fields = SplitTabs(lines[i]);
    if (table.header.empty()) {
      for (std::size_t k = 0; k < fields.size(); ++k) {
        if (std::find(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(k), fields[k]) !=
            fields.begin() + static_cast<std::ptrdiff_t>(k)) {
          throw Error(fmt::format("{}: column '{}' appears twice", where, fields[k]));
        }
      }
      table.header = std::move(fields);
      continue;
    }
    if (fields.size() != table.header.size()) {
      throw Error(fmt::format("{}: line {} has {} fields, the header has {}", where, i + 1,
                              fields.size(), table.header.size()));
    }
    table.rows.push_back(std::move(fields));
    table.lines.push_back(i + 1);
  }
  if (table.header.empty()) throw Error(fmt::format("{}: no header line", where));
  return table;
}

}  // namespace sotto
