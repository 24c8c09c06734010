#include "text/mended_text.h"

#include "text/utf8.h"

namespace sotto {

std::string MendedText(std::string_view bytes) {
  const auto surrogate = [&](std::size_t at, unsigned high) -> char32_t {
    if (at + 2 >= bytes.size() || static_cast<unsigned char>(bytes[at]) != 0xED) return 0;
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    const auto third = static_cast<unsigned char>(bytes[at + 2]);
    if ((second & 0xF0U) != high || (third & 0xC0U) != 0x80) return 0;
    return 0xD000U | ((second & 0x3FU) << 6U) | (third & 0x3FU);
  };
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const Rune rune = DecodeUtf8(bytes, at);
    if (rune.valid) {
      text.append(bytes.substr(at, rune.size));
      at += rune.size;
      continue;
    }
    const char32_t high = surrogate(at, 0xA0), low = surrogate(at + 3, 0xB0);
    if (high != 0 && low != 0) {
      AppendUtf8(0x10000 + ((high - 0xD800) << 10U) + (low - 0xDC00), text);
      at += 6;
    } else {
      AppendUtf8(static_cast<unsigned char>(bytes[at]), text);
      ++at;
    }
  }
  return text;
}

}  // namespace sotto
