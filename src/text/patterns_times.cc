#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "text/patterns_scan.h"
#include "text/spoken_numbers.h"

namespace sotto {
namespace {

class Times {
 public:
  explicit Times(PatternScan& scan) : scan_(scan), text_(scan.text()) {}

  void Find() {
    for (std::size_t i = 0; i < text_.size();) {
      std::size_t next = 0;
      if (!scan_.IsTaken(i)) {
        const Lexeme& lexeme = text_[i];
        if (lexeme.IsDigits()) next = FindWritten(i);
        if (next == 0 && (lexeme.IsDigits() || lexeme.info->role != NumberRole::kNone)) {
          next = FindClock(i);
        }
        if (next == 0 && (text_.Is(i, "quarter") || text_.Is(i, "half"))) next = FindQuarter(i);
        if (next == 0 &&
            (text_.Is(i, "noon") || text_.Is(i, "midnight") || text_.Is(i, "midday"))) {
          scan_.Take(i, i + 1, EntityType::kTime, 0.8);
        }
      }
      i = std::max(i + 1, next);
    }
  }

 private:
  int Value(std::size_t i) const {
    const Lexeme& lexeme = text_.At(i);
    if (!lexeme.IsDigits() || lexeme.end - lexeme.begin > 4) return -1;
    return std::stoi(text_.Digits(lexeme));
  }

  // The lexeme behind "am", "p.m.", "a m", "in the morning"; i where there is none.
  std::size_t EndOfHalfDay(std::size_t i) const {
    const Lexeme& word = text_.At(i);
    if (word.new_line) return i;
    if (text_.Is(i, "am") || text_.Is(i, "pm")) {
      return text_.Is(i, "am") && text_.Is(i + 1, "i") ? i : i + 1;
    }
    const char letter = text_.Letter(i);
    if (letter == 'a' || letter == 'p') {
      std::size_t at = i + 1;
      if (text_.At(at).IsSign('.')) ++at;
      if (text_.Letter(at) != 'm') return i;
      ++at;
      return text_.At(at).IsSign('.') && text_.At(at).glued ? at + 1 : at;
    }
    if (text_.Is(i, "in") && text_.Is(i + 1, "the") &&
        (text_.Is(i + 2, "morning") || text_.Is(i + 2, "afternoon") ||
         text_.Is(i + 2, "evening"))) {
      return i + 3;
    }
    return text_.Is(i, "at") && text_.Is(i + 1, "night") ? i + 2 : i;
  }

  std::size_t EndOfClockWord(std::size_t i) const {
    if (text_.Is(i, "o'clock") || text_.Is(i, "o\u2019clock") || text_.Is(i, "oclock"))
      return i + 1;
    return text_.Is(i, "o") && text_.Is(i + 1, "clock") ? i + 2 : i;
  }

  // "10:45", "10:45:30", "10:45 pm", "9.30 am", "8h30".
  std::size_t FindWritten(std::size_t i) {
    const Lexeme& sign = text_.At(i + 1);
    const int hour = Value(i);
    if (!sign.glued || !text_.At(i + 2).glued || hour < 0 || hour > 24) return 0;
    if (text_[i].glued && i > 0 && (text_[i - 1].IsSign(':') || text_[i - 1].IsSign('.'))) return 0;
    if (text_[i].glued && i > 0 && text_[i - 1].IsWord() && !scan_.IsTaken(i - 2)) return 0;
    const bool minutes =
        text_.At(i + 2).end - text_.At(i + 2).begin == 2 && Value(i + 2) < 60 && Value(i + 2) >= 0;
    if (!minutes) return 0;
    std::size_t end = i + 3;
    const bool colon = sign.IsSign(':');
    if (colon && text_.At(end).IsSign(':') && text_.At(end + 1).IsDigits()) {
      end += 2;
      if (text_.At(end).IsSign('.') && text_.At(end).glued && text_.At(end + 1).IsDigits())
        end += 2;
    }
    const std::size_t half = EndOfHalfDay(end);
    const bool french = text_.Is(i + 1, "h");
    if (!colon && !french && !(sign.IsSign('.') && half > end)) return 0;
    scan_.Take(i, half, EntityType::kTime, 0.95);
    return half;
  }

  struct Clock {
    std::size_t end = 0;  // behind its last lexeme; 0: none
    bool minutes = false;
  };

  // "five", "five thirty", "five oh five", "five hundred and thirty", "0930".
  Clock ReadClock(std::size_t i) const {
    if (text_.At(i).end - text_.At(i).begin > 16) return {};
    const auto first = ReadNumber(text_, i);
    if (!first || first->form == NumberForm::kOrdinal || first->digits.size() > 4) return {};
    const int hour = std::stoi(first->digits);
    if (first->digits.size() > 2) {
      if (hour / 100 > 24 || hour % 100 > 59) return {};
      return {first->last, true};
    }
    if (hour > 24) return {};
    const Clock plain = {first->last, false};
    if (!first->spoken) {
      // "10 45 pm", as it stands where punctuation was taken away.
      const std::size_t next = first->last;
      const bool minutes = text_.At(next).end - text_.At(next).begin == 2 && Value(next) >= 0 &&
                           Value(next) < 60 && EndOfHalfDay(next + 1) > next + 1;
      return minutes ? Clock{next + 1, true} : plain;
    }
    auto second = ReadNumber(text_, first->last);
    // "oh nine hundred"
    if (first->digits == "0" && second && second->digits.size() == 3 && second->spoken) {
      return {second->last, true};
    }
    if (!second || !second->spoken || second->form == NumberForm::kOrdinal) return plain;
    if (second->digits == "0") {
      second = ReadNumber(text_, second->last);
      if (second && second->single && second->digits.size() == 1) return {second->last, true};
      return plain;
    }
    if (second->single || second->digits.size() != 2 || std::stoi(second->digits) > 59)
      return plain;
    return {second->last, true};
  }

