#include "text/check_digits.h"

#include <cstddef>
#include <vector>

namespace sotto {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int LuhnSum(std::string_view text) {
  int sum = 0;
  bool twice = false;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (!IsDigit(text[i])) continue;
    const int digit = text[i] - '0';
    sum += !twice ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
    twice = !twice;
  }
  return sum;
}

// Where its digits and letters stand.
std::vector<std::size_t> Signs(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsDigit(text[i]) || IsLetter(text[i])) places.push_back(i);
  }
  return places;
}

bool LooksLikeIban(std::string_view text, const std::vector<std::size_t>& signs) {
  return signs.size() >= 15 && signs.size() <= 34 && IsLetter(text[signs[0]]) &&
         IsLetter(text[signs[1]]) && IsDigit(text[signs[2]]) && IsDigit(text[signs[3]]);
}

// What the rearranged number leaves when divided by 97.
int IbanRest(std::string_view text, const std::vector<std::size_t>& signs) {
  int rest = 0;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const char c = text[signs[(i + 4) % signs.size()]];
    // The letters A … Z and a … z differ in one bit.
    rest = IsDigit(c) ? (10 * rest + c - '0') % 97 : (100 * rest + 10 + (c | 0x20) - 'a') % 97;
  }
  return rest;
}

}  // namespace

bool HasLuhn(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) digits += IsDigit(c) ? 1 : 0;
  return digits >= 1 && LuhnSum(text) % 10 == 0;
}

bool HasIban(std::string_view text) {
  const auto signs = Signs(text);
  return LooksLikeIban(text, signs) && IbanRest(text, signs) == 1;
}

std::string WithLuhn(std::string text) {
  const auto last = text.find_last_of("0123456789");
  if (last == std::string::npos) return text;
  text[last] = '0';
  text[last] = static_cast<char>('0' + (10 - LuhnSum(text) % 10) % 10);
  return text;
}

std::string WithIban(std::string text) {
  const auto signs = Signs(text);
  if (!LooksLikeIban(text, signs)) return text;
  text[signs[2]] = text[signs[3]] = '0';
  const int check = 98 - IbanRest(text, signs);  // 2 … 98
  text[signs[2]] = static_cast<char>('0' + check / 10);
  text[signs[3]] = static_cast<char>('0' + check % 10);
  return text;
}

}  // namespace sotto
