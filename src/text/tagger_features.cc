#include "text/tagger_features.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "text/utf8.h"

namespace sotto {
namespace {

// Classes of words that stand for each other.
enum WordClass : std::uint8_t {
  kNoClass,
  kUnit,     // one … nineteen
  kTens,     // twenty … ninety
  kScale,    // hundred, thousand
  kOrdinal,  // first … thirtieth
  kMonth,
  kWeekday,
  kDayPart,
  kTimeUnit,  // second, minute, hour
  kDateUnit,  // day, week, month, year
  kHalfDay,   // am, pm
  kNearDay,   // today, tomorrow, yesterday
  kSeason,
  kFeast,
  kRelative,   // next, last, this
  kDirection,  // from, until, between
  kTitle,
  kKin,
  kPlaceKind,  // street, park, lake
  kFirmKind,   // inc, company, university
  kPlaceWord,  // in, at, near
  kCompass,
  kDigits,  // by their form
  kDigitsMixed,
  kSign
};

const std::unordered_map<std::string_view, WordClass>& Classes() {
  static const auto* classes = [] {
    auto* map = new std::unordered_map<std::string_view, WordClass>();
    const auto add = [map](WordClass kind, std::initializer_list<std::string_view> words) {
      for (const auto word : words) map->emplace(word, kind);
    };
    add(kUnit, {"one",      "two",      "three",   "four",    "five",      "six",
                "seven",    "eight",    "nine",    "ten",     "eleven",    "twelve",
                "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
                "nineteen", "zero",     "oh",      "half",    "quarter"});
    add(kTens,
        {"twenty", "thirty", "forty", "fourty", "fifty", "sixty", "seventy", "eighty", "ninety"});
    add(kScale, {"hundred", "thousand", "million", "dozen"});
    add(kOrdinal,
        {"first",      "third",     "fourth",    "fifth",       "sixth",      "seventh",
         "eighth",     "ninth",     "tenth",     "eleventh",    "twelfth",    "thirteenth",
         "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
         "twentieth",  "thirtieth", "1st",       "2nd",         "3rd"});
    add(kMonth, {"january",   "february", "march",    "april",    "may",  "june", "july", "august",
                 "september", "october",  "november", "december", "jan",  "feb",  "mar",  "apr",
                 "jun",       "jul",      "aug",      "sep",      "sept", "oct",  "nov",  "dec"});
    add(kWeekday,
        {"monday",    "tuesday", "wednesday", "thursday", "friday",     "saturday",  "sunday",
         "mon",       "tue",     "tues",      "wed",      "thu",        "thurs",     "fri",
         "sat",       "sun",     "mondays",   "tuesdays", "wednesdays", "thursdays", "fridays",
         "saturdays", "sundays", "weekday",   "weekdays"});
    add(kDayPart, {"morning", "afternoon", "evening", "night", "noon", "midnight", "midday",
                   "tonight", "mornings", "afternoons", "evenings", "nights", "dawn", "dusk"});
    add(kTimeUnit, {"second", "seconds", "minute", "minutes", "hour", "hours", "min", "mins", "hrs",
                    "o'clock", "oclock"});
    add(kDateUnit, {"day", "days", "week", "weeks", "weekend", "weekends", "month", "months",
                    "year", "years", "decade", "century", "week's", "month's"});
    add(kHalfDay, {"am", "pm", "a.m", "p.m"});
    add(kNearDay, {"today", "tomorrow", "yesterday", "todays", "tomorrows", "yesterdays"});
    add(kSeason, {"spring", "summer", "autumn", "winter", "fall"});
    add(kFeast, {"christmas", "easter", "thanksgiving", "halloween", "holiday", "eve", "birthday",
                 "anniversary"});
    add(kRelative, {"next", "last", "this", "coming", "past", "previous", "following", "every",
                    "each", "upcoming"});
    add(kDirection, {"from", "until", "till", "between", "before", "after", "since", "by", "ago",
                     "within", "during", "around", "about"});
    add(kTitle,
        {"mr",       "mrs",     "ms",    "miss",   "dr",      "doctor",   "prof",      "professor",
         "sir",      "lady",    "king",  "queen",  "prince",  "princess", "president", "senator",
         "captain",  "general", "saint", "st",     "lord",    "pope",     "uncle",     "aunt",
         "minister", "judge",   "coach", "father", "brother", "sister"});
    add(kKin,
        {"mother", "mom", "mum", "dad", "mommy", "daddy", "wife", "husband", "son", "daughter",
         "boss", "friend", "friends", "cousin", "grandma", "grandpa", "colleague", "family"});
    add(kPlaceKind,
        {"street",  "road",     "avenue",  "ave",      "lane",     "drive",    "boulevard",
         "park",    "lake",     "river",   "mount",    "mountain", "valley",   "bay",
         "beach",   "island",   "islands", "city",     "town",     "county",   "state",
         "station", "airport",  "bridge",  "square",   "place",    "hill",     "hills",
         "forest",  "national", "theatre", "theatres", "theater",  "theaters", "cinema",
         "cinemas", "museum",   "hotel",   "mall",     "church",   "castle",   "garden",
         "gardens", "coast",    "village", "republic", "province", "district", "borough",
         "reserve", "refuge",   "springs", "falls",    "port",     "fort",     "creek",
         "canyon",  "desert",   "sea",     "ocean"});
    add(kFirmKind, {"inc",
                    "corp",
                    "ltd",
                    "llc",
                    "co",
                    "company",
                    "corporation",
                    "group",
                    "bank",
                    "university",
                    "college",
                    "school",
                    "institute",
                    "department",
                    "ministry",
                    "association",
                    "committee",
                    "party",
                    "club",
                    "league",
                    "fc",
                    "united",
                    "band",
                    "records",
                    "press",
                    "news",
                    "times",
                    "airlines",
                    "airways",
                    "motors",
                    "foundation",
                    "agency",
                    "council",
                    "court",
                    "army",
                    "navy",
                    "police",
                    "union",
                    "society",
                    "studios",
                    "entertainment",
                    "systems",
                    "technologies",
                    "pizza",
                    "restaurant",
                    "cafe",
                    "grill",
                    "bar",
                    "diner",
                    "service"});
    add(kPlaceWord, {"in", "at", "near", "to", "into", "for", "of", "on", "outside", "inside"});
    add(kCompass,
        {"north", "south", "east", "west", "northern", "southern", "eastern", "western", "central",
         "new", "upper", "lower", "northeast", "northwest", "southeast", "southwest"});
    return map;
  }();
  return *classes;
}

constexpr std::uint32_t kEdge = 0xED6E0001U;     // before the first and after the last token
constexpr std::uint32_t kUnknown = 0xED6E0002U;  // a word taken for one nobody has seen

std::uint32_t Mix(std::uint32_t a, std::uint32_t b) {
  std::uint64_t x = (static_cast<std::uint64_t>(a) << 32U | b) * 0x9E3779B97F4A7C15U;
  x ^= x >> 29U;
  x *= 0xBF58476D1CE4E5B9U;
  return static_cast<std::uint32_t>(x >> 32U);
}

std::uint32_t HashOf(std::string_view text) { return HashOfWords(kNoWords, text); }

// How a text writes: without capitals, as ordinary text, in capitals only, or each word with one.
enum class Capitals : std::uint8_t { kNone, kSome, kAll, kEach };

struct Seen {
  std::uint32_t word = kEdge;
  std::uint32_t shape = 0, suffix3 = 0;
  std::array<std::uint32_t, 4> prefix{}, suffix{};  // 0: none
  WordClass kind = kNoClass;
  NameKinds single = 0, phrase = 0;  // lists of the word, and of the longest phrase around it
  std::uint8_t place = 0;            // in that phrase: 1 alone, 2 first, 3 within, 4 last
  std::uint8_t glue = 0;             // 1: nothing stands between it and the token before
  char chunk = 0;                    // the sign that what it is glued to begins with: "@ann_lee"
  bool sign = false, cased = false;
};

bool IsUpper(char32_t code) { return LowerCase(code) != code; }

// "Xxxx" becomes X, x runs of at most two; digits d.
std::uint32_t ShapeOf(std::string_view word) {
  std::string shape;
  for (std::size_t at = 0; at < word.size();) {
    const Rune rune = DecodeUtf8(word, at);
    at += rune.size;
    char c = 'x';
    if (rune.code >= '0' && rune.code <= '9') {
      c = 'd';
    } else if (IsUpper(rune.code)) {
      c = 'X';
    } else if (!IsWordCharacter(rune.code)) {
      c = rune.code < 0x80 ? static_cast<char>(rune.code) : '*';
    }
    const std::size_t n = shape.size();
    const std::size_t most = c == 'd' ? 4 : 2;
    if (n >= most && shape.find_first_not_of(c, n - most) == std::string::npos) continue;
    shape += c;
  }
  return HashOf(shape);
}

WordClass ClassOf(std::string_view lower) {
  const auto& classes = Classes();
  if (const auto at = classes.find(lower); at != classes.end()) return at->second;
  const bool digit = lower.find_first_of("0123456789") != std::string_view::npos;
  if (!digit) {
    return IsWordCharacter(DecodeUtf8(lower, 0).code) || lower == "'s" ? kNoClass : kSign;
  }
  if (lower.find_first_not_of("0123456789") == std::string_view::npos) return kDigits;
  if (lower.ends_with("th") || lower.ends_with("st") || lower.ends_with("nd") ||
      lower.ends_with("rd")) {
    return kOrdinal;
  }
  return kDigitsMixed;
}

class Extractor {
 public:
  Extractor(std::string_view text, std::span<const Token> tokens, const Gazetteers& gazetteers,
            const std::vector<bool>& unknown)
      : tokens_(tokens), seen_(tokens.size() + 4) {
    lower_.reserve(text.size());
    Look(text, gazetteers, unknown);
  }

