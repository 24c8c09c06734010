#include "text/spoken_numbers.h"

#include <algorithm>
#include <utility>

namespace sotto {
namespace {

using enum NumberRole;

NumberRole RoleAt(const LexedText& text, std::size_t i) { return text.At(i).info->role; }

bool IsDigitWord(const LexedText& text, std::size_t i) {
  const NumberRole role = RoleAt(text, i);
  return role == kUnit || role == kZero || role == kMultiple;
}

// Digits that a word of several of them stands for may not grow without bound.
constexpr std::size_t kMostDigits = 40;

std::string Zeros(std::uint64_t scale) {
  const std::string digits = std::to_string(scale);
  return digits.substr(1);
}

// "21", "1,000", "3rd", "5 million".
NumberWord ReadWritten(const LexedText& text, std::size_t at) {
  NumberWord number = {at, at + 1, text.Digits(text[at]), NumberForm::kWritten, false, false};
  // Thousands between commas.
  const auto group_at = [&](std::size_t i) {
    return text.At(i).IsSign(',') && text.At(i).glued && text.At(i + 1).IsDigits() &&
           text.At(i + 1).glued && text.Digits(text.At(i + 1)).size() == 3;
  };
  if (number.digits.size() <= 3) {
    while (number.digits.size() < kMostDigits && group_at(number.last)) {
      number.digits += text.Digits(text[number.last + 1]);
      number.last += 2;
    }
  }
  const Lexeme& next = text.At(number.last);
  if (next.glued && next.IsWord()) {
    const std::string_view word = text.Lower(next);
    if (word == "st" || word == "nd" || word == "rd" || word == "th") {
      number.form = NumberForm::kOrdinal;
      ++number.last;
    }
  } else if ((next.info->role == kScale || next.info->role == kHundred) &&
             number.digits.size() < kMostDigits) {
    number.digits += Zeros(next.info->value);
    number.spoken = true;
    ++number.last;
  }
  return number;
}

// "double seven", "triple oh", "double 7".
std::optional<NumberWord> ReadMultiple(const LexedText& text, std::size_t at) {
  std::string digit;
  const NumberRole role = RoleAt(text, at + 1);
  if (role == kUnit || role == kZero) {
    digit = std::to_string(text.At(at + 1).info->value);
  } else if (const Lexeme& next = text.At(at + 1); next.IsDigits() && next.end - next.begin == 1) {
    digit = text.Digits(next);
  } else {
    return std::nullopt;
  }
  std::string digits;
  for (std::uint64_t i = 0; i < text[at].info->value; ++i) digits += digit;
  return NumberWord{at, at + 2, digits, NumberForm::kCardinal, true, true};
}

// English cardinals and ordinals, word by word.
class Cardinal {
 public:
  Cardinal(const LexedText& text, std::size_t at) : text_(text), at_(at) {}

  std::optional<NumberWord> Read() {
    const std::size_t first = at_;
    if (text_.Is(at_, "a") &&
        (RoleAt(text_, at_ + 1) == kHundred || RoleAt(text_, at_ + 1) == kScale)) {
      group_ = 1;
      below_ = Below::kNothing;
      begun_ = true;
      ++at_;
    }
    while (!ended_ && Step()) {
    }
    if (!begun_) return std::nullopt;
    NumberWord number = {first,
                         at_,
                         std::to_string(total_ + group_),
                         NumberForm::kCardinal,
                         true,
                         at_ == first + 1 && total_ + group_ < 10};
    if (ended_) number.form = NumberForm::kOrdinal;
    return number;
  }

 private:
  // What may still be said within the group of three digits.
  enum class Below { kHundred, kTen, kNothing };

  bool Step() {
    std::size_t next = at_;
    const bool joint = begun_ && below_ != Below::kNothing;
    // "and" behind hundreds and scales, a hyphen within tens.
    const bool with_and = joint && below_ == Below::kHundred && text_.Is(next, "and");
    if (with_and) ++next;
    const Lexeme& hyphen = text_.At(next);
    if (begun_ && hyphen.IsSign('-') && hyphen.glued && text_.At(next + 1).glued) ++next;
    const WordInfo& word = *text_.At(next).info;
    if (text_.At(next).new_line && begun_) return false;
    switch (word.role) {
      case kZero:
        if (begun_) return false;
        group_ = 0;
        below_ = Below::kNothing;
        begun_ = true;
        at_ = next + 1;
        return false;  // zero is a number by itself
      case kUnit:
      case kTeen:
      case kTen:
        return Add(word.value, next, with_and);
      case kHundred:
        if (!begun_ || with_and || hundred_ || group_ == 0 || group_ > 99) return false;
        group_ *= 100;
        hundred_ = true;
        below_ = Below::kHundred;
        at_ = next + 1;
        return true;
      case kScale:
        if (!begun_ || with_and || group_ == 0 || word.value >= scale_) return false;
        total_ += group_ * word.value;
        scale_ = word.value;
        group_ = 0;
        hundred_ = false;
        below_ = Below::kHundred;
        at_ = next + 1;
        return true;
      case kOrdinal:
        return AddOrdinal(word.value, next);
      default:
        return false;
    }
  }

