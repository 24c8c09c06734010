// A text as the patterns read it: words, runs of digits and signs, each with what is known of its
// word. Finer than tokens: "664-8546x506" is five lexemes that stand without space between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// What a word is in a number read aloud.
enum class NumberRole : std::uint8_t {
  kNone,
  kUnit,      // one … nine
  kZero,      // zero, oh, nought
  kTeen,      // ten … nineteen
  kTen,       // twenty … ninety
  kHundred,   //
  kScale,     // thousand, million, …
  kOrdinal,   // first … twentieth, thirtieth, …; hundredth
  kMultiple,  // double, triple, treble, quadruple
};

// What else a word may be; a word may be several things at once.
enum WordFlag : std::uint32_t {
  kStopWord = 1U << 0U,          // cannot be part of an address that is read aloud
  kTopLevel = 1U << 1U,          // of a domain name
  kWordlikeTopLevel = 1U << 2U,  // one that is also an English word: "it", "me"
  kMonthName = 1U << 3U,
  kMonthlikeWord = 1U << 4U,  // a month that is also something else: "may", "march"
  kWeekday = 1U << 5U,
  kSpellingWord = 1U << 6U,  // of a spelling alphabet: alpha, bravo
  kLetterName = 1U << 7U,    // zed, aitch
  kConnector = 1U << 8U,     // within addresses: dot, underscore
  kPause = 1U << 9U,         // between digits read aloud: dash, space, uh
  kPhoneCue = 1U << 10U,
  kIdCue = 1U << 11U,
  kCardCue = 1U << 12U,
  kNumberCue = 1U << 13U,        // pin, code, account
  kSoundsLikeDigit = 1U << 14U,  // to, for, ate
  kMailHost = 1U << 15U,
  kLetterCase = 1U << 16U,   // capital, lowercase
  kYearCue = 1U << 17U,      // in, since, until
  kCodeCue = 1U << 18U,      // a number cue that no telephone number follows: account, pin
  kExpiryCue = 1U << 19U,    // expires, exp
  kSpellingCue = 1U << 20U,  // spelled, initials
};

struct WordInfo {
  std::uint32_t flags = 0;
  NumberRole role = NumberRole::kNone;
  char letter = 0;          // that a spelling word or the name of a letter stands for
  std::uint8_t month = 0;   // 1 … 12
  std::uint64_t value = 0;  // of a number word
};

// What is known of a word in lower case.
const WordInfo& LookUpWord(std::string_view word);

enum class LexemeKind : std::uint8_t { kWord, kDigits, kSign };

struct Lexeme {
  std::size_t begin = 0, end = 0;  // in bytes of the text
  LexemeKind kind = LexemeKind::kSign;
  bool glued = false;     // no white space before it
  bool new_line = false;  // a line end before it
  char sign = 0;          // the character of a sign, in ASCII: dashes '-', quotes '\'' and '"'
  const WordInfo* info = nullptr;  // never null

  bool IsWord() const { return kind == LexemeKind::kWord; }
  bool IsDigits() const { return kind == LexemeKind::kDigits; }
  bool IsSign(char c) const { return sign == c && kind == LexemeKind::kSign; }
  bool Has(std::uint32_t flags) const { return (info->flags & flags) != 0; }
};

// A text with its lexemes. Digits of other alphabets count as digits.
class LexedText {
 public:
  explicit LexedText(std::string_view text);

  std::string_view text() const { return text_; }
  const std::vector<Lexeme>& lexemes() const { return lexemes_; }
  std::size_t size() const { return lexemes_.size(); }
  const Lexeme& operator[](std::size_t i) const { return lexemes_[i]; }
  // Behind the last there is a sign that is none.
  const Lexeme& At(std::size_t i) const { return i < lexemes_.size() ? lexemes_[i] : none_; }
  // In lower case.
  std::string_view Lower(const Lexeme& lexeme) const {
    return std::string_view(lower_).substr(lexeme.begin, lexeme.end - lexeme.begin);
  }
  std::string_view LowerAt(std::size_t i) const { return Lower(At(i)); }
  bool Is(std::size_t i, std::string_view word) const { return LowerAt(i) == word; }
  // The letter of a word of one letter from a to z, else 0.
  char Letter(std::size_t i) const;
  // The digits of a run of digits, as ASCII.
  std::string Digits(const Lexeme& lexeme) const;

 private:
  std::string_view text_;
  std::string lower_;
  std::vector<Lexeme> lexemes_;
  Lexeme none_;
};

}  // namespace sotto
