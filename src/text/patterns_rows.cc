#include "text/patterns_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "text/spoken_numbers.h"

namespace sotto {
namespace {

class RowReader {
 public:
  explicit RowReader(const PatternScan& scan) : scan_(scan), text_(scan.text()) {}

  CodeRow Read(std::size_t i) const {
    CodeRow row;
    row.begin = i;
    std::size_t at = i;
    if (text_[at].IsSign('+') || text_.Is(at, "plus")) {
      row.plus = true;
      ++at;
      if (text_.At(at).IsSign('(')) ++at;
    }
    std::size_t digits = 0;
    char gap = ' ';
    bool brackets = false;
    while (at < text_.size() && !scan_.IsTaken(at)) {
      if (digits >= 6) {
        if (const std::size_t end = EndOfExtension(at); end > 0) {
          row.extension = true;
          row.end = end;
          break;
        }
      }
      auto item = ReadCodeItem(text_, at);
      if (!item && !row.items.empty()) item = SoundsLikeDigit(row.items.back(), at);
      if (!item || (row.plus && row.items.empty() && item->letters)) break;
      // Letters without space between: one word of them is no row of letters.
      item->gap = gap;
      if (!row.items.empty() && gap == ' ' && text_[at].glued) item->gap = 'g';
      if (!item->letters) digits += item->chars.size();
      row.items.push_back(*item);
      row.end = at = item->last;
      const std::size_t next = EndOfGap(row.items.back(), at, gap, brackets);
      if (next == 0) break;
      at = next;
    }
    if (row.items.empty()) return row;
    // "(021) 0025-967", "(+44) 20 …"
    if (brackets && row.begin > 0 && text_[row.begin - 1].IsSign('(')) --row.begin;
    return row;
  }

 private:
  // "to" and "for" between digits that are read one by one.
  std::optional<CodeItem> SoundsLikeDigit(const CodeItem& before, std::size_t at) const {
    if (!before.spoken || !before.single || !text_[at].Has(kSoundsLikeDigit)) return std::nullopt;
    const NumberRole next = text_.At(at + 1).info->role;
    if (next != NumberRole::kUnit && next != NumberRole::kZero) return std::nullopt;
    CodeItem item;
    item.first = at;
    item.last = at + 1;
    item.chars = std::to_string(text_[at].info->value);
    item.spoken = item.single = item.weak = true;
    return item;
  }

  // Where the next item may begin behind the one that ends before `at`; 0 where the row ends. `gap`
  // is the sign between them.
  std::size_t EndOfGap(const CodeItem& before, std::size_t at, char& gap, bool& brackets) const {
    gap = ' ';
    const bool read = before.spoken || before.single;  // rather than written
    std::size_t steps = 0;
    for (; steps < 4 && at < text_.size(); ++steps, ++at) {
      const Lexeme& lexeme = text_[at];
      if (lexeme.new_line && !(read && steps == 0)) return 0;
      const Lexeme& next = text_.At(at + 1);
      if (lexeme.kind == LexemeKind::kSign) {
        const bool inside = lexeme.glued && next.glued;
        switch (lexeme.sign) {
          case '-':
          case '(':
            break;
          case ')':
            brackets = true;
            break;
          case '.':
            if (!inside && !read) return 0;
            break;
          case '/':
          case '_':
            if (!inside) return 0;
            break;
          case ',':
            if (!read) return 0;
            break;
          default:
            return 0;
        }
        gap = lexeme.sign;
        continue;
      }
      if (lexeme.Has(kPause) && read && text_.Letter(at) == 0) {
        gap = 'w';
        continue;
      }
      return at;
    }
    return 0;
  }

  // "x506", "ext. 506", "extension five oh six".
  std::size_t EndOfExtension(std::size_t at) const {
    static constexpr std::array<std::string_view, 5> kWords = {"x", "ext", "extn", "extension",
                                                               "durchwahl"};
    if (!text_[at].IsSign('#') &&
        std::find(kWords.begin(), kWords.end(), text_.LowerAt(at)) == kWords.end()) {
      return 0;
    }
    ++at;
    if (text_.At(at).IsSign('.') || text_.At(at).IsSign(':')) ++at;
    if (text_.Is(at, "number") || text_.Is(at, "is")) ++at;
    std::size_t digits = 0;
    std::size_t end = 0;
    while (digits < 6) {
      if (text_.At(at).end - text_.At(at).begin > 16) break;
      const auto number = ReadNumber(text_, at);
      if (!number || number->form == NumberForm::kOrdinal || text_[at].new_line) break;
      digits += number->digits.size();
      end = at = number->last;
      if (!number->spoken) break;
      while (text_.At(at).IsSign(',') || text_.At(at).IsSign('-') || text_.At(at).Has(kPause)) ++at;
    }
    return end;
  }

  const PatternScan& scan_;
  const LexedText& text_;
};

}  // namespace

bool CodeRowMayBegin(const LexedText& text, std::size_t i) {
  const Lexeme& lexeme = text[i];
  if (lexeme.kind == LexemeKind::kSign) return lexeme.IsSign('+');
  if (lexeme.IsDigits() || lexeme.end - lexeme.begin == 1) return true;
  if (lexeme.info->role != NumberRole::kNone && lexeme.info->role != NumberRole::kOrdinal) {
    return true;
  }
  if (lexeme.Has(kSpellingWord | kLetterName | kLetterCase)) return true;
  if (text.Is(i, "plus") || text.Is(i, "upper") || text.Is(i, "lower")) return true;
  const Lexeme& next = text.At(i + 1);
  return (next.IsDigits() && (next.glued || lexeme.end - lexeme.begin <= 4)) ||
         (next.IsSign('-') && text.At(i + 2).IsDigits() && lexeme.end - lexeme.begin <= 6);
}

CodeRow ReadCodeRow(const PatternScan& scan, std::size_t i) { return RowReader(scan).Read(i); }

}  // namespace sotto
