// UTF-8 read one character at a time, from bytes of any kind: what is no UTF-8 is taken byte by
// byte and never read past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sotto {

// A character of a text.
struct Rune {
  char32_t code = 0;     // of a byte that is no UTF-8: U+FFFD
  std::size_t size = 1;  // in bytes
  bool valid = true;
};

// The character that begins at byte `at` < text.size(): of one byte and not valid where there is
// none (a lone continuation, an overlong form, a surrogate, above U+10FFFF, cut short).
Rune DecodeUtf8(std::string_view text, std::size_t at);

// Appends a character up to U+10FFFF.
void AppendUtf8(char32_t code, std::string& text);

// White space of Unicode; the byte-order mark counts as one.
bool IsSpace(char32_t code);
// Letters, digits and marks (categories L, N, M of Unicode 14) and the joiners U+200C and U+200D.
// Code points that nobody has been given count as letters, since a script of tomorrow has letters.
bool IsWordCharacter(char32_t code);
// What changes the character before it rather than being one: accents, variants of emoji and their
// colours of skin, joiners.
bool IsMark(char32_t code);

// Lower case of ASCII, Latin, Greek and Cyrillic letters whose lower case takes as many bytes; all
// others (and so İ, ẞ and the sign of the Kelvin) stay as they are.
char32_t LowerCase(char32_t code);

}  // namespace sotto
