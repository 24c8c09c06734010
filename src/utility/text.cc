#include "utility/text.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "assess/wer.h"

namespace sotto {
namespace {

constexpr std::array<std::string_view, 20> kSmall = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens = {
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};

void Append(std::string& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

// "twenty one" → "twenty first"
std::string Ordinal(const std::string& cardinal) {
  static const std::map<std::string, std::string> irregular = {
      {"one", "first"},    {"two", "second"}, {"three", "third"},   {"five", "fifth"},
      {"eight", "eighth"}, {"nine", "ninth"}, {"twelve", "twelfth"}};
  const std::size_t space = cardinal.rfind(' ');
  const std::size_t begin = space == std::string::npos ? 0 : space + 1;
  const std::string last = cardinal.substr(begin);
  std::string ordinal = last + "th";
  if (const auto found = irregular.find(last); found != irregular.end()) {
    ordinal = found->second;
  } else if (last.back() == 'y') {
    ordinal = last.substr(0, last.size() - 1) + "ieth";
  }
  return cardinal.substr(0, begin) + ordinal;
}

// "eighteen eighty seven", "nineteen hundred", "nineteen oh five"
std::string YearWords(unsigned long long year) {
  std::string text = NumberWords(year / 100);
  if (year % 100 == 0) return text + " hundred";
  if (year % 100 < 10) Append(text, "oh");
  Append(text, NumberWords(year % 100));
  return text;
}

bool IsDigit(char32_t c) { return c >= U'0' && c <= U'9'; }

// Replaces British by American spelling where a list says that both are the same word.
std::string OneSpelling(std::string word) {
  static const std::vector<std::pair<std::string_view, std::string_view>> stems = {
      {"colour", "color"},       {"honour", "honor"},        {"favour", "favor"},
      {"labour", "labor"},       {"harbour", "harbor"},      {"neighbour", "neighbor"},
      {"humour", "humor"},       {"parlour", "parlor"},      {"vapour", "vapor"},
      {"rumour", "rumor"},       {"splendour", "splendor"},  {"behaviour", "behavior"},
      {"endeavour", "endeavor"}, {"armour", "armor"},        {"odour", "odor"},
      {"savour", "savor"},       {"vigour", "vigor"},        {"valour", "valor"},
      {"fervour", "fervor"},     {"ardour", "ardor"},        {"clamour", "clamor"},
      {"saviour", "savior"},     {"realis", "realiz"},       {"recognis", "recogniz"},
      {"organis", "organiz"},    {"civilis", "civiliz"},     {"baptis", "baptiz"},
      {"apologis", "apologiz"},  {"sympathis", "sympathiz"}, {"agonis", "agoniz"},
      {"centre", "center"},      {"theatre", "theater"},     {"sceptre", "scepter"},
      {"spectre", "specter"},    {"sombre", "somber"},       {"lustre", "luster"},
      {"travell", "travel"},     {"marvell", "marvel"},      {"counsell", "counsel"},
      {"jewell", "jewel"},       {"defence", "defense"},     {"offence", "offense"},
      {"pretence", "pretense"},  {"grey", "gray"},           {"plough", "plow"},
      {"mould", "mold"},         {"smoulder", "smolder"},    {"sceptic", "skeptic"},
      {"gaol", "jail"},          {"storey", "story"},        {"judgement", "judgment"}};
  for (const auto& [british, american] : stems) {
    if (word.starts_with(british)) return std::string(american) + word.substr(british.size());
  }
  return word;
}

// What a word of letters becomes.
std::string Plain(const std::string& word) {
  if (word == "mr") return "mister";
  if (word == "mrs") return "missus";
  if (word == "dr") return "doctor";
  return OneSpelling(word);
}

// Digits and what clings to them ("$", "%", "st") as words; empty when `token` is no number.
std::string NumberToken(std::string_view token) {
  std::string unit;
  if (token.starts_with("$")) unit = "dollars";
  if (token.starts_with("\xC2\xA3")) unit = "pounds";  // "£"
  if (!unit.empty()) token.remove_prefix(token.front() == '$' ? 1 : 2);
  if (token.ends_with("%")) {
    unit = "percent";
    token.remove_suffix(1);
  }
  std::string digits;
  bool commas = false;
  std::size_t at = 0;
  for (; at < token.size() && (IsDigit(static_cast<unsigned char>(token[at])) || token[at] == ',');
       ++at) {
    commas = commas || token[at] == ',';
    if (token[at] != ',') digits += token[at];
  }
  const std::string_view rest = token.substr(at);
  if (digits.empty() || digits.size() > 12) return {};
  const unsigned long long number = std::stoull(digits);
  const bool ordinal = rest == "st" || rest == "nd" || rest == "rd" || rest == "th";
  if (!rest.empty() && !ordinal && rest != "s") return {};
  const bool year =
      !commas && digits.size() == 4 && number >= 1100 && number < 2000 && unit.empty() && !ordinal;
  std::string words = year ? YearWords(number) : NumberWords(number);
  if (ordinal) words = Ordinal(words);
  if (rest == "s") {  // "the 1880s"
    if (words.back() == 'y') {
      words.back() = 'i';
      words += 'e';
    }
    words += 's';
  }
  if (unit == "dollars" && number == 1) unit = "dollar";
  if (unit == "pounds" && number == 1) unit = "pound";
  if (!unit.empty()) Append(words, unit);
  return words;
}

std::string EncodeUtf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) {
    const auto byte = [&](char32_t value) { out += static_cast<char>(value); };
    if (c < 0x80) {
      byte(c);
    } else if (c < 0x800) {
      byte(0xC0 | c >> 6);
      byte(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      byte(0xE0 | c >> 12);
      byte(0x80 | (c >> 6 & 0x3F));
      byte(0x80 | (c & 0x3F));
    } else {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
      byte(0x80 | (c >> 6 & 0x3F));
      byte(0x80 | (c & 0x3F));
    }
  }
  return out;
}

}  // namespace

std::string NumberWords(unsigned long long number) {
  if (number < kSmall.size()) return std::string(kSmall[number]);
  if (number < 100) {
    std::string text(kTens[number / 10]);
    if (number % 10 != 0) Append(text, kSmall[number % 10]);
    return text;
  }
  static constexpr std::pair<unsigned long long, std::string_view> kUnits[] = {
      {1000000000ULL, "billion"},
      {1000000ULL, "million"},
      {1000ULL, "thousand"},
      {100ULL, "hundred"}};
  for (const auto& [size, name] : kUnits) {
    if (number < size) continue;
    std::string text = NumberWords(number / size);
    Append(text, name);
    if (number % size != 0) Append(text, NumberWords(number % size));
    return text;
  }
  return {};
}

std::string NormaliseTranscript(std::string_view text, const std::string& where) {
  std::u32string spaced = DecodeUtf8(text, where);
  for (char32_t& c : spaced) {
    if (c == U'-' || (c >= 0x2010 && c <= 0x2015) || c == U'/') c = U' ';
    if (c == 0x2019) c = U'\'';
  }
  std::string out;
  for (const std::u32string& raw : SplitWords(spaced, TextNormaliser::kLower)) {
    if (raw == U"&") {
      Append(out, "and");
      continue;
    }
    std::u32string token = raw;  // "21st," without its comma, "$5." without its stop
    while (!token.empty() &&
           (token.back() == U'.' || token.back() == U',' || token.back() == U';' ||
            token.back() == U':' || token.back() == U'?' || token.back() == U'!' ||
            token.back() == U'"' || token.back() == U')')) {
      token.pop_back();
    }
    if (const std::string words = NumberToken(EncodeUtf8(token)); !words.empty()) {
      Append(out, words);
      continue;
    }
    for (const std::u32string& word : SplitWords(raw, TextNormaliser::kLowerNoPunct)) {
      std::string plain = EncodeUtf8(word);
      while (plain.starts_with('\'')) plain.erase(0, 1);  // a quotation inside a quotation
      while (plain.ends_with('\'')) plain.pop_back();
      if (!plain.empty()) Append(out, Plain(plain));
    }
  }
  return out;
}

}  // namespace sotto
