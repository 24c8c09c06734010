#include "text/lexemes.h"

#include <algorithm>

#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

// The value of a decimal digit: ASCII, Arabic, Persian, Devanagari, Bengali, full width; else −1.
int DigitOf(char32_t code) {
  for (const char32_t zero : {U'0', U'\u0660', U'\u06F0', U'\u0966', U'\u09E6', U'\uFF10'}) {
    if (code >= zero && code <= zero + 9) return static_cast<int>(code - zero);
  }
  return -1;
}

char SignOf(char32_t code) {
  if (code >= 0x2010 && code <= 0x2015) return '-';
  if (code == 0x2018 || code == 0x2019) return '\'';
  if (code == 0x201C || code == 0x201D) return '"';
  if (code == 0xFF0B) return '+';
  return code < 0x80 ? static_cast<char>(code) : 0;
}

bool IsLineEnd(char32_t code) { return code == '\n' || code == '\r' || code == 0x2028; }

bool IsLetter(char32_t code) { return IsWordCharacter(code) && DigitOf(code) < 0; }

}  // namespace

LexedText::LexedText(std::string_view text) : text_(text), lower_(LowerCase(text)) {
  static constexpr WordInfo kNothing;
  none_ = {text.size(), text.size(), LexemeKind::kSign, false, true, 0, &kNothing};
  lexemes_.reserve(text.size() / 5 + 1);
  bool glued = false;
  bool new_line = false;
  const auto rune_at = [text](std::size_t at) {
    return at < text.size() ? DecodeUtf8(text, at) : Rune{' ', 0, true};
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const Rune rune = DecodeUtf8(text, at);
    at += rune.size;
    if (IsSpace(rune.code)) {
      glued = false;
      new_line = new_line || IsLineEnd(rune.code);
      continue;
    }
    Lexeme lexeme = {begin, at, LexemeKind::kSign, glued, new_line, 0, &kNothing};
    if (DigitOf(rune.code) >= 0) {
      lexeme.kind = LexemeKind::kDigits;
      for (Rune next = rune_at(at); DigitOf(next.code) >= 0; next = rune_at(at)) at += next.size;
    } else if (IsLetter(rune.code)) {
      lexeme.kind = LexemeKind::kWord;
      // An apostrophe between letters belongs to the word.
      for (Rune next = rune_at(at); next.size > 0; next = rune_at(at)) {
        if (!IsLetter(next.code) &&
            !(SignOf(next.code) == '\'' && IsLetter(rune_at(at + next.size).code))) {
          break;
        }
        at += next.size;
      }
      std::string_view word = std::string_view(lower_).substr(begin, at - begin);
      if (word.ends_with("'s")) word.remove_suffix(2);
      if (word.ends_with("\u2019s")) word.remove_suffix(4);
      lexeme.info = &LookUpWord(word);
    } else {
      lexeme.sign = SignOf(rune.code);
    }
    lexeme.end = at;
    lexemes_.push_back(lexeme);
    glued = true;
    new_line = false;
  }
}

char LexedText::Letter(std::size_t i) const {
  const Lexeme& lexeme = At(i);
  if (!lexeme.IsWord() || lexeme.end - lexeme.begin != 1) return 0;
  const char c = lower_[lexeme.begin];
  return c >= 'a' && c <= 'z' ? c : '\0';
}

std::string LexedText::Digits(const Lexeme& lexeme) const {
  std::string digits;
  for (std::size_t at = lexeme.begin; at < lexeme.end;) {
    const Rune rune = DecodeUtf8(text_, at);
    digits += static_cast<char>('0' + DigitOf(rune.code));
    at += rune.size;
  }
  return digits;
}

}  // namespace sotto
