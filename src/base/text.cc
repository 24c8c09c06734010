#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::size_t kBlock = 64;

unsigned char Byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Most text is plain ASCII: 64 bytes at a time, which compilers turn into a few vector
// instructions. Carriage returns are looked at apart.
bool IsPlainBlock(const char* bytes) {
  unsigned odd = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    const auto above = static_cast<unsigned char>(c - 0x20U);
    odd |= static_cast<unsigned>(above > 0x5EU) & static_cast<unsigned>(c != '\n') &
           static_cast<unsigned>(c != '\t') & static_cast<unsigned>(c != '\r');
  }
  return odd == 0;
}

struct Character {
  std::size_t bytes = 0;  // 0: no UTF-8
  char32_t code = 0;
  bool cut_off = false;  // no UTF-8 only because the text ends here
};

// The character at `at`; overlong forms, surrogates and what lies beyond U+10FFFF are no UTF-8.
Character Decode(std::string_view text, std::size_t at) {
  const unsigned first = Byte(text, at);
  if (first < 0x80) return {1, first, false};
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0) return {};
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i == text.size()) return {0, 0, true};
    const unsigned next = Byte(text, at + i);
    unsigned low = 0x80, high = 0xBF;
    if (i == 1 && first == 0xE0) low = 0xA0;
    if (i == 1 && first == 0xED) high = 0x9F;
    if (i == 1 && first == 0xF0) low = 0x90;
    if (i == 1 && first == 0xF4) high = 0x8F;
    if (next < low || next > high) return {};
    code = code << 6 | (next & 0x3FU);
  }
  return {length, code, false};
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

// Embeddings, overrides and isolates: text after them can be shown in another order than it has.
bool TurnsDirection(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool IsLineEnd(std::string_view text, std::size_t at) {
  return text[at] == '\n' || (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n');
}

void AppendEscaped(std::string& out, std::string_view text, std::size_t at, const Character& c) {
  if (c.bytes == 0) {
    out += fmt::format("\\x{:02x}", Byte(text, at));
  } else if (IsControl(c.code) || TurnsDirection(c.code)) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
  } else {
    out += text.substr(at, c.bytes);
  }
}

}  // namespace

std::size_t FindUnclean(std::string_view text) {
  // A carriage return is part of a line end, or the last byte of a file without the other half.
  std::size_t lone_return = text.find('\r');
  while (lone_return != std::string_view::npos && lone_return + 1 < text.size() &&
         text[lone_return + 1] == '\n') {
    lone_return = text.find('\r', lone_return + 2);
  }
  if (lone_return + 1 == text.size()) lone_return = std::string_view::npos;
  std::size_t at = 0;
  while (at < text.size() && at <= lone_return) {
    if (at + kBlock <= text.size() && IsPlainBlock(text.data() + at)) {
      at += kBlock;
      continue;
    }
    const std::size_t stop = std::min(at + kBlock, text.size());
    while (at < stop) {
      const Character c = Decode(text, at);
      const bool blank = c.code == '\n' || c.code == '\t' || c.code == '\r';
      if (c.bytes == 0 || TurnsDirection(c.code) || (IsControl(c.code) && !blank)) {
        return std::min(at, lone_return);
      }
      at += c.bytes;
    }
  }
  return lone_return;
}

std::string DescribeUnclean(std::string_view text, std::size_t at) {
  constexpr std::size_t kBefore = 40;
  const Character c = Decode(text, at);
  const std::size_t begin = at - std::min(at, kBefore);
  // The beginning of the quote may fall into a character.
  std::size_t first = begin;
  while (first < at && begin > 0 && (Byte(text, first) & 0xC0U) == 0x80U) ++first;
  const std::size_t length = at - first + std::max<std::size_t>(c.bytes, 1);
  return fmt::format("'{}{}' {}", begin > 0 ? "…" : "", Printable(text.substr(first, length)),
                     c.bytes == 0 ? "is no UTF-8" : "holds a control character");
}

void RequireClean(std::string_view text, const std::string& where, std::size_t first_line) {
  const std::size_t at = FindUnclean(text);
  if (at == std::string_view::npos) return;
  const std::string_view before = text.substr(0, at);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  throw Error(fmt::format("{}: line {}: {} (tables are UTF-8 without control characters)", where,
                          first_line + line, DescribeUnclean(text.substr(begin), at - begin)));
}

std::string Printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = Decode(text, at);
    AppendEscaped(out, text, at, c);
    at += std::max<std::size_t>(c.bytes, 1);
  }
  return out;
}

std::string Escaper::Push(std::string_view bytes) {
  waiting_ += bytes;
  const std::string_view text = waiting_;
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character c = Decode(text, at);
    const bool half_line_end = c.code == '\r' && at + 1 == text.size();
    if (c.cut_off || half_line_end) break;
    if (c.code == '\t' || IsLineEnd(text, at)) {
      out += text[at++];
      continue;
    }
    AppendEscaped(out, text, at, c);
    at += std::max<std::size_t>(c.bytes, 1);
  }
  waiting_.erase(0, at);
  return out;
}

std::string Escaper::Finish() {
  std::string out = Printable(waiting_);
  waiting_.clear();
  return out;
}

}  // namespace sotto
