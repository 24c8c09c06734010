#include "base/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

TEST(Text, FindsTheFirstByteThatBreaksTheRule) {
  const struct {
    std::string text;
    std::size_t at;
  } cases[] = {
      {"", kNone},
      {"plain\tand\nlines\r\n", kNone},
      {"zo\xC3\xAB \xE4\xB8\xAD \xF0\x9F\x99\x82", kNone},
      {"the end\r", kNone},  // a file that was cut inside its last line end
      {"caf\xE9", 3},
      {"a\xC0\xAF", 1},          // overlong
      {"a\xED\xA0\x80", 1},      // a surrogate
      {"a\xF4\x90\x80\x80", 1},  // beyond U+10FFFF
      {"ab\xE4\xB8", 2},         // cut off
      {"a\x1b[31m", 1},
      {"a\x7f", 1},
      {"a\xC2\x9B", 1},  // CSI in one character
      {std::string("a\0b", 3), 1},
      {"a\rb", 1},
      {"a\r\nb\rc\xff", 4},
      {"a\xff\rb", 1},
  };
  for (const auto& one : cases) EXPECT_EQ(FindUnclean(one.text), one.at) << Printable(one.text);
}

// What stands before a place, in blocks of 64 bytes or not, changes nothing.
TEST(Text, FindsTheSameAfterAnyBeginning) {
  for (const std::string& filler :
       {std::string("abcdefg\t"), std::string("\xC3\xAB"), std::string("line\r\n")}) {
    std::string before;
    while (before.size() < 400) {
      EXPECT_EQ(FindUnclean(before + "ok"), kNone);
      for (const char* bad : {"\xff", "\x1b", "\xC2\x85", "\xE4\xB8"}) {
        EXPECT_EQ(FindUnclean(fmt::format("{0}{1}{0}", before, bad)), before.size());
      }
      before += filler;
    }
  }
}

TEST(Text, RefusalNamesTheLineAndShowsTheBytes) {
  try {
    RequireClean("a b\nc\xff d\n", "utt2spk");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "utt2spk: line 2: 'c\\xff' is no UTF-8 (tables are UTF-8 without control "
                 "characters)");
  }
  try {
    RequireClean("x\x1b[2J\n", "t", 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "t: line 7: 'x\\u001b' holds a control character (tables are UTF-8 without "
                 "control characters)");
  }
}

TEST(Text, PrintableIsOneHarmlessLine) {
  EXPECT_EQ(Printable("zo\xC3\xAB"), "zo\xC3\xAB");
  EXPECT_EQ(Printable("\x1b]0;x\x07\n\xC2\x9B\x7f\xff\xE2\x80\xAE"),
            "\\u001b]0;x\\u0007\\u000a\\u009b\\u007f\\xff\\u202e");
}

TEST(Text, AStreamInPiecesIsEscapedAsOne) {
  const std::string text = "zo\xC3\xAB\t\xF0\x9F\x99\x82\r\n\x1b[2J\xff\xC2\x9B \r x\xE4\xB8";
  const std::string wanted =
      "zo\xC3\xAB\t\xF0\x9F\x99\x82\r\n\\u001b[2J\\xff\\u009b \\u000d x\\xe4\\xb8";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    Escaper escaper;
    std::string shown;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      shown += escaper.Push(std::string_view(text).substr(at, piece));
    }
    EXPECT_EQ(shown + escaper.Finish(), wanted) << piece;
  }
}

// Any bytes: what is printed holds no control character but tabs and line ends, and the same bytes
// always look the same.
TEST(Text, NoBytesGetThrough) {
  SeededRng rng(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    const auto length = static_cast<std::size_t>(rng.Uniform() * 40);
    while (bytes.size() < length) {
      bytes += static_cast<char>(rng.Uniform() < 0.5 ? rng.Uniform() * 0x30
                                                     : 0x70 + rng.Uniform() * 0x90);
    }
    EXPECT_EQ(FindUnclean(Printable(bytes)), kNone);
    Escaper escaper;
    EXPECT_EQ(FindUnclean(escaper.Push(bytes) + escaper.Finish()), kNone);
  }
}

}  // namespace
}  // namespace sotto
