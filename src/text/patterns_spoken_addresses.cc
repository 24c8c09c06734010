#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/patterns_scan.h"
#include "text/spoken_numbers.h"

namespace sotto {
namespace {

// How far from "at" and "dot" the words of an address may lie, and how many of them may stand
// beside each other without "dot" or the like between them.
constexpr std::size_t kMostLexemes = 40;
constexpr int kMostWords = 3;

class SpokenAddresses {
 public:
  explicit SpokenAddresses(PatternScan& scan) : scan_(scan), text_(scan.text()) {}

  void Find() {
    for (std::size_t i = 0; i < text_.size();) {
      std::size_t next = 0;
      if (const std::size_t dot = DotLength(i); dot > 0) {
        next = FindDomain(i, dot);
      } else if (text_[i].Has(kMailHost) && i > 0) {
        next = FindHostAlone(i);
      }
      if (next == 0) next = FindIp(i);
      i = std::max(i + 1, next);
    }
  }

 private:
  // Lexemes of "dot", "(dot)", or of a full stop within a name; 0 where there is none.
  std::size_t DotLength(std::size_t i) const {
    const Lexeme& lexeme = text_.At(i);
    if (lexeme.IsSign('.')) return text_.At(i + 1).glued == lexeme.glued ? 1 : 0;
    if (lexeme.IsWord()) return text_.Is(i, "dot") || text_.Is(i, "period") ? 1 : 0;
    return InBrackets(i, "dot") ? 3 : 0;
  }

  bool InBrackets(std::size_t i, std::string_view word) const {
    const Lexeme& open = text_.At(i);
    if (!open.IsSign('(') && !open.IsSign('[') && !open.IsSign('{') && !open.IsSign('<')) {
      return false;
    }
    return text_.Is(i + 1, word) && text_.At(i + 2).kind == LexemeKind::kSign;
  }

  // Lexemes of "at", "at sign", "(at)", "@" that end before `end`.
  std::size_t AtLengthBefore(std::size_t end) const {
    if (end == 0) return 0;
    const std::size_t i = end - 1;
    if (text_.Is(i, "at") || text_[i].IsSign('@')) return 1;
    if ((text_.Is(i, "sign") || text_.Is(i, "symbol")) && i > 0 && text_.Is(i - 1, "at")) return 2;
    return end >= 3 && InBrackets(end - 3, "at") ? 3 : 0;
  }

  bool IsTopLevelAt(std::size_t i) const {
    return text_.At(i).Has(kTopLevel) || (text_.Letter(i) != 0 && text_.Letter(i + 1) != 0);
  }

  // A part of a name: a word, digits, a letter.
  bool IsPart(std::size_t i) const {
    return (text_[i].IsWord() || text_[i].IsDigits()) && !scan_.IsTaken(i);
  }
  // That is counted: neither a letter nor a number, of which there may be many.
  bool IsPlain(std::size_t i) const {
    return text_[i].IsWord() && text_.Letter(i) == 0 && text_[i].info->role == NumberRole::kNone;
  }
  bool IsNumber(std::size_t i) const { return text_.At(i).info->role != NumberRole::kNone; }
  bool IsJoint(std::size_t i) const {
    const Lexeme& lexeme = text_[i];
    if (lexeme.IsWord()) return lexeme.Has(kConnector) || text_.Is(i, "plus");
    return lexeme.IsSign('.') || lexeme.IsSign('-') || lexeme.IsSign('_') || lexeme.IsSign('+');
  }

  // The first lexeme of a name that is read aloud and ends before `end`; `end` where there is none.
  // It goes on to the left over words that can be in one, and over any behind "dot" or the like.
  std::size_t NameBefore(std::size_t end) const {
    std::size_t begin = end;
    int words = 0;
    bool joined = true;  // something must follow
    bool any = false;
    for (std::size_t i = end; i > 0 && end - i < kMostLexemes;) {
      if (any && text_[i].new_line) break;
      --i;
      const bool initial = text_[i].IsSign('.') && i > 0 && text_.Letter(i - 1) != 0;
      if (initial && any) continue;  // "m. smith"
      if (IsJoint(i) && any) {
        if (text_[i].kind == LexemeKind::kSign && !(text_[i].glued && text_.At(i + 1).glued)) break;
        joined = true;
        words = 0;
        continue;
      }
      if (text_[i].kind == LexemeKind::kSign && DotBracketEndsAt(i) && any && i >= 2) {
        i -= 2;
        joined = true;
        words = 0;
        continue;
      }
      if (any && (text_[i].IsSign(',') || text_[i].Has(kPause)) && i > 0 && IsNumber(i - 1) &&
          IsNumber(i + 1)) {
        continue;  // a pause between digits
      }
      if (!IsPart(i) || AtLengthBefore(i + 1) > 0 || text_.Is(i, "slash")) break;
      if (text_[i].Has(kStopWord) && text_.Letter(i) == 0 && !(joined && any)) break;
      if (IsPlain(i) && ++words > kMostWords) break;
      begin = i;
      joined = false;
      any = true;
    }
    return begin;
  }

  bool DotBracketEndsAt(std::size_t i) const { return i >= 2 && InBrackets(i - 2, "dot"); }

