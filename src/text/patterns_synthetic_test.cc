// Recall on personal data that are made up: for each kind hundreds of written and spoken forms of
// several countries in sentences of several forms. The draw is seeded; nobody's data is in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/check_digits.h"
#include "text/patterns.h"
#include "text/tokens.h"

namespace sotto {
namespace {

using Strings = std::vector<std::string>;

const Strings kUnits = {"zero", "one", "two",   "three", "four",
                        "five", "six", "seven", "eight", "nine"};
const Strings kTeens = {"ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                        "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
const Strings kTens = {"",      "",      "twenty",  "thirty", "forty",
                       "fifty", "sixty", "seventy", "eighty", "ninety"};
const Strings kNato = {"alpha",  "bravo",   "charlie", "delta",  "echo",   "foxtrot", "golf",
                       "hotel",  "india",   "juliet",  "kilo",   "lima",   "mike",    "november",
                       "oscar",  "papa",    "quebec",  "romeo",  "sierra", "tango",   "uniform",
                       "victor", "whiskey", "xray",    "yankee", "zulu"};
const Strings kNames = {"john",  "mary", "smith", "maria", "garcia", "oliver", "anna",  "chen",
                        "patel", "jose", "emma",  "lucas", "sofia",  "ivan",   "tomas", "priya"};
const Strings kMonths = {"january", "february", "march",     "april",   "may",      "june",
                         "july",    "august",   "september", "october", "november", "december"};
const Strings kOrdinals = {
    "first",      "second",     "third",        "fourth",        "fifth",        "sixth",
    "seventh",    "eighth",     "ninth",        "tenth",         "eleventh",     "twelfth",
    "thirteenth", "fourteenth", "fifteenth",    "sixteenth",     "seventeenth",  "eighteenth",
    "nineteenth", "twentieth",  "twenty first", "twenty second", "twenty third", "twenty fourth"};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : rng_(seed) {}

  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(rng_.Below(n)); }
  bool Chance(int percent) { return Below(100) < static_cast<std::size_t>(percent); }
  const std::string& Of(const Strings& of) { return of[Below(of.size())]; }

  // '#' a digit, '?' one from 2 on, '@' a letter; all else as it is.
  std::string Fill(std::string form) {
    for (char& c : form) {
      if (c == '#') c = static_cast<char>('0' + Below(10));
      if (c == '?') c = static_cast<char>('2' + Below(8));
      if (c == '@') c = "ABCEGHJKLMPRSTWXYZ"[Below(18)];
    }
    return form;
  }

  static std::string Two(int value) {
    if (value < 10) return "oh " + kUnits[value];
    if (value < 20) return kTeens[value - 10];
    return kTens[value / 10] + (value % 10 > 0 ? " " + kUnits[value % 10] : "");
  }

  // Digits read one by one, as a person does: doubles, "oh", pauses; letters as letters.
  std::string Read(std::string_view chars) {
    const std::string zero = Of({"oh", "zero", "oh"});
    const bool doubles = Chance(50);
    const bool nato = Chance(25);
    const std::size_t pause = Chance(30) ? 1 + Below(chars.size()) : chars.size();
    const std::string pause_word = Of({",", " dash", " uh", " then"});
    std::string text;
    for (std::size_t i = 0; i < chars.size();) {
      if (i > 0) text += i == pause ? pause_word + " " : " ";
      const char c = chars[i];
      std::size_t run = 1;
      while (i + run < chars.size() && chars[i + run] == c) ++run;
      std::string word;
      if (c >= '0' && c <= '9') {
        word = c == '0' ? zero : kUnits[c - '0'];
      } else {
        const auto letter = static_cast<std::size_t>((c | 0x20) - 'a');
        word = nato ? kNato[letter] : std::string(1, static_cast<char>('a' + letter));
        run = 1;
      }
      if (doubles && run >= 3) {
        text += Of({"triple ", "treble "}) + word;
        i += 3;
      } else if (doubles && run == 2) {
        text += "double " + word;
        i += 2;
      } else {
        text += word;
        ++i;
      }
    }
    return text;
  }

  std::string Grouped(const std::string& chars, std::size_t size, const std::string& separator) {
    std::string text;
    for (std::size_t i = 0; i < chars.size(); ++i) {
      if (i > 0 && i % size == 0) text += separator;
      text += chars[i];
    }
    return text;
  }