  bool IsNumberAt(std::size_t i) const {
    return text_.At(i).IsDigits() || text_.At(i).info->role != NumberRole::kNone;
  }

  // "five pm", "ten thirty in the morning", "six o'clock", "ten past seven", "at five thirty".
  std::size_t FindClock(std::size_t i) {
    const Clock clock = ReadClock(i);
    if (clock.end == 0) {  // "twenty five past four"
      if (text_[i].end - text_[i].begin > 16) return 0;
      const auto minutes = ReadNumber(text_, i);
      const bool valid = minutes && minutes->digits.size() == 2 && minutes->digits < "60";
      return valid ? FindPast(i, minutes->last) : 0;
    }
    if (text_[i].glued && i > 0 && text_[i - 1].kind == LexemeKind::kSign &&
        text_[i - 1].sign != '(' && text_[i - 1].sign != '-') {
      return 0;
    }
    std::size_t end = EndOfClockWord(clock.end);
    const bool oclock = end > clock.end;
    const std::size_t half = EndOfHalfDay(end);
    if (half > end || oclock) {
      scan_.Take(RangeBefore(i), half, EntityType::kTime, 0.95);
      return half;
    }
    // "six to seven pm" is found from its first number on by RangeBefore.
    if (const std::size_t past = FindPast(i, clock.end); past > 0) return past;
    if (text_.Is(clock.end, "hours") && clock.minutes && !IsNumberBefore(i)) {
      scan_.Take(i, clock.end + 1, EntityType::kTime, 0.8);
      return clock.end + 1;
    }
    const bool cue = i > 0 && (text_.Is(i - 1, "at") || text_.Is(i - 1, "around") ||
                               text_.Is(i - 1, "until") || text_.Is(i - 1, "till"));
    const bool words = text_[i].IsWord() && clock.end <= i + 3;
    // "at four oh four, five five five, …" is no time.
    const bool goes_on =
        IsNumberAt(clock.end) ||
        ((text_.At(clock.end).kind == LexemeKind::kSign || text_.At(clock.end).Has(kPause)) &&
         IsNumberAt(clock.end + 1));
    if (cue && clock.minutes && words && !goes_on && !text_.Is(clock.end, "dollars") &&
        !text_.Is(clock.end, "percent")) {
      scan_.Take(i, clock.end, EntityType::kTime, 0.7);
      return clock.end;
    }
    return 0;
  }

  bool IsNumberBefore(std::size_t i) const { return i > 0 && IsNumberAt(i - 1); }

  // "ten past seven", "five minutes to six", "twenty to nine" behind "at".
  std::size_t FindPast(std::size_t i, std::size_t end) {
    const std::size_t word =
        text_.Is(end, "minutes") || text_.Is(end, "minute") || text_.Is(end, "mins") ? end + 1
                                                                                     : end;
    const bool past = text_.Is(word, "past");
    const bool to = text_.Is(word, "to") || text_.Is(word, "till") || text_.Is(word, "before") ||
                    text_.Is(word, "after");
    const bool at = i > 0 && (text_.Is(i - 1, "at") || text_.Is(i - 1, "it's"));
    if (!past && !(to && (word > end || at))) return 0;
    const Clock hour = ReadClock(word + 1);
    if (hour.end == 0) return 0;
    const std::size_t last = EndOfHalfDay(std::max(hour.end, EndOfClockWord(hour.end)));
    scan_.Take(i, last, EntityType::kTime, past ? 0.9 : 0.7);
    return last;
  }

  // The first lexeme of "six to seven pm", "between six and seven pm", given that of seven.
  std::size_t RangeBefore(std::size_t i) const {
    static constexpr std::array<std::string_view, 6> kJoints = {"to",   "and",     "until",
                                                                "till", "through", "or"};
    if (i < 2) return i;
    const bool joint = text_[i - 1].IsSign('-') || std::find(kJoints.begin(), kJoints.end(),
                                                             text_.LowerAt(i - 1)) != kJoints.end();
    if (!joint) return i;
    for (std::size_t back = 4; back >= 2; --back) {
      if (back > i || scan_.IsTaken(i - back)) continue;
      const Clock first = ReadClock(i - back);
      if (first.end == i - 1 && !(i > back && IsNumberAt(i - back - 1))) return i - back;
    }
    return i;
  }

  // "quarter past three", "half past ten", "half ten".
  std::size_t FindQuarter(std::size_t i) {
    const bool joint = text_.Is(i + 1, "past") || text_.Is(i + 1, "to") ||
                       text_.Is(i + 1, "after") || text_.Is(i + 1, "till") ||
                       text_.Is(i + 1, "before") || text_.Is(i + 1, "of");
    const bool at = i > 0 && text_.Is(i - 1, "at") && text_.Is(i, "half");
    if (!joint && !at) return 0;
    const Clock hour = ReadClock(i + (joint ? 2 : 1));
    if (hour.end == 0 || hour.minutes) return 0;
    const std::size_t begin = i > 0 && text_.Is(i - 1, "a") ? i - 1 : i;
    const std::size_t end = EndOfHalfDay(std::max(hour.end, EndOfClockWord(hour.end)));
    scan_.Take(begin, end, EntityType::kTime, 0.9);
    return end;
  }

  PatternScan& scan_;
  const LexedText& text_;
};

}  // namespace

void FindTimes(PatternScan& scan) { Times(scan).Find(); }

}  // namespace sotto
