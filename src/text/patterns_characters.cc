#include "text/patterns_characters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/spoken_numbers.h"

namespace sotto {
namespace {

bool IsAsciiLetters(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool IsUpper(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// The word of "as in mike", "for mike", "like mike", "is for mike" that begins behind a letter; 0
// where there is none that begins with the letter.
std::size_t EndOfExample(const LexedText& text, std::size_t at, char letter) {
  std::size_t word = 0;
  if (text.Is(at, "as") && text.Is(at + 1, "in")) word = at + 2;
  if (text.Is(at, "is") && text.Is(at + 1, "for")) word = at + 2;
  if (text.Is(at, "for") || text.Is(at, "like")) word = at + 1;
  if (word == 0) return 0;
  const Lexeme& example = text.At(word);
  if (!example.IsWord() || example.end - example.begin < 2) return 0;
  const std::string_view lower = text.Lower(example);
  const bool matches = lower[0] == letter || (letter == 'x' && lower.starts_with("ex"));
  return matches ? word + 1 : 0;
}

// Whether a letter stands before or behind it, with at most a sign between.
bool IsAmongLetters(const LexedText& text, std::size_t at) {
  const auto is_letter = [&](std::size_t i) {
    return text.Letter(i) != 0 && text.Letter(i) != 'o';
  };
  if (is_letter(at + 1) || (text.At(at + 1).kind == LexemeKind::kSign && is_letter(at + 2))) {
    return true;
  }
  if (at > 0 && is_letter(at - 1)) return true;
  return at > 1 && text[at - 1].kind == LexemeKind::kSign && is_letter(at - 2);
}

// Letters that are also words by themselves.
bool IsArticle(const LexedText& text, std::size_t at) {
  return text.Letter(at) == 'a' || text.Letter(at) == 'i';
}

// Names of letters that are common words.
bool IsCommonWord(const LexedText& text, std::size_t at) {
  constexpr std::array<std::string_view, 13> kWords = {
      "are", "you", "see", "why", "en", "el", "ex", "em", "eye", "ay", "sea", "tea", "pea"};
  return std::find(kWords.begin(), kWords.end(), text.LowerAt(at)) != kWords.end();
}

bool IsClearLetter(const LexedText& text, std::size_t at) {
  if (text.Letter(at) != 0) return !IsArticle(text, at);
  return text.At(at).Has(kLetterName) && !IsCommonWord(text, at);
}

}  // namespace

std::optional<CodeItem> ReadLetter(const LexedText& text, std::size_t at) {
  CodeItem item;
  item.first = at;
  item.letters = item.single = true;
  std::size_t i = at;
  if (text.At(i).Has(kLetterCase)) {
    ++i;
  } else if ((text.Is(i, "upper") || text.Is(i, "lower")) && text.Is(i + 1, "case")) {
    i += 2;
  }
  item.sure = i > at;
  std::size_t times = 1;
  if (text.At(i).info->role == NumberRole::kMultiple) {
    if (text.Is(i, "double") && (text.Letter(i + 1) == 'u' || text.Is(i + 1, "you"))) {
      item.chars.assign(1, 'w');
      item.last = i + 2;
      item.sure =
          !text.Is(i + 1, "you") || IsClearLetter(text, i + 2) || text.At(i + 2).Has(kLetterName);
      return item;
    }
    times = text.At(i).info->value;
    ++i;
    item.sure = true;
  }
  if (text.At(i).new_line && i > at) return std::nullopt;
  char letter = text.Letter(i);
  if (letter == 0 && text.At(i).Has(kSpellingWord | kLetterName) && times == 1) {
    letter = text.At(i).info->letter;
    item.weak = !item.sure;
    // Common words are letters only beside letters.
    if (!item.sure && IsCommonWord(text, i)) {
      const bool named = i > 0 && text[i - 1].Has(kLetterName);
      const bool beside = i > 0 && IsClearLetter(text, i - 1);
      const bool before = IsClearLetter(text, i + 1);
      if (!beside && !(named && before)) return std::nullopt;
    }
  }
  if (letter == 0) return std::nullopt;
  // "p.m."
  if ((letter == 'a' || letter == 'p') && text.At(i + 1).IsSign('.') && text.At(i + 1).glued &&
      text.Letter(i + 2) == 'm' && text.At(i + 2).glued && text.Letter(i + 4) == 0) {
    return std::nullopt;
  }
  item.chars = std::string(times, letter);
  item.last = i + 1;
  if (const std::size_t end = EndOfExample(text, i + 1, letter); end > 0) {
    // "a for apple" is a letter, "i like icecream" hardly.
    const bool doubtful =
        letter == 'i' && text.Is(i + 1, "like") && !text.At(i + 2).Has(kSpellingWord);
    if (!doubtful) {
      item.last = end;
      item.sure = true;
      item.weak = false;
    }
  }
  return item;
}

std::optional<CodeItem> ReadCodeItem(const LexedText& text, std::size_t at) {
  const Lexeme& lexeme = text.At(at);
  if (lexeme.kind == LexemeKind::kSign) return std::nullopt;
  const bool letter_o = text.Letter(at) == 'o' && IsAmongLetters(text, at);
  if (!letter_o) {
    if (auto letter = ReadLetter(text, at);
        letter && !(lexeme.IsWord() && lexeme.info->role != NumberRole::kNone && !letter->sure)) {
      return letter;
    }
    auto number = ReadNumber(text, at);
    if (number && number->form == NumberForm::kOrdinal && lexeme.IsDigits() && lexeme.glued &&
        at > 0 && text[at - 1].IsWord()) {
      // "vr6th" is no ordinal.
      number->digits = text.Digits(lexeme);
      number->last = at + 1;
      number->form = NumberForm::kWritten;
    }
    if (number && number->form != NumberForm::kOrdinal) {
      CodeItem item;
      item.first = number->first;
      item.last = number->last;
      item.chars = number->digits;
      item.spoken = number->spoken;
      item.single = number->single;
      return item;
    }
  } else {
    CodeItem item;
    item.first = at;
    item.last = at + 1;
    item.chars.push_back('o');  // assigning "o" makes gcc 12 warn under sanitizers
    item.letters = item.single = true;
    return item;
  }
  if (!lexeme.IsWord()) return std::nullopt;
  const std::string_view lower = text.Lower(lexeme);
  const bool before = lexeme.glued && at > 0 && text[at - 1].IsDigits();
  const bool behind = text.At(at + 1).glued && text.At(at + 1).IsDigits();
  // "AB 123456": a word of capitals beside digits.
  const bool capitals = lower.size() <= 4 &&
                        IsUpper(text.text().substr(lexeme.begin, lower.size())) &&
                        ((at > 0 && text[at - 1].IsDigits()) || text.At(at + 1).IsDigits() ||
                         (text.At(at + 1).IsSign('-') && text.At(at + 2).IsDigits()));
  // "doeja-801156"
  const Lexeme& number = text.At(at + 2);
  const bool hyphen = lower.size() <= 6 && text.At(at + 1).IsSign('-') && text.At(at + 1).glued &&
                      number.glued && number.IsDigits() && number.end - number.begin >= 4;
  if (lower.size() > 12 || !IsAsciiLetters(lower) || !(before || behind || capitals || hyphen)) {
    return std::nullopt;
  }
  CodeItem item;
  item.first = at;
  item.last = at + 1;
  item.chars = std::string(lower);
  item.letters = true;
  item.single = lower.size() == 1;
  return item;
}

}  // namespace sotto