  std::string Phone() {
    static const Strings kWritten = {
        "(?##) ?##-####",    "?##-?##-####",      "?##.?##.####",
        "+1 ?## ?## ####",   "1-?##-?##-####",    "+44 7### ######",
        "07### ######",      "020 ?### ####",     "+44 (0)20 ?### ####",
        "0?##/######",       "+49 ?## #######",   "01 ## ## ## ##",
        "+33 6 ## ## ## ##", "+91 ?#### #####",   "?#### #####",
        "04## ### ###",      "+61 4## ### ###",   "6## ### ###",
        "+34 6## ## ## ##",  "0?#-#######",       "?##?######",
        "07#########",       "?##-####",          "+?##########",
        "00?# ### ######",   "(?##)?##-####x###", "?##-?##-#### ext. ####",
        "+1(?##)?##-####",   "+31 6 ########",    "0?## ## ## ##",
        "+55 11 9####-####"};
    if (Chance(50)) return Fill(Of(kWritten));
    switch (Below(6)) {
      case 0:
        return Read(Fill("?#########"));
      case 1:
        return Read(Fill("07#########"));
      case 2:
        return "plus " + Read(Fill("44##########"));
      case 3:
        return "one eight hundred " + Read(Fill("?######"));
      case 4:
        return Read(Fill("?##?######")) + " extension " + Read(Fill("?#"));
      default:
        return Read(Fill("?##")) + ", " + Read(Fill("?##")) + ", " +
               Two(static_cast<int>(Below(90) + 10)) + " " + Two(static_cast<int>(Below(90) + 10));
    }
  }

  std::string Email() {
    std::string box = Of({"A", "A.B", "A_B", "A##", "x.A", "A-B", "AB", "A.B#"});
    std::string mailbox;
    for (const char c : Fill(box)) {
      mailbox += c == 'A' || c == 'B' ? Of(kNames) : std::string(1, c);
    }
    const std::string host =
        Of({"gmail", "yahoo", "example", "acme", "uni-bonn", "web", "mycompany"});
    const std::string top = Of({"com", "org", "net", "co.uk", "de", "fr", "edu", "io", "com.au"});
    if (Chance(40)) return mailbox + "@" + host + "." + top;
    return Say(mailbox) + Of({" at ", " at ", " at sign ", " (at) "}) + Say(host) + " dot " +
           Say(top);
  }

  // An address read aloud.
  std::string Say(std::string_view address) {
    std::string text;
    std::string digits;
    const auto flush = [&] {
      if (!digits.empty()) text += " " + Read(digits);
      digits.clear();
    };
    for (const char c : address) {
      if (c >= '0' && c <= '9') {
        digits += c;
        continue;
      }
      flush();
      if (c == '.') text += " dot ";
      if (c == '_') text += " underscore ";
      if (c == '-') text += " dash ";
      if (c >= 'a' && c <= 'z') text += c;
    }
    flush();
    return text;
  }

  std::string Card() {
    static const Strings kForms = {"4###############", "5?##############", "2221############",
                                   "34#############",  "37#############",  "6011############",
                                   "36############",   "4############"};
    std::string form = Of(kForms);
    if (form[0] == '5') form[1] = "12345"[Below(5)];
    std::string digits = WithLuhn(Fill(form));
    if (Chance(30)) return digits;
    if (Chance(40)) return Grouped(digits, 4, Of({" ", "-"}));
    return Read(digits);
  }

  std::string Iban() {
    static const Strings kForms = {
        "GB00@@@@##############",      "DE00##################",       "NL00@@@@##########",
        "FR00#######################", "ES00####################",     "BE00############",
        "CH00#################",       "AT00################",         "NO00###########",
        "IT00@######################", "PL00########################", "IE00@@@@##############"};
    std::string iban = WithIban(Fill(Of(kForms)));
    if (Chance(25)) return iban;
    if (Chance(40)) return Grouped(iban, 4, Of({" ", " ", "-"}));
    return Read(iban);
  }

  std::string Id() {
    static const Strings kForms = {"@#######",       "@########", "@@######",    "@############",
                                   "@###-####-####", "@@######C", "###-##-####", "### ## ####",
                                   "@@ ## ## ## B",  "@##@##@##", "##@@@#####",  "@@@@@######@@#@@",
                                   "@@#######",      "#########", "@@@######",   "@##############",
                                   "########@",      "@@@@@####@"};
    std::string id = Fill(Of(kForms));
    if (Chance(65)) return id;
    std::string chars;
    for (const char c : id) {
      if (c != ' ' && c != '-') chars += c;
    }
    return Read(chars);
  }