  bool Add(std::uint64_t value, std::size_t next, bool with_and) {
    if (begun_ && (below_ == Below::kNothing || (below_ == Below::kTen && value > 9))) return false;
    // "eight hundred five five": digits one by one.
    if (begun_ && below_ == Below::kHundred && !with_and && value < 10 &&
        IsDigitWord(text_, next + 1)) {
      return false;
    }
    group_ += value;
    below_ = value >= 20 ? Below::kTen : Below::kNothing;
    begun_ = true;
    at_ = next + 1;
    return true;
  }

  bool AddOrdinal(std::uint64_t value, std::size_t next) {
    if (value >= 100) {  // "two hundredth"
      if (!begun_ || group_ == 0 || group_ > 99 || hundred_) return false;
      group_ *= value;
    } else {
      if (begun_ && (below_ == Below::kNothing || (below_ == Below::kTen && value > 9)))
        return false;
      group_ += value;
    }
    begun_ = true;
    ended_ = true;
    at_ = next + 1;
    return true;
  }

  const LexedText& text_;
  std::size_t at_;
  std::uint64_t total_ = 0, group_ = 0;
  std::uint64_t scale_ = 1'000'000'000'000'000;
  Below below_ = Below::kHundred;
  bool begun_ = false, hundred_ = false, ended_ = false;
};

bool IsPoint(const LexedText& text, std::size_t i) {
  const Lexeme& lexeme = text.At(i);
  if (lexeme.IsSign('.')) return lexeme.glued && text.At(i + 1).glued;
  return lexeme.IsWord() && text.Lower(lexeme) == "point";
}

SpokenNumber Passage(const LexedText& text, const NumberWord& number) {
  return {text[number.first].begin, text[number.last - 1].end, number.digits, number.form,
          number.spoken};
}

}  // namespace

std::optional<NumberWord> ReadNumber(const LexedText& text, std::size_t at) {
  const Lexeme& lexeme = text.At(at);
  if (lexeme.IsDigits()) return ReadWritten(text, at);
  if (!lexeme.IsWord()) return std::nullopt;
  switch (lexeme.info->role) {
    case kMultiple:
      return ReadMultiple(text, at);
    case kNone:
      if (!text.Is(at, "a")) return std::nullopt;
      [[fallthrough]];
    default:
      return Cardinal(text, at).Read();
  }
}

std::vector<SpokenNumber> FindNumbers(std::string_view text) {
  const LexedText lexed(text);
  std::vector<SpokenNumber> numbers;
  std::size_t at = 0;
  // Whether the last number ends where the next lexeme begins, and what it may be joined to.
  bool adjacent = false;
  bool joined_point = false;
  while (at < lexed.size()) {
    const bool decimal = IsPoint(lexed, at);
    const auto number = ReadNumber(lexed, at + (decimal ? 1 : 0));
    if (!number) {
      adjacent = false;
      joined_point = false;
      ++at;
      continue;
    }
    const SpokenNumber next = Passage(lexed, *number);
    const bool ordinal = next.form == NumberForm::kOrdinal;
    if (decimal && !ordinal && (!adjacent || !joined_point)) {
      if (adjacent && numbers.back().form != NumberForm::kOrdinal) {
        numbers.back().digits += '.' + next.digits;
        numbers.back().end = next.end;
        numbers.back().spoken = numbers.back().spoken || next.spoken;
      } else if (lexed[at].IsWord()) {  // "point five"
        numbers.push_back(next);
        numbers.back().begin = lexed[at].begin;
        numbers.back().digits = '.' + next.digits;
        numbers.back().spoken = true;
      } else {
        numbers.push_back(next);
      }
      joined_point = true;
      adjacent = true;
    } else if (!decimal && adjacent && !lexed[at].new_line &&
               (numbers.back().spoken || next.spoken) && !ordinal &&
               numbers.back().form != NumberForm::kOrdinal) {
      numbers.back().digits += next.digits;
      numbers.back().end = next.end;
      numbers.back().form = NumberForm::kSequence;
      numbers.back().spoken = true;
    } else {
      numbers.push_back(next);
      joined_point = false;
      adjacent = true;
    }
    at = number->last;
  }
  return numbers;
}

}  // namespace sotto