  void Emit(FeatureRow& row) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      EmitToken(i + 2, row);
      row.EndToken();
    }
  }

 private:
  void Look(std::string_view text, const Gazetteers& gazetteers, const std::vector<bool>& unknown) {
    std::size_t words = 0, upper_words = 0, all_upper = 0, lower_words = 0;
    std::vector<std::string_view> lower(tokens_.size());
    // lower_ has as many bytes as the tokens, so that views of it stay.
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto word = text.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
      const std::size_t at = lower_.size();
      bool upper = false, small = false;
      for (std::size_t b = 0; b < word.size();) {
        const Rune rune = DecodeUtf8(word, b);
        const char32_t low = rune.valid ? LowerCase(rune.code) : rune.code;
        const bool changes = low != rune.code;
        if (changes) {
          AppendUtf8(low, lower_);
        } else {
          lower_.append(word.substr(b, rune.size));
        }
        upper |= changes && b == 0;
        small |= !changes && IsWordCharacter(rune.code) && (rune.code < '0' || rune.code > '9');
        b += rune.size;
      }
      lower[i] = std::string_view(lower_).substr(at, word.size());
      Seen& seen = seen_[i + 2];
      const bool glued = i > 0 && tokens_[i].begin == tokens_[i - 1].end;
      seen.glue = glued ? 1 : 0;
      seen.chunk = glued ? seen_[i + 1].chunk : word[0] == '@' || word[0] == '#' ? word[0] : '\0';
      seen.word = HashOf(lower[i]);
      seen.kind = ClassOf(lower[i]);
      seen.sign = seen.kind == kSign;
      seen.cased = upper;
      seen.shape = ShapeOf(word);
      if (!seen.sign && seen.kind != kDigits) {
        ++words;
        upper_words += upper ? 1 : 0;
        all_upper += upper && !small ? 1 : 0;
        lower_words += small && !upper ? 1 : 0;
      }
      Affixes(lower[i], seen);
    }
    capitals_ = upper_words == 0                           ? Capitals::kNone
                : words > 1 && all_upper * 10 >= words * 8 ? Capitals::kAll
                : words > 2 && lower_words * 4 <= words    ? Capitals::kEach
                                                           : Capitals::kSome;
    FindPhrases(lower, gazetteers);
    for (std::size_t i = 0; i < unknown.size() && i < tokens_.size(); ++i) {
      if (unknown[i]) seen_[i + 2].word = kUnknown;
    }
  }

  static void Affixes(std::string_view word, Seen& seen) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < 4 && at < word.size(); ++k) {
      at += DecodeUtf8(word, at).size;
      seen.prefix[k] = HashOf(word.substr(0, at));
    }
    at = word.size();
    for (std::size_t k = 0; k < 4 && at > 0; ++k) {
      --at;
      while (at > 0 && (static_cast<unsigned char>(word[at]) & 0xC0U) == 0x80) --at;
      seen.suffix[k] = HashOf(word.substr(at));
    }
    seen.suffix3 = seen.suffix[2] != 0 ? seen.suffix[2] : seen.word;
  }

  void FindPhrases(const std::vector<std::string_view>& lower, const Gazetteers& gazetteers) {
    const std::size_t n = lower.size();
    std::size_t covered = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (seen_[i + 2].sign) continue;
      std::uint32_t hash = kNoWords;
      NameKinds found = 0;
      std::size_t end = i, words = 0;
      for (std::size_t j = i; j < n && words < Gazetteers::kLongestPhrase; ++j) {
        // Signs may stand within ("st. petersburg"); the lists have none.
        if (seen_[j + 2].sign) continue;
        hash = HashOfWords(hash, lower[j]);
        ++words;
        const NameKinds kinds = gazetteers.Find(hash);
        if (j == i) seen_[i + 2].single = kinds;
        if (kinds != 0) {
          found = kinds;
          end = j + 1;
        }
      }
      if (end <= covered || found == 0 || i < covered) continue;
      for (std::size_t j = i; j < end; ++j) {
        seen_[j + 2].phrase = found;
        seen_[j + 2].place = end == i + 1 ? 1 : j == i ? 2 : j + 1 == end ? 4 : 3;
      }
      covered = end;
    }
  }

  void EmitToken(std::size_t i, FeatureRow& row) const {
    const Seen &w = seen_[i], &l = seen_[i - 1], &r = seen_[i + 1], &ll = seen_[i - 2],
               &rr = seen_[i + 2];
    std::uint32_t number = 0;
    const auto one = [&](std::uint32_t a) { row.Add(Mix(++number, a)); };
    const auto two = [&](std::uint32_t a, std::uint32_t b) { row.Add(Mix(Mix(++number, a), b)); };
    const auto three = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      row.Add(Mix(Mix(Mix(++number, a), b), c));
    };
    one(0);  // of every token
    one(w.word);
    one(l.word);
    one(r.word);
    one(ll.word);
    one(rr.word);
    two(l.word, w.word);
    two(w.word, r.word);
    two(ll.word, l.word);
    two(r.word, rr.word);
    two(l.word, r.word);
    three(ll.word, l.word, w.word);
    three(l.word, w.word, r.word);
    three(w.word, r.word, rr.word);
    for (const auto affix : w.prefix) {
      ++number;
      if (affix != 0) row.Add(Mix(number, affix));
    }
    for (const auto affix : w.suffix) {
      ++number;
      if (affix != 0) row.Add(Mix(number, affix));
    }
    one(l.suffix3);
    one(r.suffix3);
    two(l.suffix3, w.suffix3);
    // Classes.
    one(w.kind);
    one(l.kind);
    one(r.kind);
    two(l.kind, w.kind);
    two(w.kind, r.kind);
    three(l.kind, w.kind, r.kind);
    three(ll.kind, l.kind, w.kind);
    three(w.kind, r.kind, rr.kind);
    two(l.word, w.kind);
    two(w.kind, r.word);
    // Lists of names.
    const std::uint32_t name = w.phrase * 8U + w.place;
    const std::uint32_t left = l.phrase * 8U + l.place, right = r.phrase * 8U + r.place;
    one(name);
    one(w.single);
    two(left, name);
    two(name, right);
    three(left, name, right);
    two(l.word, name);
    two(name, r.word);
    two(l.word, w.phrase);
    three(ll.word, l.word, name);
    two(l.kind, name);
    two(name, r.kind);
    for (std::size_t k = 0; k < kNameKinds; ++k) {
      number += 3;
      if ((w.phrase >> k & 1U) != 0) row.Add(Mix(number, w.place));
      if ((l.phrase >> k & 1U) != 0) row.Add(Mix(number - 1, l.place));
      if ((r.phrase >> k & 1U) != 0) row.Add(Mix(number - 2, r.place));
    }
    // What it is glued to.
    three(w.glue, r.glue, static_cast<std::uint32_t>(w.chunk));
    three(w.glue, static_cast<std::uint32_t>(w.chunk), w.shape);
    three(w.glue, l.glue, l.word);
    // Further words, and the last.
    one(seen_[i >= 3 ? i - 3 : 0].word);
    one(seen_[std::min(i + 3, seen_.size() - 1)].word);
    two(seen_[seen_.size() - 3].word, name);
    // How the sentence begins, and how far that is.
    const std::uint32_t first = seen_[2].word;
    two(first, static_cast<std::uint32_t>(std::min<std::size_t>(i - 2, 6)));
    two(first, name);
    two(seen_[2].word, w.word);
    three(first, l.word, static_cast<std::uint32_t>(w.kind));
    // Shapes: capitals speak only where there are some.
    const auto capitals = static_cast<std::uint32_t>(capitals_);
    one(capitals);
    if (capitals_ == Capitals::kSome || capitals_ == Capitals::kEach) {
      const std::uint32_t begins = i == 2 || l.sign ? 1 : 0;
      three(capitals, w.shape, begins);
      three(capitals, w.shape, r.shape);
      three(capitals, l.shape, w.shape);
      three(l.shape, w.shape, r.shape);
      three(w.shape, name, begins);
      three(l.word, w.shape, capitals);
      three(w.shape, r.word, capitals);
      three(w.cased ? 1 : 0, w.word, begins);
      three(w.shape, w.suffix3, capitals);
      two(w.shape, static_cast<std::uint32_t>(r.kind));
    } else if (w.kind == kDigits || w.kind == kDigitsMixed || w.kind == kOrdinal || w.sign) {
      number += 100;
      one(w.shape);
      two(l.shape, w.shape);
      two(w.shape, r.shape);
      three(l.shape, w.shape, r.shape);
    }
  }

  std::span<const Token> tokens_;
  std::string lower_;
  std::vector<Seen> seen_;  // two edges on both sides
  Capitals capitals_ = Capitals::kNone;
};

}  // namespace

void ExtractFeatures(std::string_view text, std::span<const Token> tokens,
                     const Gazetteers& gazetteers, FeatureRow& row,
                     const std::vector<bool>& unknown) {
  row.Clear();
  Extractor(text, tokens, gazetteers, unknown).Emit(row);
}

}  // namespace sotto
