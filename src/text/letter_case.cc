#include "text/letter_case.h"

#include <cstddef>

#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

// The letter whose lower case this is, else the character itself. In the alphabets that LowerCase
// knows, capitals stand 32 (ASCII, Latin-1, Greek, Cyrillic), 1 (extended Latin), 80 (Cyrillic) or
// 37, 38, 63, 64 (Greek with accents) places before.
char32_t UpperCaseOf(char32_t code) {
  for (const char32_t distance : {32U, 1U, 80U, 37U, 38U, 63U, 64U}) {
    if (code > distance && code - distance != LowerCase(code - distance) &&
        LowerCase(code - distance) == code) {
      return code - distance;
    }
  }
  return code;
}

template <typename Visit>
void ForEachRune(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const Rune rune = DecodeUtf8(text, at);
    visit(rune, text.substr(at, rune.size));
    at += rune.size;
  }
}

}  // namespace

std::string UpperCase(std::string_view text) {
  std::string upper;
  ForEachRune(text, [&](const Rune& rune, std::string_view bytes) {
    if (rune.valid) {
      AppendUtf8(UpperCaseOf(rune.code), upper);
    } else {
      upper += bytes;
    }
  });
  return upper;
}

LetterCase CaseOfEntity(std::string_view entity) {
  std::size_t lower = 0, upper = 0;
  bool first = true, capital = false, begins = true;
  std::size_t words = 0, capitals = 0;
  ForEachRune(entity, [&](const Rune& rune, std::string_view) {
    if (rune.valid && IsSpace(rune.code)) begins = true;
    const bool is_upper = rune.valid && LowerCase(rune.code) != rune.code;
    const bool is_lower = rune.valid && UpperCaseOf(rune.code) != rune.code;
    if (!is_upper && !is_lower) return;
    if (first) capital = is_upper;
    first = false;
    if (begins) {
      ++words;
      capitals += is_upper ? 1 : 0;
      begins = false;
    }
    (is_upper ? upper : lower) += 1;
  });
  if (upper >= 2 && lower == 0) return LetterCase::kUpper;
  if (words > 1 && capitals == words) return LetterCase::kTitle;
  if (capital) return LetterCase::kCapital;
  return upper == 0 && lower > 0 ? LetterCase::kLower : LetterCase::kAsItIs;
}

std::string InCase(std::string_view text, LetterCase letters) {
  if (letters == LetterCase::kLower) return LowerCase(text);
  if (letters == LetterCase::kUpper) return UpperCase(text);
  if (letters == LetterCase::kCapital && !text.empty()) {
    const std::size_t first = DecodeUtf8(text, 0).size;
    return UpperCase(text.substr(0, first)).append(text.substr(first));
  }
  if (letters == LetterCase::kTitle) {
    std::string title;
    bool begins = true;
    ForEachRune(text, [&](const Rune& rune, std::string_view bytes) {
      title += begins ? UpperCase(bytes) : std::string(bytes);
      begins = rune.valid && IsSpace(rune.code);
    });
    return title;
  }
  return std::string(text);
}

void LettersSeen::Look(std::string_view passage) {
  ForEachRune(passage, [this](const Rune& rune, std::string_view) {
    if (!rune.valid || (lower_ && upper_)) return;
    upper_ = upper_ || LowerCase(rune.code) != rune.code;
    lower_ = lower_ || UpperCaseOf(rune.code) != rune.code;
  });
}

LetterCase LettersSeen::Case() const {
  if (lower_ == upper_) return LetterCase::kAsItIs;
  return lower_ ? LetterCase::kLower : LetterCase::kUpper;
}

}  // namespace sotto
