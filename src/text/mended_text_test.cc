#include "text/mended_text.h"

#include <gtest/gtest.h>

#include <string>

namespace sotto {
namespace {

TEST(MendedText, LeavesUtf8AsItIs) {
  const std::string text = "caf\u00e9 \U0001F44B \u05e9\u05dc\u05d5\u05dd";
  EXPECT_EQ(MendedText(text), text);
  EXPECT_EQ(MendedText(""), "");
}

TEST(MendedText, ReadsBytesThatAreNoUtf8AsLatin1) {
  EXPECT_EQ(MendedText("Citaci\xf3n"), "Citaci\u00f3n");
  EXPECT_EQ(MendedText("\xff"), "\u00ff");
}

TEST(MendedText, JoinsAPairOfSurrogates) {
  EXPECT_EQ(MendedText("a\xED\xA0\xBD\xED\xB1\x8B!"), "a\U0001F44B!");
}

TEST(MendedText, ReadsHalfAPairAsLatin1WithinItsBounds) {
  EXPECT_EQ(MendedText("\xED\xA0\xBD"), "\u00ed\u00a0\u00bd");
  EXPECT_EQ(MendedText("\xED\xA0"), "\u00ed\u00a0");
}

}  // namespace
}  // namespace sotto
