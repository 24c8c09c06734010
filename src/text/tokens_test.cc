#include "text/tokens.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/utf8.h"

namespace sotto {
namespace {

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const auto& token : Tokenise(text)) {
    words.emplace_back(text.substr(token.begin, token.end - token.begin));
  }
  return words;
}

using Strings = std::vector<std::string>;

TEST(Tokens, WordsHoldApostrophesHyphensAndFullStopsBetweenLetters) {
  EXPECT_EQ(Words("call o'neil, north-east 3.5 in the u.s."),
            (Strings{"call", "o'neil", ",", "north-east", "3.5", "in", "the", "u.s", "."}));
  EXPECT_EQ(Words("a--b -c d- 'tis e..f"),
            (Strings{"a", "-", "-", "b", "-", "c", "d", "-", "'", "tis", "e", ".", ".", "f"}));
  EXPECT_EQ(Words("1,000 (two)"), (Strings{"1", ",", "000", "(", "two", ")"}));
}

TEST(Tokens, ThePossessiveIsATokenOfItsOwn) {
  EXPECT_EQ(Words("john's car, Mary\u2019s, boss's."),
            (Strings{"john", "'s", "car", ",", "Mary", "\u2019s", ",", "boss", "'s", "."}));
  EXPECT_EQ(Words("o'shea 's"), (Strings{"o'shea", "'", "s"}));
  EXPECT_EQ(Words("don't"), (Strings{"don't"}));
}

TEST(Tokens, AddressesStayWhole) {
  EXPECT_EQ(Words("<john_a.smith+x@mail-1.example.co.uk>, or"),
            (Strings{"<", "john_a.smith+x@mail-1.example.co.uk", ">", ",", "or"}));
  EXPECT_EQ(Words("see https://www.example.com/a_b?c=d#e. then"),
            (Strings{"see", "https://www.example.com/a_b?c=d#e", ".", "then"}));
  EXPECT_EQ(Words("(http://example.com/)"), (Strings{"(", "http://example.com/", ")"}));
  EXPECT_EQ(Words("@home at@ x@"), (Strings{"@", "home", "at", "@", "x", "@"}));
}

TEST(Tokens, OtherAlphabetsAreWordsAndEmojiSigns) {
  EXPECT_EQ(Words("Žižek \u05e9\u05dc\u05d5\u05dd, \u0645\u0631\u062d\u0628\u0627\u061f ok"),
            (Strings{"Žižek", "\u05e9\u05dc\u05d5\u05dd", ",", "\u0645\u0631\u062d\u0628\u0627",
                     "\u061f", "ok"}));
  // A face; a family held together by joiners; a heart with a variant; a hand with a colour.
  EXPECT_EQ(Words("a\U0001F600b \U0001F468\u200D\U0001F469 \u2764\uFE0F\U0001F44D\U0001F3FD"),
            (Strings{"a", "\U0001F600", "b", "\U0001F468\u200D\U0001F469", "\u2764\uFE0F",
                     "\U0001F44D\U0001F3FD"}));
  // An accent of its own belongs to the letter before it.
  EXPECT_EQ(Words("Rene\u0301e"), (Strings{"Rene\u0301e"}));
}

TEST(Tokens, AByteOrderMarkAndSpacesOfAllKindsBelongToNone) {
  EXPECT_EQ(Words("\uFEFFone\u00A0two\u3000three\r\n\tfour\u2028five"),
            (Strings{"one", "two", "three", "four", "five"}));
  EXPECT_TRUE(Tokenise("").empty());
  EXPECT_TRUE(Tokenise(" \n ").empty());
}

TEST(Tokens, BytesThatAreNoUtf8AreSigns) {
  EXPECT_EQ(Words("a\xff\xc3 b\xe2\x82"), (Strings{"a", "\xff", "\xc3", "b", "\xe2", "\x82"}));
  EXPECT_EQ(Words("\xc0\x80"), (Strings{"\xc0", "\x80"}));              // overlong
  EXPECT_EQ(Words("\xed\xa0\x80"), (Strings{"\xed", "\xa0", "\x80"}));  // a surrogate
}

TEST(Tokens, TogetherWithWhiteSpaceAreTheText) {
  SeededRng rng(1);
  const std::string letters = "ab1 .'-@:/s,\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\x99\xcc\x81\n_";
  for (int n = 0; n < 3000; ++n) {
    std::string text;
    for (std::size_t i = rng.Below(30); i > 0; --i) text += letters[rng.Below(letters.size())];
    std::size_t at = 0;
    const auto skip_space_to = [&](std::size_t end) {
      while (at < end) {
        const Rune rune = DecodeUtf8(text, at);
        ASSERT_TRUE(IsSpace(rune.code));
        at += rune.size;
      }
      ASSERT_EQ(at, end);
    };
    for (const auto& token : Tokenise(text)) {
      ASSERT_LT(token.begin, token.end);
      ASSERT_LE(at, token.begin);
      skip_space_to(token.begin);
      at = token.end;
    }
    skip_space_to(text.size());
  }
}

TEST(Tokens, TimeIsLinearInALineOfTenMegabytes) {
  for (const std::string_view piece : {"a", "a.", "a/", "@a", "a@", "a@a", "a://", "\xff", "\u0301",
                                       "\U0001F468\u200D", "-a_", "john's "}) {
    std::string text;
    while (text.size() < 10'000'000) text += piece;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(Tokenise(text).empty());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 20.0) << piece;  // quadratic would be hours
  }
}

TEST(LowerCases, AreAsLongAsTheText) {
  EXPECT_EQ(LowerCase("JOHN's ÀÉÖŽŁŸ ΑΆΏΫ ЖЁЂҐ Ờ"), "john's àéöžłÿ αάώϋ жёђґ ờ");
  EXPECT_EQ(LowerCase("İẞ×÷ßſ\u212A"), "İẞ×÷ßſ\u212A");
  EXPECT_EQ(LowerCase("A\xffZ\xc3"), "a\xffz\xc3");
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text, lower;
    AppendUtf8(code, text);
    AppendUtf8(LowerCase(code), lower);
    ASSERT_EQ(text.size(), lower.size()) << static_cast<unsigned>(code);
    ASSERT_EQ(LowerCase(LowerCase(code)), LowerCase(code)) << static_cast<unsigned>(code);
    const Rune rune = DecodeUtf8(text, 0);
    ASSERT_TRUE(rune.valid && rune.code == code && rune.size == text.size());
  }
}

}  // namespace
}  // namespace sotto
