#include "text/text_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sotto {
namespace {

// Gives `step` bytes at a time, as a pipe may.
ByteSource Drip(std::string text, std::size_t step) {
  return [source = MemorySource(std::move(text)), step](char* to, std::size_t count) {
    return source(to, std::min(step, count));
  };
}

std::vector<std::string> Lines(LineReader& reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.Next()) lines.push_back(line->bytes);
  return lines;
}

std::string Refused(const std::string& text) {
  LineReader reader(MemorySource(text), "'a.txt'");
  try {
    Lines(reader);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TextStream, LinesTogetherAreTheTextHoweverItComes) {
  const std::vector<std::string> lines = {"one \t\n", "\n", "two\r\n", "שלום 👋🏽\n",
                                          "end"};
  std::string text;
  for (const std::string& line : lines) text += line;
  for (const std::size_t step : {1, 2, 3, 7, 1000}) {
    LineReader reader(Drip(text, step), "a test");
    EXPECT_EQ(Lines(reader), lines) << step;
    EXPECT_TRUE(reader.Mark().empty());
  }
}

TEST(TextStream, ALineKnowsItsEnd) {
  EXPECT_EQ((TextLine{"a\r\n", 1}).Text(), "a");
  EXPECT_EQ((TextLine{"a\r\n", 1}).End(), "\r\n");
  EXPECT_EQ((TextLine{"a \n", 1}).Text(), "a ");
  EXPECT_EQ((TextLine{"a", 1}).Text(), "a");
  EXPECT_EQ((TextLine{"a", 1}).End(), "");
}

TEST(TextStream, AByteOrderMarkIsNoPartOfALine) {
  for (const std::size_t step : {1, 100}) {
    LineReader reader(Drip("\xEF\xBB\xBFone\ntwo\n", step), "a test");
    EXPECT_EQ(Lines(reader), (std::vector<std::string>{"one\n", "two\n"}));
    EXPECT_EQ(reader.Mark(), "\xEF\xBB\xBF");
  }
  LineReader nothing(MemorySource("\xEF\xBB\xBF"), "a test");
  EXPECT_FALSE(nothing.Next());
}

TEST(TextStream, WhatIsNoCleanTextIsNamedByPlaceAndNotQuoted) {
  EXPECT_EQ(Refused("one\nab\xFFxyz\n"), "'a.txt': line 2, byte 3: no UTF-8; UTF-8 is read");
  EXPECT_EQ(Refused("\xFF\xFEo"),
            "'a.txt': line 1, byte 1: no UTF-8 (it begins like UTF-16); "
            "UTF-8 is read");
  const std::string control = "a control character; UTF-8 without control characters is read";
  EXPECT_EQ(Refused("a\x1B[2J"), "'a.txt': line 1, byte 2: " + control);
  EXPECT_EQ(Refused("a\n\nb\xE2\x80\xAE"), "'a.txt': line 3, byte 2: " + control);
  EXPECT_EQ(Refused("one\rtwo\n"), "'a.txt': line 1, byte 4: " + control);
}

TEST(TextStream, ALineOfTenMegabytesIsOneLine) {
  std::string line(10 << 20, 'x');
  for (std::size_t i = 0; i < line.size(); i += 7) line[i] = ' ';
  LineReader reader(Drip("a\n" + line + "\nb\n", 65536), "a test");
  const auto lines = Lines(reader);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], line + "\n");
}

TEST(TextStream, ALineWithoutAnEndIsRefusedBeforeItFillsTheMemory) {
  std::size_t given = 0;
  LineReader reader(
      [&given](char* to, std::size_t count) {
        std::fill_n(to, count, 'x');
        given += count;
        return count;
      },
      "standard input");
  EXPECT_THROW(reader.Next(), Error);
  EXPECT_LT(given, 2 * kLargestPassage);
}

}  // namespace
}  // namespace sotto
