#include "text/tokens.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "text/utf8.h"

namespace sotto {
namespace {

enum class Kind : std::uint8_t { kSpace, kWord, kApostrophe, kHyphen, kStop, kOther };

Kind KindOf(char32_t code) {
  if (IsWordCharacter(code)) return Kind::kWord;
  if (IsSpace(code)) return Kind::kSpace;
  if (code == '\'' || code == 0x2019) return Kind::kApostrophe;
  if (code == '-' || code == 0x2010 || code == 0x2011) return Kind::kHyphen;
  return code == '.' ? Kind::kStop : Kind::kOther;
}

bool IsConnector(Kind kind) {
  return kind == Kind::kApostrophe || kind == Kind::kHyphen || kind == Kind::kStop;
}

Kind KindAt(std::string_view text, std::size_t at) {
  return at < text.size() ? KindOf(DecodeUtf8(text, at).code) : Kind::kSpace;
}

bool IsWordAt(std::string_view text, std::size_t at) { return KindAt(text, at) == Kind::kWord; }

// Other characters of addresses: of a mailbox (RFC 5322, atext) and of what is behind "://" (RFC
// 3986, without brackets, quotes and what ends a sentence).
bool IsOfMailbox(char c) {
  return std::string_view("_%+&=/!#$*^~{|}").find(c) != std::string::npos;
}
bool IsOfUrl(char c) { return std::string_view("_%+&=/#$*~@:?").find(c) != std::string::npos; }

class Tokeniser {
 public:
  explicit Tokeniser(std::string_view text) : text_(text) { tokens_.reserve(text.size() / 5 + 1); }

  std::vector<Token> Take() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const Rune rune = DecodeUtf8(text_, at);
      const Kind kind = KindOf(rune.code);
      if (kind == Kind::kSpace) {
        at += rune.size;
      } else if (kind == Kind::kWord && !IsMark(rune.code)) {
        at = TakeWord(at);
      } else {
        at = TakeSign(at, at + rune.size);
      }
    }
    return std::move(tokens_);
  }

 private:
  // The end of letters, digits and marks together with single connectors between them.
  std::size_t EndOfWord(std::size_t at) const {
    while (at < text_.size()) {
      const Rune rune = DecodeUtf8(text_, at);
      const Kind kind = KindOf(rune.code);
      if (kind != Kind::kWord && !(IsConnector(kind) && IsWordAt(text_, at + rune.size))) break;
      at += rune.size;
    }
    return at;
  }

  // The end of an address that goes on at `at`, which is a word's end: any number of other
  // characters of addresses and connectors, as long as a word follows. `at` where there is none.
  template <typename Allowed>
  std::size_t EndOfAddress(std::size_t at, const Allowed& allowed) const {
    std::size_t end = at;
    while (at < text_.size()) {
      const Rune rune = DecodeUtf8(text_, at);
      const Kind kind = KindOf(rune.code);
      if (kind != Kind::kWord && !IsConnector(kind) &&
          !(rune.code < 0x80 && allowed(static_cast<char>(rune.code)))) {
        break;
      }
      at += rune.size;
      if (kind == Kind::kWord) end = at;
    }
    return end;
  }

  std::size_t TakeWord(std::size_t begin) {
    std::size_t end = EndOfWord(begin);
    if (text_.substr(end, 3) == "://" && IsWordAt(text_, end + 3)) {
      end = EndOfAddress(end, IsOfUrl);
      if (end < text_.size() && text_[end] == '/') ++end;
      tokens_.push_back({begin, end});
      return end;
    }
    if (const std::size_t address = EndOfMail(end); address > end) {
      tokens_.push_back({begin, address});
      return address;
    }
    // "'s" leaves the word.
    const std::size_t word = end;
    if (end > begin + 2 && (text_[end - 1] == 's' || text_[end - 1] == 'S')) {
      if (text_[end - 2] == '\'') end -= 2;
      if (end == word && end > begin + 4 && text_.substr(end - 4, 3) == "\u2019") end -= 4;
    }
    tokens_.push_back({begin, end});
    if (end < word) tokens_.push_back({end, word});
    return word;
  }

  // The end of a mail address whose mailbox begins with a word that ends at `at`; `at` where there
  // is none. A search that fails is not begun again before its end, so that time stays linear.
  std::size_t EndOfMail(std::size_t at) {
    if (at < no_mail_before_) return at;
    std::size_t sign = at;
    while (sign < text_.size() && text_[sign] != '@') {
      const Rune rune = DecodeUtf8(text_, sign);
      const Kind kind = KindOf(rune.code);
      if (kind != Kind::kWord && !IsConnector(kind) &&
          !(rune.code < 0x80 && IsOfMailbox(static_cast<char>(rune.code)))) {
        break;
      }
      sign += rune.size;
    }
    if (sign >= text_.size() || text_[sign] != '@' || !IsWordAt(text_, sign + 1)) {
      no_mail_before_ = sign;
      return at;
    }
    return EndOfAddress(sign, [](char c) { return c == '@' || c == '_'; });
  }

  std::size_t TakeSign(std::size_t begin, std::size_t end) {
    // A joiner holds two emoji together as one.
    bool joined = false;
    while (end < text_.size()) {
      const Rune rune = DecodeUtf8(text_, end);
      if (!IsMark(rune.code) && !(joined && KindOf(rune.code) == Kind::kOther)) break;
      joined = rune.code == 0x200D;
      end += rune.size;
    }
    tokens_.push_back({begin, end});
    return end;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t no_mail_before_ = 0;
};

}  // namespace

std::vector<Token> Tokenise(std::string_view text) { return Tokeniser(text).Take(); }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (std::size_t at = 0; at < text.size();) {
    const Rune rune = DecodeUtf8(text, at);
    const char32_t code = LowerCase(rune.code);
    if (rune.valid && code != rune.code) {
      std::string bytes;
      AppendUtf8(code, bytes);
      std::copy(bytes.begin(), bytes.end(), lower.begin() + static_cast<std::ptrdiff_t>(at));
    }
    at += rune.size;
  }
  return lower;
}

}  // namespace sotto
