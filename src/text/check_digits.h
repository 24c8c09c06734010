// Check digits of cards and bank accounts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sotto {

enum class CheckDigits : std::uint8_t { kNone, kLuhn, kIban };

// Of the digits and letters of a text; blanks and hyphens between them do not count.
//
// Luhn (ISO/IEC 7812-1): every second digit from the right is doubled, its digits are added; the
// sum is a multiple of 10.
bool HasLuhn(std::string_view text);
// ISO 13616: the first four characters go to the end, letters become 10 … 35; the number leaves 1
// when divided by 97. Two letters and two digits begin it, 15 to 34 characters in all.
bool HasIban(std::string_view text);

// The text with its last digit, or digits three and four, such that the above holds. A text that is
// of another form stays as it is.
std::string WithLuhn(std::string text);
std::string WithIban(std::string text);

}  // namespace sotto
