#include "base/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace sotto {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") text_.remove_prefix(3);
    bool quoted = false;
    for (const char c : text_) {
      if (c == '"') quoted = !quoted;
      if (!quoted && c == '\t') separator_ = '\t';
      if (!quoted && (c == '\t' || c == '\n')) break;
    }
  }

  char Separator() const { return separator_; }
  std::size_t RecordLine() const { return record_line_; }

  // The next record that is not an empty line; false at the end.
  bool Next(std::vector<std::string>& fields) {
    while (at_ < text_.size()) {
      record_line_ = line_;
      fields.clear();
      bool any_quote = false;
      while (true) {
        fields.push_back(Field(any_quote));
        if (at_ < text_.size() && text_[at_] == separator_) {
          ++at_;
          continue;
        }
        break;
      }
      EndLine();
      if (fields.size() > 1 || any_quote || !fields.front().empty()) return true;
    }
    return false;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw Error(fmt::format("{}, line {}: {}", where_, line_, what));
  }

  bool AtLineEnd() const {
    return at_ >= text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
  }

  void EndLine() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size()) {
      ++at_;
      ++line_;
    }
  }

  std::string Field(bool& any_quote) {
    std::string field;
    if (at_ < text_.size() && text_[at_] == '"') {
      any_quote = true;
      ++at_;
      while (true) {
        if (at_ >= text_.size()) Fail("a quoted field is not closed");
        const char c = text_[at_++];
        if (c == '\n') ++line_;
        if (c != '"') {
          field += c;
        } else if (at_ < text_.size() && text_[at_] == '"') {
          field += '"';
          ++at_;
        } else {
          break;
        }
      }
      if (!AtLineEnd() && text_[at_] != separator_) Fail("text after a closing quote");
      return field;
    }
    while (!AtLineEnd() && text_[at_] != separator_) {
      if (text_[at_] == '"') Fail("a quote inside an unquoted field");
      field += text_[at_++];
    }
    return field;
  }

  std::string_view text_;
  std::string where_;
  char separator_ = ',';
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t record_line_ = 1;
};

bool IsFormula(std::string_view cell) {
  if (cell.size() < 2 || std::string_view("=+-@\t\r").find(cell[0]) == std::string_view::npos) {
    return false;
  }
  const std::string_view digits = cell.substr(cell[0] == '+' && cell[1] != '-' ? 1 : 0);
  const char first = digits[digits[0] == '-' ? 1 : 0];
  if (first != '.' && (first < '0' || first > '9')) return true;  // "-inf", "-nan(A1)"
  double value = 0.0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return code == std::errc::invalid_argument || end != digits.data() + digits.size();
}

void AppendRecord(std::string& out, const std::vector<std::string>& fields, char separator) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += separator;
    const std::string field = (IsFormula(fields[i]) ? "'" : "") + fields[i];
    const std::string special = {'"', '\n', '\r', '\t', separator};
    // Would read as an empty line, or as a byte-order mark.
    const bool lonely =
        (fields.size() == 1 && field.empty()) || (!field.empty() && field.front() == '\xEF');
    if (field.find_first_of(special) == std::string::npos && !lonely) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  out += '\n';
}

}  // namespace

std::size_t CsvTable::Column(std::string_view name, const std::string& where) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw Error(
        fmt::format("{}: no column '{}'; there are {}", where, name, fmt::join(header, ", ")));
  }
  return static_cast<std::size_t>(found - header.begin());
}

CsvTable ParseCsv(std::string_view text, const std::string& where) {
  RequireClean(text, where);
  Reader reader(text, where);
  CsvTable table;
  table.separator = reader.Separator();
  if (!reader.Next(table.header)) throw Error(fmt::format("{}: no header line", where));
  std::set<std::string> names;
  for (const std::string& name : table.header) {
    if (!names.insert(name).second) {
      throw Error(fmt::format("{}: column '{}' appears twice", where, name));
    }
  }
  std::vector<std::string> fields;
  while (reader.Next(fields)) {
    if (fields.size() != table.header.size()) {
      throw Error(fmt::format("{}, line {}: {} fields, the header has {}", where,
                              reader.RecordLine(), fields.size(), table.header.size()));
    }
    table.rows.push_back(fields);
    table.lines.push_back(reader.RecordLine());
  }
  return table;
}

std::string FormatCsv(const CsvTable& table) {
  std::string out;
  AppendRecord(out, table.header, table.separator);
  for (const auto& row : table.rows) AppendRecord(out, row, table.separator);
  return out;
}

}  // namespace sotto
