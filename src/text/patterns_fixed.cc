#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/check_digits.h"
#include "text/patterns_characters.h"
#include "text/patterns_scan.h"

namespace sotto {
namespace {

struct Country {
  std::string_view code;
  std::size_t length;
};
// Lengths by country from the SWIFT IBAN registry, release 97 (2024).
constexpr std::array<Country, 88> kIbans = {{
    {"ad", 24}, {"ae", 23}, {"al", 28}, {"at", 20}, {"az", 28}, {"ba", 20}, {"be", 16}, {"bg", 22},
    {"bh", 22}, {"bi", 27}, {"br", 29}, {"by", 28}, {"ch", 21}, {"cr", 22}, {"cy", 28}, {"cz", 24},
    {"de", 22}, {"dj", 27}, {"dk", 18}, {"do", 28}, {"ee", 20}, {"eg", 29}, {"es", 24}, {"fi", 18},
    {"fk", 18}, {"fo", 18}, {"fr", 27}, {"gb", 22}, {"ge", 22}, {"gi", 23}, {"gl", 18}, {"gr", 27},
    {"gt", 28}, {"hr", 21}, {"hu", 28}, {"ie", 22}, {"il", 23}, {"iq", 23}, {"is", 26}, {"it", 27},
    {"jo", 30}, {"kw", 30}, {"kz", 20}, {"lb", 28}, {"lc", 32}, {"li", 21}, {"lt", 20}, {"lu", 20},
    {"lv", 21}, {"ly", 25}, {"mc", 27}, {"md", 24}, {"me", 22}, {"mk", 19}, {"mn", 20}, {"mr", 27},
    {"mt", 31}, {"mu", 30}, {"ni", 28}, {"nl", 18}, {"no", 15}, {"om", 23}, {"pk", 24}, {"pl", 28},
    {"ps", 29}, {"pt", 25}, {"qa", 29}, {"ro", 24}, {"rs", 22}, {"ru", 33}, {"sa", 24}, {"sc", 31},
    {"sd", 18}, {"se", 24}, {"si", 19}, {"sk", 24}, {"sm", 27}, {"so", 23}, {"st", 25}, {"sv", 28},
    {"tl", 23}, {"tn", 24}, {"tr", 26}, {"ua", 29}, {"va", 22}, {"vg", 24}, {"xk", 20}, {"ye", 30},
}};

std::size_t IbanLength(std::string_view code) {
  const auto* at =
      std::lower_bound(kIbans.begin(), kIbans.end(), code,
                       [](const Country& c, std::string_view s) { return c.code < s; });
  return at != kIbans.end() && at->code == code ? at->length : 0;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Characters from a lexeme on, and for each the lexeme behind it where it is the last of one.
struct Characters {
  std::string chars;
  std::vector<std::size_t> ends;
  std::vector<bool> begins_word;  // white space or a sign stands before it
  // With the letter "o" by itself as a zero.
  std::string with_zeros;
};

class FixedForms {
 public:
  explicit FixedForms(PatternScan& scan) : scan_(scan), text_(scan.text()) {}

  void Find() {
    for (std::size_t i = 0; i < text_.size();) {
      i = std::max(i + 1, scan_.IsTaken(i) || !CanBegin(i) ? 0 : FindAt(i));
    }
  }

 private:
  // One or two letters and a digit, each of them written or read.
  bool CanBegin(std::size_t i) const {
    const Lexeme& lexeme = text_[i];
    if (!lexeme.IsWord() || (lexeme.glued && i > 0 && text_[i - 1].IsDigits())) return false;
    if (lexeme.end - lexeme.begin <= 2) return true;
    return lexeme.Has(kSpellingWord | kLetterName | kLetterCase);
  }

  Characters Read(std::size_t i, std::size_t most, std::size_t longest_word) const {
    Characters read;
    const auto add = [&](std::string_view chars, std::size_t first, std::size_t last) {
      for (std::size_t c = 0; c < chars.size(); ++c) {
        read.chars += chars[c];
        read.with_zeros += chars == "o" ? '0' : chars[c];
        read.ends.push_back(c + 1 == chars.size() ? last : 0);
        read.begins_word.push_back(c == 0 && !text_[first].glued);
      }
    };
    for (std::size_t at = i; at < text_.size() && read.chars.size() < most;) {
      const Lexeme& lexeme = text_[at];
      if ((lexeme.new_line && at > i) || scan_.IsTaken(at)) break;
      if (lexeme.kind == LexemeKind::kSign) {
        if (at == i || !(lexeme.IsSign('-') || lexeme.IsSign('.') || lexeme.IsSign(','))) break;
        ++at;
        continue;
      }
      if (lexeme.IsDigits() && lexeme.end - lexeme.begin > 40) break;
      if (lexeme.IsDigits()) {
        add(text_.Digits(lexeme), at, at + 1);
        ++at;
      } else if (const auto item = ReadCodeItem(text_, at)) {
        add(item->chars, item->first, item->last);
        at = item->last;
      } else if (lexeme.Has(kPause) && at > i) {
        ++at;
      } else if (const auto word = text_.Lower(lexeme);
                 word.size() <= longest_word && std::all_of(word.begin(), word.end(), [](char c) {
                   return c >= 'a' && c <= 'z';
                 })) {
        add(word, at, at + 1);
        ++at;
      } else {
        break;
      }
    }
    return read;
  }

  std::size_t FindAt(std::size_t i) {
    Characters read = Read(i, 9, 2);
    const std::string& c = read.with_zeros;
    if (c.size() < 4) return 0;
    const std::size_t length = IbanLength(read.chars.substr(0, 2));
    if (length > 0 && IsDigit(c[2]) && IsDigit(c[3])) {
      if (const std::size_t end = FindIban(i, length)) return end;
    }
    if (const std::size_t end = FindInsurance(i, read)) return end;
    return FindPostcode(i, read);
  }

  std::size_t FindIban(std::size_t i, std::size_t length) {
    const Characters read = Read(i, length, 6);
    if (read.chars.size() < length || read.ends[length - 1] == 0) return 0;
    const std::string chars = read.chars.substr(0, length);
    const std::size_t end = read.ends[length - 1];
    const std::string zeros = chars.substr(0, 2) + read.with_zeros.substr(2, length - 2);
    if (HasIban(chars) || HasIban(zeros)) {
      scan_.Take(i, end, EntityType::kIban, 1.0);
      return end;
    }
    // Of the form but not of the checksum: a number all the same.
    if (std::count_if(chars.begin(), chars.end(), IsDigit) < 10) return 0;
    scan_.Take(i, end, EntityType::kNumber, 0.8);
    return end;
  }

  // British national insurance: two letters, six digits, A … D.
  std::size_t FindInsurance(std::size_t i, const Characters& read) {
    const std::string& c = read.chars;
    if (c.size() < 9 || read.ends[8] == 0) return 0;
    const bool form = std::string_view("abceghjklmnoprstwxyz").find(c[0]) != std::string::npos &&
                      std::string_view("abceghjklmnprstwxyz").find(c[1]) != std::string::npos &&
                      std::all_of(c.begin() + 2, c.begin() + 8, IsDigit) && c[8] >= 'a' &&
                      c[8] <= 'd';
    if (!form) return 0;
    // Part of a longer row of letters and digits, read one by one.
    if ((i > 0 && IsCharacter(i - 1)) || IsCharacter(read.ends[8])) return 0;
    // "at 123456 a": words that are no letters.
    const bool words = text_.Lower(text_[i]).size() == 2 && !text_.At(i + 1).glued &&
                       text_.text()[text_[i].begin] >= 'a' && !HasCue(text_, i, kIdCue);
    if (words) return 0;
    scan_.Take(i, read.ends[8], EntityType::kId, 0.95);
    return read.ends[8];
  }

  bool IsCharacter(std::size_t i) const {
    const NumberRole role = text_.At(i).info->role;
    const bool letter = text_.Letter(i) != 0 && text_.Letter(i) != 'a' && text_.Letter(i) != 'i';
    return text_.At(i).IsDigits() || letter || text_.At(i).Has(kSpellingWord) ||
           (role != NumberRole::kNone && role != NumberRole::kOrdinal);
  }

  // British (SW1A 2AA) and Canadian (K1A 0B1) postcodes: a place.
  std::size_t FindPostcode(std::size_t i, const Characters& read) {
    for (std::size_t n = std::min<std::size_t>(7, read.chars.size()); n >= 5; --n) {
      if (read.ends[n - 1] == 0) continue;
      const std::string form = Form(read.chars.substr(0, n));
      const bool british = form == "l1-1ll" || form == "l11-1ll" || form == "ll1-1ll" ||
                           form == "ll11-1ll" || form == "l1l-1ll" || form == "ll1l-1ll";
      const bool canadian = form == "l1l-1l1";
      if (!british && !canadian) continue;
      // Where it is written, its halves are words; where it is read, its letters are.
      const std::size_t digit = form.find('1');
      const bool written = text_[i].end - text_[i].begin == digit && !read.begins_word[digit] &&
                           !read.begins_word[n - 2] && !read.begins_word[n - 1];
      const bool letters =
          std::all_of(read.ends.begin(), read.ends.begin() + static_cast<std::ptrdiff_t>(n),
                      [](std::size_t end) { return end > 0; });
      if (!written && !(letters && digit == 2)) continue;
      if ((i > 0 && IsCharacter(i - 1)) || IsCharacter(read.ends[n - 1])) continue;
      const std::string_view passage =
          text_.text().substr(text_[i].begin, text_[read.ends[n - 1] - 1].end - text_[i].begin);
      if (passage.find_first_of(".,-") != std::string_view::npos) continue;
      scan_.Take(i, read.ends[n - 1], EntityType::kLocation, 0.8);
      return read.ends[n - 1];
    }
    return 0;
  }

  // Letters as 'l', digits as '1', a hyphen before the last three.
  static std::string Form(const std::string& chars) {
    std::string form;
    for (std::size_t c = 0; c < chars.size(); ++c) {
      if (c + 3 == chars.size()) form += '-';
      form += IsDigit(chars[c]) ? '1' : 'l';
    }
    return form;
  }

  PatternScan& scan_;
  const LexedText& text_;
};

}  // namespace

void FindFixedForms(PatternScan& scan) { FixedForms(scan).Find(); }

}  // namespace sotto
