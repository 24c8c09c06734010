#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/patterns_characters.h"
#include "text/patterns_numbers.h"
#include "text/patterns_rows.h"
#include "text/patterns_scan.h"

namespace sotto {
namespace {

template <std::size_t N>
bool IsAny(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Abbreviations that are read letter by letter and name nobody.
constexpr std::array<std::string_view, 80> kAbbreviations = {
    "aka", "abc", "asap", "atm", "bbc",  "bbq", "bmw",  "cbs", "ceo",  "cia", "cnn", "cpu",
    "csi", "dhl", "diy",  "dna", "dvd",  "edt", "eta",  "esp", "espn", "est", "eu",  "faq",
    "fbi", "fda", "fyi",  "gdp", "gmt",  "gps", "hbo",  "hiv", "html", "ibm", "irs", "ios",
    "ist", "lol", "mlb",  "mph", "msn",  "nba", "nasa", "nbc", "nfl",  "nhl", "npr", "nyc",
    "omg", "pdf", "pdt",  "pst", "rsvp", "suv", "tba",  "ufo", "uk",   "ups", "url", "usa",
    "usb", "utc", "vip",  "www", "usd",  "gbp", "eur",  "inr", "jpy",  "aud", "cad", "cny",
    "chf", "rnb", "cst",  "mst", "cet",  "gtm", "itv",  "rpg"};
// Behind digits: a quantity.
constexpr std::array<std::string_view, 56> kUnits = {
    "kg", "km",  "mg",  "ml",  "cm",  "mm",  "mph", "kmh",  "kwh", "mah", "rpm", "gb",  "mb",  "kb",
    "tb", "hz",  "khz", "mhz", "ghz", "kw",  "lb",  "lbs",  "oz",  "ft",  "px",  "usd", "eur", "k",
    "bn", "s",   "am",  "pm",  "st",  "nd",  "rd",  "th",   "min", "sec", "hrs", "hr",  "m",   "in",
    "yr", "yrs", "bc",  "ad",  "fps", "dpi", "mw",  "kcal", "cal", "gbp", "ms",  "mp",  "p",   "g"};

using Row = CodeRow;

class Codes {
 public:
  explicit Codes(PatternScan& scan) : scan_(scan), text_(scan.text()) {}

  void Find() {
    for (std::size_t i = 0; i < text_.size();) {
      if (scan_.IsTaken(i) || !CodeRowMayBegin(text_, i)) {
        ++i;
        continue;
      }
      Row row = ReadCodeRow(scan_, i);
      if (row.items.empty()) {
        ++i;
        continue;
      }
      const std::size_t last = row.end;
      Judge(row);
      i = std::max(i + 1, last);
    }
  }

 private:
  void Judge(Row& row) {
    TrimArticles(row);
    if (row.items.empty()) return;
    JudgeKinds(row);
  }

  void JudgeKinds(const Row& row) {
    const std::span<const CodeItem> items = row.items;
    const auto letters = static_cast<std::size_t>(
        std::count_if(items.begin(), items.end(), [](const CodeItem& i) { return i.letters; }));
    if (letters == 0) {
      JudgeDigitRow(row, 0, items.size());
    } else if (letters == items.size()) {
      JudgeLetters(row, 0, items.size());
    } else if (!JudgeMixed(row)) {
      // Each kind by itself.
      for (std::size_t first = 0; first < items.size();) {
        std::size_t last = first;
        while (last < items.size() && items[last].letters == items[first].letters) ++last;
        if (items[first].letters) {
          JudgeLetters(row, first, last);
        } else {
          JudgeDigitRow(row, first, last);
        }
        first = last;
      }
    }
  }

  // "a" and "i" at the edges of a number are words, and so are spelling words beside digits that
  // are written.
  void TrimArticles(Row& row) const {
    const auto is_article = [&](const CodeItem& item) {
      return item.letters && !item.sure && item.last - item.first == 1 &&
             (item.chars == "a" || item.chars == "i");
    };
    auto& items = row.items;
    while (items.size() > 1 && !items[1].letters && items[1].gap == ' ') {
      const bool number = !items[1].single;
      if (!(number && (is_article(items[0]) || items[0].weak))) break;
      items.erase(items.begin());
      row.begin = items.front().first;
    }
    while (items.size() > 1 && !items[items.size() - 2].letters && items.back().gap == ' ' &&
           !row.extension) {
      const bool number = !items[items.size() - 2].single;
      const bool word = text_.At(row.end).IsWord() && is_article(items.back());
      if (!(word || (number && items.back().weak))) break;
      items.pop_back();
      row.end = items.back().last;
    }
  }

  std::size_t BeginOf(const Row& row, std::size_t item) const {
    return item == 0 ? row.begin : row.items[item].first;
  }
  std::size_t EndOf(const Row& row, std::size_t last) const {
    return last == row.items.size() ? row.end : row.items[last - 1].last;
  }

  NumberContext ContextOf(const Row& row, std::size_t first, std::size_t last) const {
    const std::size_t at = row.items[first].first;
    return {row.plus && first == 0,       row.extension && last == row.items.size(),
            HasCue(text_, at, kPhoneCue), HasCue(text_, at, kIdCue),
            HasCue(text_, at, kCardCue),  HasCue(text_, at, kNumberCue),
            HasCue(text_, at, kCodeCue)};
  }

  void JudgeDigitRow(const Row& row, std::size_t first, std::size_t last) {
    const std::span<const CodeItem> all = row.items;
    const auto items = all.subspan(first, last - first);
    std::size_t digits = 0;
    for (const auto& item : items) digits += item.chars.size();
    if (digits > 13 && !IsCard(items)) {
      // A card within a longer row.
      for (std::size_t at = 0; at < items.size(); ++at) {
        const std::size_t card = CardWithin(items, at);
        if (card == 0) continue;
        scan_.Take(BeginOf(row, first + at), EndOf(row, first + at + card), EntityType::kCard, 1.0);
        if (at > 0) JudgeDigitRow(row, first, first + at);
        first += at + card;
        if (first < last) JudgeRest(row, first, last);
        return;
      }
    }
    Verdict(row, first, last);
  }

  // "one to one two": "to" is a digit only in a longer row.
  bool JudgeBetweenWords(const Row& row, std::size_t first, std::size_t last) {
    const std::span<const CodeItem> items = std::span(row.items).subspan(first, last - first);
    std::size_t digits = 0;
    for (const auto& item : items) digits += item.weak ? 0 : item.chars.size();
    const auto weak = [](const CodeItem& item) { return item.weak; };
    if (digits >= 6 || std::none_of(items.begin(), items.end(), weak)) return false;
    for (std::size_t i = first; i < last;) {
      std::size_t end = i;
      while (end < last && !row.items[end].weak) ++end;
      Verdict(row, i, end);
      i = end + 1;
    }
    return true;
  }

  // What follows a card may hold another; without recursion, since rows have no end.
  void JudgeRest(const Row& row, std::size_t first, std::size_t last) {
    const std::span<const CodeItem> items = row.items;
    for (std::size_t at = first; at < last;) {
      const std::size_t card = CardWithin(items.subspan(0, last), at);
      if (card > 0) {
        Verdict(row, first, at);
        scan_.Take(BeginOf(row, at), EndOf(row, at + card), EntityType::kCard, 1.0);
        first = at = at + card;
      } else {
        ++at;
      }
    }
    Verdict(row, first, last);
  }

  void Verdict(const Row& row, std::size_t first, std::size_t last) {
    if (first >= last) return;
    const std::span<const CodeItem> all = row.items;
    if (JudgeBetweenWords(row, first, last)) return;
    const auto verdict = JudgeDigits(all.subspan(first, last - first), ContextOf(row, first, last));
    if (verdict) {
      scan_.Take(BeginOf(row, first), EndOf(row, last), verdict->type, verdict->confidence);
      return;
    }
    // Written numbers that only stand beside each other are judged one by one.
    if (last - first == 1 || all[first].spoken) return;
    for (std::size_t i = first; i < last; ++i) {
      const auto one = JudgeDigits(all.subspan(i, 1), ContextOf(row, i, i + 1));
      if (one) scan_.Take(BeginOf(row, i), EndOf(row, i + 1), one->type, one->confidence);
    }
  }

  void JudgeLetters(const Row& row, std::size_t first, std::size_t last) {
    // "a U.S. firm"
    const bool article = last - first >= 3 && !row.items[first].sure &&
                         row.items[first].first + 1 == row.items[first].last &&
                         (row.items[first].chars == "a" || row.items[first].chars == "i") &&
                         row.items[first + 1].gap == ' ' && row.items[first + 2].gap == '.';
    if (article) ++first;
    std::size_t letters = 0, strong = 0;
    bool sure = false;
    std::string word;
    for (std::size_t i = first; i < last; ++i) {
      const CodeItem& item = row.items[i];
      if (!item.single) return;  // an ordinary word beside a number
      letters += item.chars.size();
      strong += item.weak ? 0 : item.chars.size();
      sure = sure || item.sure;
      word += item.chars;
    }
    if (!sure && (IsAny(word, kAbbreviations) || word == "aus" || word == "aun" || word == "auk" ||
                  word == "atv" || word == "apc" || word == "adj")) {
      return;  // the last ones are "a u s", "a t v"
    }
    // Words of a spelling alphabet alone: three of them; with letters, any.
    const bool cue = HasCue(text_, row.items[first].first, kSpellingCue);
    if (letters < (sure ? 1U : cue ? 2U : 3U)) return;
    // "a b", "i see": one capital letter or one example is enough, "capital a" is not.
    if (sure && letters < 2 && !HasExample(row, first, last)) return;
    scan_.Take(BeginOf(row, first), EndOf(row, last), EntityType::kSpelled,
               strong >= 3 || sure ? 0.9 : 0.7);
  }

  // "m as in mike"
  bool HasExample(const Row& row, std::size_t first, std::size_t last) const {
    return std::any_of(row.items.begin() + static_cast<std::ptrdiff_t>(first),
                       row.items.begin() + static_cast<std::ptrdiff_t>(last),
                       [](const CodeItem& item) { return item.last - item.first >= 3; });
  }

  // Letters and digits that are one thing: an id, a spelled name with a number.
  bool JudgeMixed(const Row& row) {
    const std::span<const CodeItem> items = row.items;
    std::size_t digits = 0, letters = 0, longest_word = 0, run = 0, longest_run = 0;
    bool loose = false;  // a word of capitals that space parts from the digits
    for (const auto& item : items) {
      if (item.letters) {
        letters += item.chars.size();
        if (!item.single) longest_word = std::max(longest_word, item.chars.size());
        run = item.single && !item.weak ? run + item.chars.size() : 0;
        longest_run = std::max(longest_run, run);
        loose = loose || (!item.single && item.gap != 'g');
      } else {
        run = 0;
        digits += item.chars.size();
      }
    }
    const NumberContext context = ContextOf(row, 0, items.size());
    const bool cue = context.id_cue || context.number_cue;
    // "1500mg", "1920x1080", "10 MB"
    const bool unit = items.size() == 2 && !items[0].letters && IsAny(items[1].chars, kUnits);
    const bool times = items.size() == 3 && items[1].chars == "x" && !items[0].letters;
    if (!cue && JudgeChunks(row)) return true;
    if ((unit || times) && !cue) return false;
    if (HoldsCard(items) && !(context.id_cue && !context.card_cue)) return false;
    if (longest_run >= 3 && digits < 4) {
      std::string word;
      for (const auto& item : items) word += item.letters ? item.chars : "";
      if (IsAny(word, kAbbreviations)) return false;
      scan_.Take(row.begin, row.end, EntityType::kSpelled, 0.9);
      return true;
    }
    const std::size_t total = digits + letters;
    bool id = digits >= 4 && total >= 6;
    if (longest_word > 3 && digits <= 4 && items.size() == 2) id = false;  // "windows2000"
    if (loose && digits < 6) id = false;                                   // "USA 2018"
    if (cue && digits >= 2 && total >= 5) id = true;
    if (!id) return false;
    scan_.Take(row.begin, row.end, EntityType::kId, cue ? 0.9 : 0.7);
    return true;
  }

  // "windows2000 mp3 1920x1080": what is written without space is judged by itself, unless all of
  // it are short groups as in an id. False where there is only one or where it was read letter by
  // letter.
  bool JudgeChunks(const Row& row) {
    const std::span<const CodeItem> items = row.items;
    std::size_t chunks = 1;
    bool plain = false;  // a chunk that is a word or a quantity
    std::size_t digits = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].spoken || (items[i].letters && items[i].single && items[i].gap != 'g' &&
                              (i + 1 == items.size() || items[i + 1].gap != 'g'))) {
        return false;
      }
      const bool begins = i == 0 || items[i].gap != 'g';
      if (begins && i > 0) ++chunks;
      const bool word = items[i].letters &&
                        (items[i].chars.size() > 4 || (!begins && IsAny(items[i].chars, kUnits)));
      plain = plain || word;
      digits += items[i].letters ? 0 : items[i].chars.size();
    }
    if (chunks == 1 || (!plain && digits >= 6)) return false;
    for (std::size_t first = 0; first < items.size();) {
      std::size_t last = first + 1;
      while (last < items.size() && items[last].gap == 'g') ++last;
      Row chunk;
      chunk.begin = BeginOf(row, first);
      chunk.end = EndOf(row, last);
      chunk.plus = row.plus && first == 0;
      chunk.extension = row.extension && last == items.size();
      chunk.items.assign(items.begin() + static_cast<std::ptrdiff_t>(first),
                         items.begin() + static_cast<std::ptrdiff_t>(last));
      JudgeKinds(chunk);
      first = last;
    }
    return true;
  }

  // A card with words beside it that are read as letters, rather than letters that belong to it.
  static bool HoldsCard(std::span<const CodeItem> items) {
    for (std::size_t first = 0; first < items.size();) {
      std::size_t last = first;
      while (last < items.size() && !items[last].letters) ++last;
      const bool glued =
          (first > 0 && items[first].gap == 'g') || (last < items.size() && items[last].gap == 'g');
      if (last > first && !glued && IsCard(items.subspan(first, last - first))) return true;
      first = last + 1;
    }
    return false;
  }

  PatternScan& scan_;
  const LexedText& text_;
};

}  // namespace

void FindCodes(PatternScan& scan) { Codes(scan).Find(); }

}  // namespace sotto
