#include "text/pattern_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "text/check_digits.h"
#include "text/letter_case.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

using Words = std::span<const std::string_view>;

// Names of numbers: one is drawn for another of its row.
constexpr std::array<std::string_view, 11> kDigitNames = {
    "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
constexpr std::array<std::string_view, 10> kTeens = {"ten",      "eleven",  "twelve",  "thirteen",
                                                     "fourteen", "fifteen", "sixteen", "seventeen",
                                                     "eighteen", "nineteen"};
constexpr std::array<std::string_view, 8> kTens = {"twenty", "thirty",  "forty",  "fifty",
                                                   "sixty",  "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 9> kOrdinals = {
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"};
constexpr std::array<std::string_view, 10> kTeenth = {
    "tenth",     "eleventh",  "twelfth",     "thirteenth", "fourteenth",
    "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"};
constexpr std::array<std::string_view, 8> kTieth = {"twentieth", "thirtieth", "fortieth",
                                                    "fiftieth",  "sixtieth",  "seventieth",
                                                    "eightieth", "ninetieth"};
constexpr std::array<Words, 6> kNumberNames = {Words(kDigitNames), Words(kTeens),  Words(kTens),
                                               Words(kOrdinals),   Words(kTeenth), Words(kTieth)};

// What says how the rest is to be read.
constexpr std::array<std::string_view, 19> kKept = {
    "double", "triple", "quadruple", "hundred",    "thousand", "million", "and",
    "point",  "dot",    "dash",      "hyphen",     "plus",     "minus",   "at",
    "slash",  "colon",  "period",    "underscore", "hashtag"};
constexpr std::array<std::string_view, 3> kKeptOfUrls = {"http", "https", "www"};
constexpr std::array<std::string_view, 4> kOrdinalEnds = {"st", "nd", "rd", "th"};

bool In(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Drawer {
 public:
  Drawer(EntityType type, std::string_view text, BitSource& bits)
      : type_(type), text_(text), bits_(bits) {
    if (type == EntityType::kEmail || type == EntityType::kUrl) FindHostEnd();
  }

  DrawnForm Draw() {
    const bool address = type_ == EntityType::kIp;
    const bool hex = address && text_.find(':') != std::string_view::npos;
    for (std::size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      if (hex && IsHex(c)) {
        Hex(c);
        ++at;
      } else if (IsDigit(c) && address) {
        at += Octet(at);
      } else if (IsDigit(c)) {
        drawn_.text += static_cast<char>('0' + Below(10));
        ++at;
      } else if (IsLetter(c)) {
        at += Word(at);
      } else {
        at += Other(at);
      }
    }
    return Checked();
  }

 private:
  std::uint64_t Below(std::uint64_t n) {
    drawn_.log_share -= std::log(static_cast<double>(n));
    return bits_.Below(n);
  }

  // The last letters of the host: behind its last full stop, before a path.
  void FindHostEnd() {
    const auto scheme = text_.find("://");
    const auto at = text_.find('@');
    const std::size_t from = scheme != std::string_view::npos ? scheme + 3
                             : at != std::string_view::npos   ? at
                                                              : 0;
    const auto end = std::min(text_.find_first_of("/?#:", from), text_.size());
    const auto dot = text_.substr(0, end).rfind('.');
    if (dot != std::string_view::npos && dot >= from) host_end_ = dot + 1;
  }

  void Hex(char original) {
    const auto digit = static_cast<std::size_t>(Below(16));
    const bool upper = original >= 'A' && original <= 'F';
    drawn_.text += (upper ? "0123456789ABCDEF" : "0123456789abcdef")[digit];
  }

  // A number of as many digits, at most 255.
  std::size_t Octet(std::size_t at) {
    std::size_t end = at;
    while (end < text_.size() && IsDigit(text_[end])) ++end;
    const std::size_t digits = end - at;
    if (digits > 3 || (digits > 1 && text_[at] == '0') ||
        (digits == 3 && text_.substr(at, 3) > "255")) {
      drawn_.original_is_drawn = false;
    }
    const std::array<std::uint64_t, 4> least = {0, 0, 10, 100}, many = {1, 10, 90, 156};
    const std::size_t k = std::min<std::size_t>(digits, 3);
    drawn_.text += std::to_string(least[k] + Below(many[k]));
    return digits;
  }

  std::size_t Word(std::size_t at) {
    std::size_t end = at;
    while (end < text_.size() && IsLetter(text_[end])) ++end;
    const std::string_view word = text_.substr(at, end - at);
    const std::string lower = LowerCase(word);
    const bool country = type_ == EntityType::kIban && at == 0;
    if (at == host_end_ || In(kKept, lower) || (country && word.size() == 2) ||
        (type_ == EntityType::kUrl && In(kKeptOfUrls, lower)) ||
        (at > 0 && IsDigit(text_[at - 1]) && In(kOrdinalEnds, lower))) {
      drawn_.text += word;
      return word.size();
    }
    for (const Words names : kNumberNames) {
      if (!In(names, lower)) continue;
      drawn_.text += InCase(names[Below(names.size())], CaseOfEntity(word));
      return word.size();
    }
    for (std::size_t i = at; i < end; ++i) {
      // The country of an IBAN whose letters run on.
      if (country && i < 2) {
        drawn_.text += text_[i];
        continue;
      }
      const bool upper = text_[i] < 'a';
      drawn_.text += static_cast<char>((upper ? 'A' : 'a') + Below(26));
    }
    return word.size();
  }

  std::size_t Other(std::size_t at) {
    const Rune rune = DecodeUtf8(text_, at);
    if (rune.valid && rune.code >= 0x80 && IsWordCharacter(rune.code)) {
      drawn_.text += static_cast<char>('a' + Below(26));
      drawn_.original_is_drawn = false;
    } else {
      drawn_.text += text_.substr(at, rune.size);
    }
    return rune.size;
  }

  // Check digits follow from the others: they are not drawn.
  DrawnForm Checked() {
    if (type_ == EntityType::kCard && HasLuhn(text_)) {
      drawn_.text = WithLuhn(std::move(drawn_.text));
      drawn_.log_share += std::log(10.0);
    } else if (type_ == EntityType::kIban && HasIban(text_)) {
      drawn_.text = WithIban(std::move(drawn_.text));
      drawn_.log_share += std::log(100.0);
    }
    return std::move(drawn_);
  }

  EntityType type_;
  std::string_view text_;
  BitSource& bits_;
  std::size_t host_end_ = std::string_view::npos;
  DrawnForm drawn_;
};

}  // namespace

DrawnForm DrawSameForm(EntityType type, std::string_view original, BitSource& bits) {
  return Drawer(type, original, bits).Draw();
}

}  // namespace sotto
