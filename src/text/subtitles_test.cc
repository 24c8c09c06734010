#include "text/subtitles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "text/cue_text.h"
#include "text/redact_testing.h"

namespace sotto {
namespace {

using testing::Exchanged;
using testing::Refusal;
using testing::Texts;

constexpr TextFormat kSrt = TextFormat::kSrt, kVtt = TextFormat::kWebVtt;

constexpr const char* kTalk =
    "1\r\n00:00:01,000 --> 00:00:02,500\r\nI live in <i>New\r\nYork</i> with Anna\r\n\r\n"
    "2\r\n00:00:03,000 --> 00:00:04,000 X1:10 X2:20\r\nMaria Smith.\r\n\r\n"
    "3\r\n00:00:05,000 --> 00:00:06,000\r\n{\\an8}- Who?\r\n- Me & you\r\n";

TEST(Subtitles, ASentenceIsSearchedAcrossLinesAndCues) {
  EXPECT_EQ(
      Texts(kTalk, kSrt),
      (std::vector<std::string>{"I live in New York with Anna Maria Smith.", "- Who? - Me & you"}));
  EXPECT_EQ(Exchanged(kTalk, kSrt, {}), kTalk);
}

TEST(Subtitles, WhatIsReplacedStandsWhereItBegan) {
  EXPECT_EQ(Exchanged(kTalk, kSrt, {{"New York", "Rio"}, {"Anna Maria Smith", "[PER]"}}),
            "1\r\n00:00:01,000 --> 00:00:02,500\r\nI live in <i>Rio\r\n</i> with [PER]\r\n\r\n"
            "2\r\n00:00:03,000 --> 00:00:04,000 X1:10 X2:20\r\n.\r\n\r\n"
            "3\r\n00:00:05,000 --> 00:00:06,000\r\n{\\an8}- Who?\r\n- Me & you\r\n");
}

TEST(Subtitles, NoCueIsLeftEmpty) {
  const std::string cue = "1\n00:00:01,000 --> 00:00:02,000\nof New\n\n";
  EXPECT_EQ(
      Exchanged(cue + "2\n00:00:03,000 --> 00:00:04,000\nYork\n", kSrt, {{"New York", "Rio"}}),
      "1\n00:00:01,000 --> 00:00:02,000\nof Rio\n\n2\n00:00:03,000 --> 00:00:04,000\n…\n");
  EXPECT_EQ(Exchanged("1\n00:00:01,000 --> 00:00:02,000\nNew\nYork\nis big\n", kSrt,
                      {{"New York", "Rio"}}),
            "1\n00:00:01,000 --> 00:00:02,000\nRio\nis big\n");
  EXPECT_EQ(Exchanged("1\n00:00:01,000 --> 00:00:02,000\nin New\nYork is big\n", kSrt,
                      {{"New York", "Rio"}}),
            "1\n00:00:01,000 --> 00:00:02,000\nin Rio\nis big\n");
}

constexpr const char* kWeb =
    "WEBVTT - a talk with Anna\nKind: "
    "captions\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n"
    "STYLE\n::cue(v[voice=\"Anna Lee\"]) { color: red }\n\n"
    "NOTE Anna has\nread this\n\n"
    "intro\n00:01.000 --> 00:02.000 align:start\n"
    "<v.loud Anna Lee>Hello <00:01.500><c.yellow>world</c> &amp; Anna</v>\n\n"
    "00:03.000 --> 00:04.000\n<v Bo>Hi & <b>bye</b>\n";

TEST(Subtitles, WebVttIsReadWithItsParts) {
  EXPECT_EQ(Texts(kWeb, kVtt),
            (std::vector<std::string>{" - a talk with Anna", "Anna Lee", " Anna has read this",
                                      "Anna Lee\nHello world & Anna", "Bo\nHi & bye"}));
  EXPECT_EQ(Exchanged(kWeb, kVtt, {}), kWeb);
  EXPECT_EQ(
      Exchanged(kWeb, kVtt, {{"Anna Lee", "Q \"R\" & S"}, {"Bo", "T"}}),
      "WEBVTT - a talk with Anna\nKind: captions\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000"
      "\n\nSTYLE\n::cue(v[voice=\"Q \\\"R\\\" & S\"]) { color: red }\n\n"
      "NOTE Anna has\nread this\n\nintro\n00:01.000 --> 00:02.000 align:start\n"
      "<v.loud Q \"R\" &amp; S>Hello <00:01.500><c.yellow>world</c> &amp; Anna</v>\n\n"
      "00:03.000 --> 00:04.000\n<v T>Hi & <b>bye</b>\n");
}

TEST(Subtitles, ASpeakerIsAnEntityOfTheFormat) {
  const auto passages = testing::Passages(kWeb, kVtt);
  std::vector<std::string> speakers;
  for (const auto& passage : passages) {
    for (const Entity& known : passage->Known()) {
      EXPECT_EQ(known.type, EntityType::kPerson);
      speakers.push_back(passage->Text().substr(known.begin, known.end - known.begin));
    }
  }
  EXPECT_EQ(speakers, (std::vector<std::string>{"Anna Lee", "Anna Lee", "Bo"}));
}

TEST(Subtitles, IdsThatAreNoNumbersAreSaid) {
  LineReader lines(MemorySource(kWeb), "a test");
  const auto reader = ReadSubtitles(lines, SubtitleKind::kWebVtt);
  CheckPassages(*reader);
  EXPECT_EQ(reader->Notes(),
            (std::vector<std::string>{"1 of the cues' ids are no numbers; ids are not searched"}));
}

// What no player shows may still be read by somebody.
TEST(Subtitles, WhatTheFormatDoesNotHaveIsText) {
  EXPECT_EQ(
      Texts("1\n00:00:01,000 --> 00:00:02,000\na\n\n<Anna> came, 3 < 4 {Bo} <i Anna>\n", kSrt),
      (std::vector<std::string>{"a <Anna> came, 3 < 4 {Bo} <i Anna>"}));
  EXPECT_EQ(Texts("00:00:01,000 --> 00:00:02,000\na\n2\n00:00:03,000 --> 00:00:04,000\nb\n", kSrt),
            (std::vector<std::string>{"a b"}));
}

TEST(Subtitles, ASentenceWithoutAnEndIsPartedAtItsLongestPause) {
  std::string text, with_pause;
  for (int i = 0; i < 40; ++i) {
    const int at = 2 * i + (i >= 25 ? 7 : 0);
    text += fmt::format("{}\n00:{:02}:{:02},000 --> 00:{:02}:{:02},000\nword{}\n\n", i + 1, at / 60,
                        at % 60, (at + 1) / 60, (at + 1) % 60, i);
  }
  const auto texts = Texts(text, kSrt);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_TRUE(texts[0].ends_with(" word24")) << texts[0];
  EXPECT_TRUE(texts[1].starts_with("word25 "));
  EXPECT_EQ(Exchanged(text, kSrt, {}), text);
}

TEST(Subtitles, WhatIsDamagedIsRefused) {
  EXPECT_EQ(Refusal("hello\n", kSrt),
            "a test: line 1: text before the first timing line, so no SRT");
  EXPECT_EQ(Refusal("\n\n", kSrt), "a test: no timing line, so no SRT");
  EXPECT_NE(Refusal("1\n00:00:01 -> 2 --> x\nhi\n", kSrt).find("line 2: a damaged timing line"),
            std::string::npos);
  EXPECT_EQ(Refusal("00:01.000 --> 00:02.000\nhi\n", kVtt),
            "a test: line 1: no WebVTT: its first line begins with WEBVTT");
  EXPECT_EQ(Refusal("WEBVTT\n", kVtt), "");
}

TEST(Subtitles, SentencesEnd) {
  for (const char* text : {"Yes.", "No!", "\"Who?\"", "(so.) ", "はい。", "is that 3.5."}) {
    EXPECT_TRUE(EndsSentence(text)) << text;
  }
  for (const char* text : {"I saw Dr.", "by J.", "and so...", "well…", "in New", "", "the U.S."}) {
    EXPECT_FALSE(EndsSentence(text)) << text;
  }
}

TEST(Subtitles, TimingLinesAreRead) {
  const auto times = ParseTimingLine("01:02:03,500 --> 01:02:04.250 align:start");
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->begin_s, 3723.5);
  EXPECT_DOUBLE_EQ(times->end_s, 3724.25);
  for (const char* line : {"", "-->", "1 --> 2", "00:01 --> x", "00:01.0 -> 00:02.0",
                           "00:01 --> 00:02x", "1:2:3:4 --> 1:2"}) {
    EXPECT_FALSE(ParseTimingLine(line)) << line;
  }
}

}  // namespace
}  // namespace sotto