  std::string Url() {
    const std::string host =
        Of({"market", "bowling", "funny", "tux"}) + Of({"repair", "course", "tan"});
    const std::string top = Of({"com", "org", "co.uk", "de", "ch", "io", "co.za", "fi"});
    switch (Below(6)) {
      case 0:
        return "http://" + host + "." + top + "/";
      case 1:
        return "https://www." + host + "." + top + "/a/b?x=1";
      case 2:
        return "www." + host + "." + top;
      case 3:
        return host + "." + top;
      case 4:
        return "www dot " + host + " dot " + Say(top);
      default:
        return host + " dot " + Say(top) + Of({"", " slash contact"});
    }
  }

  std::string Ip() {
    Strings parts;
    for (int i = 0; i < 4; ++i) parts.push_back(std::to_string(Below(256)));
    const auto join = [&](const std::string& by) {
      return parts[0] + by + parts[1] + by + parts[2] + by + parts[3];
    };
    if (Chance(40)) return join(".");
    if (Chance(50)) {
      char text[64];
      const auto part = [&] { return static_cast<unsigned>(Below(65536)); };
      std::snprintf(text, sizeof text, Chance(50) ? "%x:%x:%x:%x:%x:%x:%x:%x" : "fe80::%x:%x",
                    part(), part(), part(), part(), part(), part(), part(), part());
      return text;
    }
    for (auto& p : parts) {
      const int value = std::stoi(p);
      p = value >= 100 && Chance(50) && value % 100 > 9
              ? kUnits[value / 100] + " " + Two(value % 100)
              : Spaced(p);
    }
    return join(" dot ");
  }

  static std::string Spaced(const std::string& digits) {
    std::string text;
    for (const char c : digits) text += (text.empty() ? "" : " ") + kUnits[c - '0'];
    return text;
  }

  std::string Spelled() {
    const std::string& name = Of(kNames);
    const std::size_t form = Below(6);
    std::string text = form == 0 ? "capital " : "";
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::string letter(1, name[i]);
      const std::string& word = kNato[static_cast<std::size_t>(name[i] - 'a')];
      if (i > 0) text += form == 1 ? "-" : form == 2 ? ". " : " ";
      if (form != 3) text += letter;
      if (form == 4) text += Of({" as in ", " for "});
      if (form == 3 || form == 4) text += word;
    }
    return text;
  }

  std::string Date() {
    const int d = 1 + static_cast<int>(Below(24)), m = static_cast<int>(Below(12));
    const int y = 1930 + static_cast<int>(Below(90));
    const std::string& month = kMonths[m];
    const std::string& ordinal = kOrdinals[d - 1];
    const std::string day = std::to_string(d), year = std::to_string(y);
    const std::string mm = (m < 9 ? "0" : "") + std::to_string(m + 1),
                      dd = (d < 10 ? "0" : "") + day;
    std::string spoken = "nineteen " + Two(y % 100);
    if (y % 100 == 0) spoken = "nineteen hundred";
    if (y >= 2000) spoken = y == 2000 ? "two thousand" : "two thousand and " + Spoken(y - 2000);
    const Strings forms = {year + "-" + mm + "-" + dd,
                           mm + "/" + dd + "/" + year,
                           dd + "." + mm + "." + year,
                           month + " " + day + ", " + year,
                           day + " " + month.substr(0, 3) + " " + year,
                           month + " " + ordinal,
                           month + " " + ordinal + " " + spoken,
                           "the " + ordinal + " of " + month,
                           ordinal + " of " + month + " " + spoken,
                           month + " " + spoken,
                           month + " the " + ordinal,
                           "friday the " + ordinal + " of " + month,
                           day + "th of " + month,
                           month + " " + year};
    return Of(forms);
  }

  static std::string Spoken(int value) { return value < 10 ? kUnits[value] : Two(value); }

