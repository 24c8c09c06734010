// Rows of digits and letters that are written or read one after another.
#pragma once

#include <cstddef>
#include <vector>

#include "text/patterns_characters.h"
#include "text/patterns_scan.h"

namespace sotto {

// Items that follow each other, with what belongs to them.
struct CodeRow {
  std::size_t begin = 0, end = 0;  // lexemes, with "+" and the extension
  bool plus = false, extension = false;
  std::vector<CodeItem> items;
};

// Whether a row can begin at a lexeme, at a glance.
bool CodeRowMayBegin(const LexedText& text, std::size_t i);

// The longest row from lexeme i on that holds nothing that was taken: items with white space,
// hyphens, brackets and, where they are read aloud, commas, pauses and "dash" between them. No
// items where none begins there.
CodeRow ReadCodeRow(const PatternScan& scan, std::size_t i);

}  // namespace sotto
