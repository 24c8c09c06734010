#include <algorithm>
#include <string>
#include <string_view>

#include "text/patterns_scan.h"
#include "text/spoken_numbers.h"

namespace sotto {
namespace {

bool IsHex(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

bool IsLabel(const Lexeme& lexeme) { return lexeme.IsWord() || lexeme.IsDigits(); }

bool IsOneOf(const Lexeme& lexeme, std::string_view signs) {
  return lexeme.kind == LexemeKind::kSign && lexeme.sign != 0 &&
         signs.find(lexeme.sign) != std::string_view::npos;
}

// Lexemes without space between them.
class Chunk {
 public:
  Chunk(PatternScan& scan, std::size_t first, std::size_t last)
      : scan_(scan), text_(scan.text()), first_(first), last_(last), free_(first) {}

  void Find() {
    if (FindHexAddress()) return;
    for (std::size_t i = first_; i < last_; ++i) {
      const Lexeme& lexeme = text_[i];
      if (lexeme.IsSign('@')) {
        i = std::max(i + 1, FindMail(i)) - 1;
      } else if (lexeme.IsSign(':') && At(i + 1).IsSign('/') && At(i + 2).IsSign('/') &&
                 i > free_ && text_[i - 1].IsWord()) {
        i = FindUrl(i - 1, i + 3) - 1;
      } else if (lexeme.IsSign('.') && i > free_ && i >= no_domain_before_ && At(i + 1).IsWord()) {
        i = std::max(i + 1, FindDomain(i)) - 1;
      }
    }
  }

 private:
  // Behind the chunk there is nothing.
  const Lexeme& At(std::size_t i) const { return text_.At(i < last_ ? i : text_.size()); }

  void Take(std::size_t first, std::size_t last, EntityType type, double confidence) {
    scan_.Take(first, last, type, confidence);
    free_ = last;
  }

  // Both return where the search goes on; mailboxes and hosts by RFC 5321, without quotes.
  std::size_t FindMail(std::size_t sign) {
    std::size_t begin = sign;
    while (begin > free_ &&
           (IsLabel(text_[begin - 1]) || IsOneOf(text_[begin - 1], "._%+-!#$&=~*'"))) {
      --begin;
    }
    while (begin < sign && !IsLabel(text_[begin])) ++begin;
    std::size_t end = sign + 1;
    while (end < last_ && (IsLabel(text_[end]) || IsOneOf(text_[end], ".-_"))) ++end;
    while (end > sign + 1 && !IsLabel(text_[end - 1])) --end;
    if (begin == sign && sign > free_ + 1 && text_[sign - 1].IsSign('"')) {  // "john smith"@x.org
      begin = sign - 1;
      while (begin > free_ && !text_[begin - 1].IsSign('"')) --begin;
      if (begin > free_) --begin;
    }
    const bool host = end > sign + 1 && text_[end - 1].end - text_[sign + 1].begin >= 2;
    if (begin == sign || !host) return sign + 1;
    // "sam@gmail dot com"
    while (end >= last_ && text_.Is(end, "dot") && text_.At(end + 1).Has(kTopLevel)) end += 2;
    Take(begin, end, EntityType::kEmail, 1.0);
    return end;
  }

  // From `begin` on, the host being at `host`: up to a quote or bracket, without what ends a
  // sentence.
  std::size_t FindUrl(std::size_t begin, std::size_t host) {
    std::size_t end = host;
    int open = 0;
    while (end < last_ && !IsOneOf(text_[end], "<>\"`|\\{}[],")) {
      if (text_[end].IsSign('(')) ++open;
      if (text_[end].IsSign(')') && --open < 0) break;
      ++end;
    }
    while (end > host && IsOneOf(text_[end - 1], ".,;:!?'*")) --end;
    if (end <= host) return host;
    Take(begin, end, EntityType::kUrl, 1.0);
    return end;
  }

  // A host name around the full stop at `stop`, whose last label is a top-level domain.
  std::size_t FindDomain(std::size_t stop) {
    const auto in_name = [](const Lexeme& lexeme) {
      return IsLabel(lexeme) || IsOneOf(lexeme, ".-_");
    };
    std::size_t begin = stop;
    while (begin > free_ && in_name(text_[begin - 1])) --begin;
    while (begin < stop && !IsLabel(text_[begin])) ++begin;
    std::size_t scanned = stop + 1;
    std::size_t end = 0;
    std::size_t stops = 0, stops_to_end = 0;
    for (std::size_t i = begin; i < stop; ++i) stops += text_[i].IsSign('.') ? 1 : 0;
    for (std::size_t i = stop; i < last_ && in_name(text_[i]); scanned = ++i) {
      if (!text_[i].IsSign('.')) continue;
      ++stops;
      const bool whole = !IsLabel(At(i + 2)) && !At(i + 2).IsSign('@');
      if (At(i + 1).Has(kTopLevel) && whole) {
        end = i + 2;
        stops_to_end = stops;
      }
    }
    no_domain_before_ = scanned;  // what was looked at is not looked at again
    if (begin == stop || end == 0) return stop + 1;
    const bool www = text_.Is(begin, "www");
    const bool path = At(end).IsSign('/');
    const Lexeme& label = text_[end - 3];
    const bool abbreviation = stops_to_end == 1 && label.end - label.begin == 1 && end - begin == 3;
    const bool sure = www || path || stops_to_end > 1;
    if (!sure && (text_[end - 1].Has(kWordlikeTopLevel) || abbreviation)) return stop + 1;
    if (stops_to_end > 1 && !www && !path && IsInitials(begin, end)) return stop + 1;
    if (!std::any_of(&text_[begin], &text_[end - 1], [](const Lexeme& l) { return l.IsWord(); })) {
      return stop + 1;  // "12.50.de"
    }
    if (path || (At(end).IsSign(':') && At(end + 1).IsDigits())) return FindUrl(begin, end + 1);
    Take(begin, end, EntityType::kUrl, sure ? 1.0 : 0.9);
    return end;
  }

  // "u.s.a": every label is one letter.
  bool IsInitials(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (IsLabel(text_[i]) && text_.Letter(i) == 0) return false;
    }
    return true;
  }

  // IPv6 (RFC 4291) and MAC addresses.
  bool FindHexAddress() {
    const auto is_colon = [this](std::size_t i) {
      return text_[i].IsSign(':') || text_[i].IsSign('-');
    };
    if (last_ - first_ < 3 || text_[last_ - 1].end - text_[first_].begin > 64) return false;
    std::size_t begin = first_;
    std::size_t end = last_;
    while (begin < end && IsOneOf(text_[begin], "([<\"',;")) ++begin;
    while (end > begin && IsOneOf(text_[end - 1], ")]>\"',;.!?")) --end;
    std::size_t stop = begin;  // a prefix, "/64", or a zone, "%eth0", may follow
    while (stop < end && !IsOneOf(text_[stop], "/%")) ++stop;
    if (stop - begin < 3 || !std::any_of(&text_[begin], &text_[stop - 1],
                                         [](const Lexeme& l) { return IsOneOf(l, ":-"); })) {
      return false;
    }
    const std::string_view bytes =
        text_.text().substr(text_[begin].begin, text_[stop - 1].end - text_[begin].begin);
    const bool colons = bytes.find('-') == std::string_view::npos;
    const char separator = colons ? ':' : '-';
    std::size_t groups = 0, longest = 0, shortest = 9, letters = 0, gaps = 0;
    for (std::size_t at = 0; at <= bytes.size();) {
      const std::size_t next = std::min(bytes.find(separator, at), bytes.size());
      const std::string_view group = bytes.substr(at, next - at);
      if (!std::all_of(group.begin(), group.end(), IsHex)) return false;
      letters += static_cast<std::size_t>(
          std::count_if(group.begin(), group.end(), [](char c) { return c > '9'; }));
      if (group.empty()) {
        ++gaps;
      } else {
        ++groups;
        longest = std::max(longest, group.size());
        shortest = std::min(shortest, group.size());
      }
      at = next + 1;
    }
    const bool edge = is_colon(begin) || is_colon(stop - 1);
    const bool v6 = colons && longest <= 4 &&
                    ((groups == 8 && gaps == 0) ||
                     (groups >= 1 && groups < 8 && bytes.find("::") != std::string_view::npos &&
                      gaps <= (edge ? 2U : 1U)));
    const bool mac =
        groups == 6 && gaps == 0 && longest == 2 && shortest == 2 && (colons || letters > 0);
    if (!v6 && !mac) return false;
    Take(begin, end, EntityType::kIp, 1.0);
    return true;
  }

  PatternScan& scan_;
  const LexedText& text_;
  std::size_t first_, last_;
  std::size_t free_;  // up to here nothing may be taken any more
  std::size_t no_domain_before_ = 0;
};

}  // namespace

bool HasCue(const LexedText& text, std::size_t at, std::uint32_t flags) {
  for (std::size_t i = at, steps = 0; i > 0 && steps < 8 && !text[i].new_line; --i, ++steps) {
    if (text[i - 1].Has(flags)) return true;
  }
  return false;
}

void FindAddresses(PatternScan& scan) {
  const LexedText& text = scan.text();
  for (std::size_t first = 0; first < text.size();) {
    bool worth = false;
    std::size_t last = first;
    do {
      worth = worth || IsOneOf(text[last], "@:.-");
      ++last;
    } while (last < text.size() && text[last].glued);
    if (worth) Chunk(scan, first, last).Find();
    first = last;
  }
}

}  // namespace sotto
