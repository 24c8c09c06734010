// Which of the two words about time are (labelled_corpora.h).
#include <algorithm>
#include <array>
#include <string>

#include "text/labelled_corpora.h"

namespace sotto {

EntityType TimeOrDate(std::string_view words) {
  static constexpr std::array<std::string_view, 35> kTime = {
      "am",     "pm",      "a.m",     "p.m",       "o'clock",   "oclock",      "hour",
      "hours",  "minute",  "minutes", "second",    "seconds",   "noon",        "midnight",
      "midday", "morning", "evening", "afternoon", "night",     "tonight",     "dawn",
      "dusk",   "sunrise", "sunset",  "breakfast", "lunch",     "brunch",      "dinner",
      "supper", "now",     "meal",    "teatime",   "lunchtime", "immediately", "soon"};
  static constexpr std::array<std::string_view, 63> kDate = {
      "day",     "days",      "week",     "weeks",     "weekend",   "week-end",  "month",
      "months",  "year",      "years",    "today",     "tomorrow",  "yesterday", "monday",
      "tuesday", "wednesday", "thursday", "friday",    "saturday",  "sunday",    "mon",
      "tue",     "tues",      "wed",      "thu",       "thur",      "thurs",     "fri",
      "sat",     "sun",       "january",  "february",  "march",     "april",     "may",
      "june",    "july",      "august",   "september", "october",   "november",  "december",
      "jan",     "feb",       "mar",      "apr",       "jun",       "jul",       "aug",
      "sep",     "sept",      "oct",      "nov",       "dec",       "spring",    "summer",
      "autumn",  "winter",    "fall",     "holiday",   "christmas", "easter",    "eve"};
  bool letters = false, colon = false, digits = false, long_number = false, slash = false;
  bool ordinal = false;
  const std::string lower = LowerCase(words);
  for (const auto& token : Tokenise(lower)) {
    const auto word = std::string_view(lower).substr(token.begin, token.end - token.begin);
    const auto one_of = [&](const auto& list) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    if (word == "second" && lower.find("the second") != std::string::npos) ordinal = true;
    if (!ordinal && one_of(kTime)) return EntityType::kTime;
    if (one_of(kDate)) return EntityType::kDate;
    const bool number = word.find_first_not_of("0123456789-.") == std::string_view::npos &&
                        word.find_first_of("0123456789") != std::string_view::npos;
    digits |= number;
    long_number |= number && word.size() >= 4;
    colon |= word == ":";
    slash |= word == "/";
    letters |= !number && word[0] >= 'a' && word[0] <= 'z';
    ordinal |= word.ends_with("th") || word.ends_with("ties") || word == "first" ||
               word == "third" || (word.size() > 2 && word[0] >= '0' && word[0] <= '9' && letters);
  }
  if (slash || long_number || ordinal) return EntityType::kDate;
  if (colon || (digits && !letters)) return EntityType::kTime;
  static constexpr std::array<std::string_view, 24> kNumbers = {
      "zero",    "one",       "two",      "three",    "four",   "five",     "six",      "seven",
      "eight",   "nine",      "ten",      "eleven",   "twelve", "thirteen", "fourteen", "fifteen",
      "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty",   "forty",    "fifty"};
  const auto first = lower.substr(0, lower.find_first_of(" -"));
  const bool number = std::find(kNumbers.begin(), kNumbers.end(), first) != kNumbers.end();
  return number ? EntityType::kTime : EntityType::kDate;
}

}  // namespace sotto
