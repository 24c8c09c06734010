// Letters and digits one after another, however they are written or read: "GB29 NWBK", "g b two
// nine n w b k", "double seven", "m as in mike", "golf bravo".
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "text/lexemes.h"

namespace sotto {

// Some digits or some letters that were said in one go.
struct CodeItem {
  std::size_t first = 0, last = 0;  // lexemes: first … last − 1
  std::string chars;                // digits, or letters in lower case
  bool letters = false;
  bool spoken = false;  // digits in words
  bool single = false;  // a digit or a letter by itself (or doubled)
  bool weak = false;    // a word that is only perhaps a letter or a digit: "golf", "for"
  bool sure = false;    // a letter that nothing else can be: "m as in mike"
  // What stands before it: 'g' nothing at all, ' ', a sign, or 'w' for a word ("dash").
  char gap = ' ';
};

// One letter at lexeme `at`, with what belongs to it: "capital j", "double l", "m as in mike",
// "m for mother", "bravo". None where there is none.
std::optional<CodeItem> ReadLetter(const LexedText& text, std::size_t at);

// The same, or the next digits, or a word of letters without space before or behind a digit.
std::optional<CodeItem> ReadCodeItem(const LexedText& text, std::size_t at);

}  // namespace sotto
