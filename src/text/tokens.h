// Text as a row of tokens, for transcripts without punctuation or capitals and for ordinary text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// A passage of the text, in bytes.
struct Token {
  std::size_t begin = 0, end = 0;

  friend bool operator==(const Token&, const Token&) = default;
};

// White space separates and belongs to none. Words are letters, digits and marks together with
// apostrophes, hyphens and full stops between them ("o'neil", "north-east", "3.5", "u.s"); "'s" at
// a word's end is a token of its own; what contains '@' or "://" between such characters stays
// whole; every other character (punctuation, a sign, an emoji) is one. All tokens and the white
// space between them make up the text again. Bytes that are no UTF-8 are signs.
std::vector<Token> Tokenise(std::string_view text);

// Lower case of ASCII, Latin, Greek and Cyrillic letters; others stay as they are. The result is as
// long as the text, and each of its characters stands where it stood.
std::string LowerCase(std::string_view text);

}  // namespace sotto