  std::string Time() {
    const std::string& hour = kUnits[1 + Below(9)];
    const std::string digits = std::to_string(1 + Below(12));
    const std::string minutes = std::to_string(10 + Below(50));
    const std::string half = Of({"am", "pm", "a m", "p.m."});
    const Strings forms = {digits + ":" + minutes,
                           digits + ":" + minutes + " " + half,
                           digits + "pm",
                           hour + " " + half,
                           hour + " " + Two(std::stoi(minutes)) + " " + half,
                           "quarter past " + hour,
                           "half past " + hour,
                           hour + " o'clock",
                           "ten past " + hour,
                           "quarter to " + hour,
                           hour + " in the morning",
                           hour + " oh five " + half,
                           "ten minutes to " + hour};
    return Of(forms);
  }

  std::string Number() {
    switch (Below(5)) {
      case 0:
        return Fill("?###7");
      case 1:
        return Fill("?#,##7");
      case 2:
        return Read(Fill("?####"));
      case 3:
        return "0" + Fill("####");
      default:
        return Spoken(static_cast<int>(Below(90) + 10)) + " thousand " + kUnits[1 + Below(9)] +
               " hundred and " + Two(static_cast<int>(Below(80) + 11));
    }
  }

 private:
  SeededRng rng_;
};

struct Kind {
  EntityType type;
  std::function<std::string(Maker&)> make;
  Strings sentences;
};

const std::vector<Kind>& Kinds() {
  using enum EntityType;
  static const std::vector<Kind> kinds = {
      {kPhone,
       &Maker::Phone,
       {"call me at *", "my number is *", "* is my cell", "text * please",
        "ring * and ask for bob"}},
      {kEmail,
       &Maker::Email,
       {"my email is *", "send it to * please", "you can write to *", "contact * for more"}},
      {kCard,
       &Maker::Card,
       {"my card number is *", "charge * please", "the visa is *", "it reads * ok"}},
      {kIban, &Maker::Iban, {"my iban is *", "transfer it to * please", "account * at the bank"}},
      {kId,
       &Maker::Id,
       {"my driver's license number is *", "passport number *", "the id is * i think",
        "my social security number is *"}},
      {kUrl, &Maker::Url, {"my website is *", "visit * for more", "just posted *"}},
      {kIp, &Maker::Ip, {"the address is *", "ping * please", "server * is down"}},
      {kSpelled, &Maker::Spelled, {"my name is spelled *", "it's *", "that is * thanks"}},
      {kDate, &Maker::Date, {"i was born on *", "the meeting is *", "it was * in paris"}},
      {kTime, &Maker::Time, {"wake me at *", "it leaves at * tomorrow", "meet me * please"}},
      {kNumber, &Maker::Number, {"the number is *", "it cost * dollars", "my code is *"}},
  };
  return kinds;
}

TEST(PatternsOnSyntheticData, EveryKindIsCoveredInFullAndOfItsType) {
  constexpr int kDraws = 500;
  Maker maker(20);
  const PatternFinder finder;
  for (const auto& kind : Kinds()) {
    int covered = 0, typed = 0;
    for (int n = 0; n < kDraws; ++n) {
      std::string value = kind.make(maker);
      std::string text = maker.Of(kind.sentences);
      const std::size_t begin = text.find('*');
      text.replace(begin, 1, value);
      if (n % 2 == 1) text = LowerCase(text);
      const std::size_t end = begin + value.size();
      std::vector<bool> hidden(text.size());
      bool type = false;
      for (const auto& entity : finder.Find(text)) {
        std::fill(hidden.begin() + static_cast<std::ptrdiff_t>(entity.begin),
                  hidden.begin() + static_cast<std::ptrdiff_t>(entity.end), true);
        type = type || (entity.type == kind.type && entity.begin < end && entity.end > begin);
      }
      bool whole = true;  // but for punctuation
      for (std::size_t i = begin; i < end; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        whole = whole && (hidden[i] || std::isalnum(c) == 0);
      }
      covered += whole ? 1 : 0;
      typed += type ? 1 : 0;
    }
    const double recall = static_cast<double>(covered) / kDraws;
    std::printf("%-8s covered %.3f, of its type %.3f\n", std::string(EntityName(kind.type)).c_str(),
                recall, static_cast<double>(typed) / kDraws);
    EXPECT_GE(recall, 0.98) << EntityName(kind.type);
    EXPECT_GE(typed, 0.97 * kDraws) << EntityName(kind.type);
  }
}

}  // namespace
}  // namespace sotto