  // The end of a domain name whose first "dot" is at `dot`; 0 where it leads to no top level.
  std::size_t EndOfDomain(std::size_t dot, std::size_t length) const {
    std::size_t end = 0;
    std::size_t at = dot;
    for (int labels = 0; length > 0 && labels < 8; ++labels) {
      const std::size_t label = at + length;
      if (label >= text_.size() || text_[label].new_line) break;
      if (IsTopLevelAt(label)) {
        end = label + (text_[label].Has(kTopLevel) ? 1 : 2);
        at = end;
      } else if (IsPart(label) || text_[label].IsDigits()) {
        at = label + 1;
      } else {
        break;
      }
      length = DotLength(at);
    }
    if (end == 0) return 0;
    // "slash shop"
    while (text_.Is(end, "slash") && (text_.At(end + 1).IsWord() || text_.At(end + 1).IsDigits())) {
      end += 2;
    }
    return end;
  }

  std::size_t FindDomain(std::size_t dot, std::size_t length) {
    const std::size_t end = EndOfDomain(dot, length);
    if (end == 0) return 0;
    const bool written = text_[dot].IsSign('.');
    std::size_t host = written ? WrittenNameBefore(dot) : NameBefore(dot);
    // Any word may be a host behind "at".
    if (host == dot && dot > 1 && IsPart(dot - 1) && AtLengthBefore(dot - 1) > 0) host = dot - 1;
    if (host == dot) return 0;
    // "at" is the nearest before the host, over at most as many words as a host may have.
    if (const std::size_t at = AtLengthBefore(host); at > 0) {
      const std::size_t mailbox = NameBefore(host - at);
      if (mailbox < host - at) {
        scan_.Take(mailbox, end, EntityType::kEmail, 0.9);
        return end;
      }
    }
    if (written) return 0;  // that is no address read aloud
    const bool sure = !text_[end - 1].Has(kWordlikeTopLevel) || text_.Is(host, "www") ||
                      text_.Letter(host) == 'w' || EndOfDomain(dot, length) > dot + length + 1;
    if (!sure) return 0;
    scan_.Take(SchemeBefore(host), end, EntityType::kUrl, 0.9);
    return end;
  }

  // "https colon slash slash", "h t t p …"; `host` where it is not said.
  std::size_t SchemeBefore(std::size_t host) const {
    if (host < 3 || !text_.Is(host - 1, "slash") || !text_.Is(host - 2, "slash")) return host;
    std::size_t begin = host - 2;
    if (begin > 0 && text_.Is(begin - 1, "colon")) --begin;
    if (begin > 0 && (text_.Is(begin - 1, "http") || text_.Is(begin - 1, "https")))
      return begin - 1;
    while (begin > 0 && text_.Letter(begin - 1) != 0 && host - begin < 9) --begin;
    return begin;
  }

  std::size_t WrittenNameBefore(std::size_t dot) const {
    std::size_t begin = dot;
    while (begin > 0 && text_[begin].glued && dot - begin < kMostLexemes &&
           (text_[begin - 1].IsWord() || text_[begin - 1].IsDigits() ||
            text_[begin - 1].IsSign('-') || text_[begin - 1].IsSign('.'))) {
      --begin;
    }
    return begin;
  }

  // "john smith at gmail": hosts that are nothing but a host of mail.
  std::size_t FindHostAlone(std::size_t host) {
    if (text_.Is(host, "yahoo") || text_.Is(host, "live") || text_.Is(host, "outlook") ||
        DotLength(host + 1) > 0) {
      return 0;
    }
    const std::size_t at = AtLengthBefore(host);
    if (at == 0 || scan_.IsTaken(host)) return 0;
    const std::size_t mailbox = NameBefore(host - at);
    if (mailbox == host - at) return 0;
    scan_.Take(mailbox, host + 1, EntityType::kEmail, 0.7);
    return host + 1;
  }

  // Four numbers up to 255 with "dot" between them, in digits or words: "ten dot zero dot …".
  std::size_t FindIp(std::size_t first) {
    if (first > 0 && (DotLength(first - 1) > 0 || scan_.IsTaken(first))) return 0;
    std::size_t at = first;
    for (int part = 0; part < 4; ++part) {
      if (part > 0) {
        const std::size_t dot = text_.Is(at, "point") ? 1 : DotLength(at);
        if (dot == 0) return 0;
        at += dot;
      }
      std::string digits;
      while (digits.size() <= 3 && !text_.At(at).IsSign('.')) {
        if (text_.At(at).end - text_.At(at).begin > 16) return 0;
        const auto number = ReadNumber(text_, at);
        if (!number || number->form == NumberForm::kOrdinal) break;
        if (text_[at].IsDigits() && !digits.empty()) return 0;
        if (text_[at].IsDigits() && number->digits.size() > 1 && number->digits[0] == '0') return 0;
        digits += number->digits;
        at = number->last;
      }
      if (digits.empty() || digits.size() > 3 || std::stoi(digits) > 255) return 0;
    }
    if (DotLength(at) > 0 && text_.At(at + 1).IsDigits()) return 0;
    const Lexeme& more = text_.At(at);
    if ((more.IsSign(':') || more.IsSign('/')) && more.glued && text_.At(at + 1).IsDigits()) {
      at += 2;  // a port, the length of a prefix
    }
    scan_.Take(first, at, EntityType::kIp, 1.0);
    return at;
  }

  PatternScan& scan_;
  const LexedText& text_;
};

}  // namespace

void FindSpokenAddresses(PatternScan& scan) { SpokenAddresses(scan).Find(); }

}  // namespace sotto
