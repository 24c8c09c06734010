// Numbers as they are written and as they are read aloud: "twenty one", "one hundred and five",
// "double seven", "triple oh", "nineteen eighty four", "twenty first", "3rd", "point five", digits
// one by one, and digits among words.
//
// The grammar is that of English cardinals: tens and units make a number below 100, one of those
// and "hundred" one below 10,000, and such a number goes before each scale (thousand, million, …),
// the scales falling. Where no rule joins two words, a new number begins: "forty two eleven" is 42
// and 11, and so is every digit read by itself. Two readings of "eight hundred five five five" are
// possible; where a unit behind "hundred" is followed by another digit, the digits are taken one
// by one (800, 5, 5, 5), as in a telephone number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/lexemes.h"

namespace sotto {

enum class NumberForm : std::uint8_t {
  kWritten,   // in digits: "21", "1,000"
  kCardinal,  // one number in words: "twenty one", "a hundred and five"
  kOrdinal,   // "twenty first", "3rd"
  kSequence,  // several in a row, read as one: "oh seven double seven", "nineteen eighty four"
};

// One number without a seam.
struct NumberWord {
  std::size_t first = 0, last = 0;  // lexemes: first … last − 1
  std::string digits;               // that it stands for: "twenty one" 21, "double oh" 00
  NumberForm form = NumberForm::kWritten;
  bool spoken = false;  // in words
  bool single = false;  // one digit, or one that was doubled, in words
};

// The longest number that begins with lexeme `at`; none where none does ("hundred", "a").
std::optional<NumberWord> ReadNumber(const LexedText& text, std::size_t at);

// A passage of the text, in bytes, that is a number.
struct SpokenNumber {
  std::size_t begin = 0, end = 0;
  // As it would be written: digits, and one '.' where "point" was read or written.
  std::string digits;
  NumberForm form = NumberForm::kWritten;
  bool spoken = false;  // some of it in words
};

// All numbers of a text, in order. Numbers in words that follow each other make one sequence;
// written ones with space between them do not, unless there are words beside them.
std::vector<SpokenNumber> FindNumbers(std::string_view text);

}  // namespace sotto
