// Tables as spreadsheets write them: comma- or tab-separated, fields quoted where they must be
// (RFC 4180). For files a user brings; our own tables are the plain TSV of base/tsv.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
  std::vector<std::size_t> lines;              // where each row begins, counted from 1
  char separator = ',';

  // Index of a column; throws Error that lists the columns there are.
  std::size_t Column(std::string_view name, const std::string& where) const;
};

// The separator is the tab when the header line has one outside quotes, else the comma. A
// byte-order mark is skipped, empty lines are not rows. Throws Error naming `where` and the line
// for an unclosed or misplaced quote, a row of another length, a repeated or missing header, text
// that is no UTF-8 or holds control characters.
CsvTable ParseCsv(std::string_view text, const std::string& where);

// Quotes what needs quoting; lines end in "\n". A cell that a spreadsheet would run as a formula
// (it begins with = + - @, a tab or a carriage return and is no number) gets an apostrophe before
// it.
std::string FormatCsv(const CsvTable& table);

}  // namespace sotto
