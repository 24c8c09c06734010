#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "text/patterns_scan.h"
#include "text/spoken_numbers.h"

namespace sotto {
namespace {

template <std::size_t N>
bool IsAny(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Dates {
 public:
  explicit Dates(PatternScan& scan) : scan_(scan), text_(scan.text()) {}

  void Find() {
    for (std::size_t i = 0; i < text_.size();) {
      std::size_t next = 0;
      if (!scan_.IsTaken(i)) {
        const Lexeme& lexeme = text_[i];
        if (lexeme.IsDigits()) next = FindNumeric(i);
        if (next == 0 && lexeme.IsDigits()) next = FindBare(i);
        if (next == 0 && lexeme.info->role != NumberRole::kNone) next = FindRead(i);
        if (next == 0 && lexeme.Has(kMonthName)) next = FindMonth(i);
        if (next == 0 && lexeme.Has(kWeekday)) next = FindWeekday(i);
        if (next == 0 && text_.Is(i, "the")) next = FindDayOfMonth(i);
        if (next == 0 && (lexeme.IsDigits() || lexeme.info->role != NumberRole::kNone)) {
          next = FindYear(i);
        }
      }
      i = std::max(i + 1, next);
    }
  }

 private:
  // The value of a run of at most four digits, −1 for others.
  int Value(std::size_t i) const {
    const Lexeme& lexeme = text_.At(i);
    if (!lexeme.IsDigits() || lexeme.end - lexeme.begin > 4) return -1;
    return std::stoi(text_.Digits(lexeme));
  }
  std::size_t Size(std::size_t i) const { return text_.At(i).end - text_.At(i).begin; }

  static bool IsYear(int value) { return value >= 1800 && value < 2100; }
  static bool IsDayAndMonth(int a, int b) {
    return a >= 1 && b >= 1 && a <= 31 && b <= 31 && (a <= 12 || b <= 12);
  }

  // "2024-03-05", "5/3/24", "5.3.2024", "13-Feb-2014", "03/2024", "on 5/3".
  std::size_t FindNumeric(std::size_t i) {
    const Lexeme& sign = text_.At(i + 1);
    if (!sign.glued || !text_.At(i + 2).glued) return 0;
    const char separator = sign.sign;
    if (separator != '-' && separator != '/' && separator != '.') return 0;
    if (text_[i].glued && i > 0 && text_[i - 1].sign == separator) return 0;
    const int a = Value(i);
    const int b = text_.At(i + 2).Has(kMonthName) ? text_[i + 2].info->month : Value(i + 2);
    if (a < 0 || b < 0) return 0;
    const bool third = text_.At(i + 3).glued && text_.At(i + 3).IsSign(separator) &&
                       text_.At(i + 4).glued && text_.At(i + 4).IsDigits();
    if (third) {
      const int c = Value(i + 4);
      const bool ends = !(text_.At(i + 5).glued && text_.At(i + 5).IsSign(separator) &&
                          text_.At(i + 6).glued && text_.At(i + 6).IsDigits());
      const bool year_first = Size(i) == 4 && IsYear(a) && Size(i + 4) <= 2 && IsDayAndMonth(b, c);
      const bool year_last = Size(i) <= 2 && IsDayAndMonth(a, b) &&
                             (Size(i + 4) == 2 || (Size(i + 4) == 4 && IsYear(c)));
      if (!ends || !(year_first || year_last)) return 0;
      scan_.Take(i, i + 5, EntityType::kDate, 0.95);
      return i + 5;
    }
    const bool month_of_year =
        (Size(i) <= 2 && a >= 1 && a <= 12 && Size(i + 2) == 4 && IsYear(b)) ||
        (Size(i) == 4 && IsYear(a) && Size(i + 2) == 2 && b >= 1 && b <= 12);
    const bool day =
        separator == '/' && IsDayAndMonth(a, b) && i > 0 && IsAny(text_.LowerAt(i - 1), kDayCues);
    // "expires 09/27"
    const bool expiry = separator == '/' && a >= 1 && a <= 12 && Size(i + 2) == 2 && i > 0 &&
                        HasCue(text_, i, kExpiryCue);
    if (!(separator != '.' && month_of_year) && !day && !expiry) return 0;
    scan_.Take(i, i + 3, EntityType::kDate, month_of_year ? 0.8 : 0.6);
    return i + 3;
  }

  // "2024 03 05", "5 3 2024", as they stand where punctuation was taken away.
  std::size_t FindBare(std::size_t i) {
    const int a = Value(i), b = Value(i + 1), c = Value(i + 2);
    if (a < 0 || b < 0 || c < 0 || text_[i].glued || text_[i + 1].new_line ||
        text_[i + 2].new_line) {
      return 0;
    }
    if (text_.At(i + 3).IsDigits() || text_.At(i + 3).glued || (i > 0 && text_[i - 1].IsDigits())) {
      return 0;
    }
    const bool year_first = Size(i) == 4 && IsYear(a) && Size(i + 2) == 2 && IsDayAndMonth(b, c);
    const bool year_last = Size(i + 2) == 4 && IsYear(c) && Size(i) <= 2 && IsDayAndMonth(a, b);
    if (!year_first && !year_last) return 0;
    scan_.Take(i, i + 3, EntityType::kDate, 0.7);
    return i + 3;
  }

  // "three slash four slash eighty four"
  std::size_t FindRead(std::size_t i) {
    std::size_t at = i;
    for (int part = 0; part < 3; ++part) {
      if (part > 0 && !text_.Is(at++, "slash")) return 0;
      if (Size(at) > 16 || at >= text_.size()) return 0;
      if (part == 2) {
        const std::size_t year = EndOfYear(at);
        if (year > at) {
          at = year;
          break;
        }
      }
      const auto number = ReadNumber(text_, at);
      if (!number || number->digits.size() > 2) return 0;
      if (part < 2 && number->digits > "31" && number->digits.size() == 2) return 0;
      at = number->last;
      // "oh three"
      if (number->digits == "0") {
        const auto digit = ReadNumber(text_, at);
        if (!digit || !digit->single) return 0;
        at = digit->last;
      }
    }
    scan_.Take(i, at, EntityType::kDate, 0.9);
    return at;
  }

  // A day of a month that begins at i: "fifth", "5th", "twenty two", "5". The lexeme behind it.
  std::optional<NumberWord> ReadDay(std::size_t i) const {
    if (i >= text_.size() || scan_.IsTaken(i) || Size(i) > 16) return std::nullopt;
    auto day = ReadNumber(text_, i);
    if (!day || day->digits.size() > 2 || std::stoi(day->digits) < 1 ||
        std::stoi(day->digits) > 31) {
      return std::nullopt;
    }
    return day;
  }

  // The day that ends before `end`, for which at most three lexemes are tried: "twenty-second".
  std::optional<NumberWord> DayBefore(std::size_t end) const {
    std::optional<NumberWord> found;
    for (std::size_t back = 1; back <= 3 && back <= end; ++back) {
      const auto day = ReadDay(end - back);
      if (day && day->last == end) found = day;
    }
    return found;
  }

  // The end of a year that begins at i: "1984", "nineteen eighty four", "two thousand and five",
  // "twenty seventeen"; i where there is none.
  std::size_t EndOfYear(std::size_t i) const {
    if (text_.At(i).IsDigits()) {
      const bool joined = text_.At(i + 1).glued && !text_.At(i + 1).IsSign(',') &&
                          !text_.At(i + 1).IsSign('.') && !text_.At(i + 1).IsSign(')') &&
                          !text_.At(i + 1).IsSign('?') && !text_.At(i + 1).IsSign('!') &&
                          !text_.At(i + 1).IsSign('\'') && !text_.At(i + 1).IsSign(';') &&
                          !text_.At(i + 1).IsSign(':') && !text_.Is(i + 1, "s");
      const bool thousands =
          text_.At(i + 1).glued && text_.At(i + 2).glued && text_.At(i + 2).IsDigits();
      if (Size(i) != 4 || !IsYear(Value(i)) || joined || thousands) return i;
      return text_.At(i + 1).glued && text_.Is(i + 1, "s") ? i + 2 : i + 1;  // "1980s"
    }
    if (text_.At(i).info->role == NumberRole::kNone) return i;
    const auto first = ReadNumber(text_, i);
    if (!first || first->form != NumberForm::kCardinal) return i;
    if (first->digits.size() == 4) {
      return IsYear(std::stoi(first->digits)) ? first->last : i;
    }
    const bool century = first->digits == "18" || first->digits == "19" || first->digits == "20";
    if (!century) return i;
    auto second = ReadNumber(text_, first->last);
    if (!second || !second->spoken || second->form != NumberForm::kCardinal) return i;
    if (second->digits == "0") {  // "nineteen oh five"
      second = ReadNumber(text_, second->last);
      return second && second->single && second->digits.size() == 1 ? second->last : i;
    }
    return second->digits.size() == 2 && !second->single ? second->last : i;
  }

  bool IsNumberAt(std::size_t i) const {
    const NumberRole role = text_.At(i).info->role;
    return text_.At(i).IsDigits() || (role != NumberRole::kNone && role != NumberRole::kOrdinal);
  }

  // "march fifth", "the fifth of march nineteen eighty four", "friday 5 march", "in january".
  std::size_t FindMonth(std::size_t i) {
    static constexpr std::array<std::string_view, 14> kVerbs = {"i",    "you",  "we", "he",  "she",
                                                                "it",   "they", "be", "not", "have",
                                                                "also", "only", "or", "as"};
    const std::string_view word = text_.LowerAt(i);
    static constexpr std::array<std::string_view, 10> kSubjects = {
        "i", "you", "we", "he", "she", "it", "they", "that", "there", "who"};
    if (word == "may" && (IsAny(text_.LowerAt(i + 1), kVerbs) ||
                          (i > 0 && IsAny(text_.LowerAt(i - 1), kSubjects)))) {
      return 0;
    }
    const bool abbreviation = word.size() == 3 && word != "may";
    std::size_t begin = i;
    std::size_t end = i + 1;
    bool day = false;
    if (abbreviation && text_.At(end).IsSign('.') && text_.At(end).glued) ++end;
    // The day before: "fifth of march", "5-march".
    std::size_t before = i;
    if (before > 0 && (text_.Is(before - 1, "of") || text_[before - 1].IsSign('-'))) --before;
    if (auto found = DayBefore(before)) {
      // "at 10 may" and "twenty one march" but not the end of a longer number.
      if (found->first == 0 || !IsNumberAt(found->first - 1)) {
        begin = found->first;
        day = true;
      }
    }
    if (!day) {
      std::size_t next = end;
      if (text_.At(next).IsSign('-') && text_.At(next).glued) ++next;
      if (text_.Is(next, "the")) ++next;
      const auto found = ReadDay(next);
      // "mar" and "jan" are also a word and a name.
      const bool name = word == "mar" || word == "jan";
      const bool clear = found && (!name || found->form != NumberForm::kCardinal ||
                                   found->last - found->first > 1);
      // "april nineteen seventy five" is a year.
      const bool year = found && found->form == NumberForm::kCardinal && !text_.At(next).new_line &&
                        EndOfYear(next) > found->last && EndOfYear(found->last) == found->last;
      if (clear && !year && !text_.At(next).new_line) {
        end = found->last;
        day = true;
      }
    }
    std::size_t year = end;
    if (text_.At(year).IsSign(',') || text_.At(year).IsSign('-') || text_.Is(year, "of")) ++year;
    const std::size_t end_of_year = text_.At(year).new_line ? year : EndOfYear(year);
    const bool with_year = end_of_year > year;
    if (with_year) {
      end = end_of_year;
    } else if (day) {
      end = EndOfShortYear(end);
    }
    double confidence = day ? 0.95 : 0.9;
    if (!day && !with_year) {
      if (abbreviation) return 0;
      const bool cue = i > 0 && IsAny(text_.LowerAt(i - 1), kMonthCues);
      // "november" among words of the spelling alphabet
      if (text_[i].Has(kSpellingWord) &&
          (text_.At(i + 1).Has(kSpellingWord) || (i > 0 && text_[i - 1].Has(kSpellingWord)) ||
           (i > 1 && text_.Is(i - 2, "n")) || (i > 2 && text_.Is(i - 3, "n")))) {
        return 0;
      }
      if (text_[i].Has(kMonthlikeWord) && !cue) return 0;
      confidence = cue ? 0.9 : 0.8;
    }
    if (day && begin > 0) begin = WithWeekday(begin);
    scan_.Take(begin, end, EntityType::kDate, confidence);
    return end;
  }

  // "'84" and "eighty four" behind a day.
  std::size_t EndOfShortYear(std::size_t at) const {
    if (text_.At(at).IsSign('\'') && text_.At(at + 1).glued && Size(at + 1) == 2 &&
        text_.At(at + 1).IsDigits()) {
      return at + 2;
    }
    if (text_.At(at).info->role != NumberRole::kTen) return at;
    const auto number = ReadNumber(text_, at);
    const bool year = number && number->form == NumberForm::kCardinal &&
                      number->digits.size() == 2 && number->digits > "31";
    return year && !IsNumberAt(number->last) ? number->last : at;
  }

  std::size_t WithWeekday(std::size_t begin) const {
    std::size_t at = begin;
    if (at > 0 && text_.Is(at - 1, "the")) --at;
    const std::size_t with_the = at;
    if (at > 0 && text_[at - 1].IsSign(',')) --at;
    static constexpr std::array<std::string_view, 9> kShort = {
        "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat"};
    if (at > 0 && (text_[at - 1].Has(kWeekday) || IsAny(text_.LowerAt(at - 1), kShort) ||
                   text_.Is(at - 1, "sun"))) {
      return at - 1;
    }
    return with_the < begin ? with_the : begin;
  }

  std::size_t FindWeekday(std::size_t i) {
    // A date may follow: that takes the weekday with it.
    std::size_t begin = i;
    if (i > 0 && IsAny(text_.LowerAt(i - 1), kWeekdayCues)) --begin;
    scan_.Take(begin, i + 1, EntityType::kDate, 0.9);
    return i + 1;
  }

  // "on the fifteenth", "the twenty second of this month", without its article.
  std::size_t FindDayOfMonth(std::size_t i) {
    static constexpr std::array<std::string_view, 22> kGoesOn = {
        "at", "and", "to", "in",   "for",  "is", "please", "from", "with",  "do",   "i",
        "my", "are", "on", "what", "will", "or", "if",     "when", "until", "till", "about"};
    const auto day = ReadDay(i + 1);
    if (!day || day->form != NumberForm::kOrdinal) return 0;
    std::size_t end = day->last;
    const bool month =
        text_.Is(end, "of") &&
        (text_.Is(end + 1, "this") || text_.Is(end + 1, "next") || text_.Is(end + 1, "last") ||
         text_.Is(end + 1, "the") || text_.Is(end + 1, "every") || text_.Is(end + 1, "each")) &&
        text_.Is(end + 2, "month");
    const bool cue = i > 0 && IsAny(text_.LowerAt(i - 1), kDayCues);
    const bool alone = !text_.At(end).IsWord() || IsAny(text_.LowerAt(end), kGoesOn);
    if (month) {
      end += 3;
    } else if (!cue || !alone) {
      return 0;
    }
    scan_.Take(i + 1, end, EntityType::kDate, month ? 0.9 : 0.6);
    return end;
  }

  // By itself only behind "in", "since", "born" and the like, and "nineteen eighty four".
  std::size_t FindYear(std::size_t i) {
    if (i > 0 && (IsNumberAt(i - 1) || text_[i].glued)) return 0;
    const std::size_t end = EndOfYear(i);
    if (end == i || IsNumberAt(end)) return 0;
    const bool decade = text_.Is(end - 1, "s");
    const bool cue = i > 0 && (text_[i - 1].Has(kYearCue) || text_.Is(i - 1, "year") ||
                               text_.Is(i - 1, "born") || text_.Is(i - 1, "dob"));
    const bool plain = text_[i].IsWord() && text_.Is(i, "nineteen") && end > i + 1;
    if (!cue && !plain && !decade) return 0;
    scan_.Take(i, end, EntityType::kDate, cue ? 0.7 : 0.6);
    return end;
  }

  static constexpr std::array<std::string_view, 13> kDayCues = {
      "on",    "by",    "for", "until", "till",  "from", "before",
      "after", "since", "due", "to",    "dated", "of"};
  static constexpr std::array<std::string_view, 17> kMonthCues = {
      "in",    "this", "next", "last",  "since", "until",  "till",    "by", "for",
      "every", "of",   "from", "early", "late",  "during", "through", "mid"};
  static constexpr std::array<std::string_view, 5> kWeekdayCues = {"last", "this", "every",
                                                                   "coming", "each"};

  PatternScan& scan_;
  const LexedText& text_;
};

}  // namespace

void FindDates(PatternScan& scan) { Dates(scan).Find(); }

}  // namespace sotto
