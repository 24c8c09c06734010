#include "text/ctm.h"

#include <gtest/gtest.h>

#include "text/redact_testing.h"

namespace sotto {
namespace {

using testing::Exchanged;
using testing::Refusal;
using testing::Texts;

constexpr TextFormat kCtm = TextFormat::kCtm;

constexpr const char* kTalk =
    ";; from a recogniser\n"
    "u1 1 0.00 0.30 from 0.98\n"
    "u1 1 0.30 0.20 <eps> 1.00\n"
    "u1 1 0.50 0.25 new 0.91\n"
    "u1 1 0.75 0.35 york 0.92\n"
    "u1 1 1.10 0.40 city 0.93\n"
    "\n"
    "u2  1  0.5 0.5  anna's\r\n";

TEST(Ctm, WordsOfAnUtteranceAreOneText) {
  EXPECT_EQ(Texts(kTalk, kCtm),
            (std::vector<std::string>{" from a recogniser", "from new york city", "anna's"}));
  EXPECT_EQ(Exchanged(kTalk, kCtm, {}), kTalk);
}

TEST(Ctm, EquallyManyWordsTakeTheTimesOfThoseTheyReplace) {
  EXPECT_EQ(Exchanged("u 1 0.50 0.25 new\nu 1 0.80 0.35 york .9\nu 1 1.2 0.1 is .8\n", kCtm,
                      {{"new york", "los angeles"}}),
            "u 1 0.50 0.25 los\nu 1 0.80 0.35 angeles 1.00\nu 1 1.2 0.1 is .8\n");
}

TEST(Ctm, AnotherNumberOfWordsSharesTheTimeByLetters) {
  EXPECT_EQ(Exchanged(kTalk, kCtm, {{"new york city", "[LOC]"}, {"anna", "[PER]"}}),
            ";; from a recogniser\n"
            "u1 1 0.00 0.30 from 0.98\n"
            "u1 1 0.30 0.20 <eps> 1.00\n"
            "u1 1 0.50 1.00 [LOC] 1.00\n"
            "\n"
            "u2  1  0.5 0.5  [PER]'s\r\n");
  EXPECT_EQ(Exchanged("u 1 1.00 1.00 paris 0.5", kCtm, {{"paris", "rio de la plata"}}),
            "u 1 1.00 0.25 rio 1.00\nu 1 1.25 0.17 de 1.00\nu 1 1.42 0.17 la 1.00\n"
            "u 1 1.58 0.42 plata 1.00");
}

TEST(Ctm, AMarkAmongReplacedWordsGoesWithThem) {
  EXPECT_EQ(Exchanged("u 1 0.0 0.5 new\nu 1 0.5 0.1 <unk>\nu 1 0.6 0.4 york\n", kCtm,
                      {{"new york", "san remo"}}),
            "u 1 0.0 0.5 san\nu 1 0.6 0.4 remo\n");
}

// Otherwise the confidence would tell on which side the coin fell.
TEST(Ctm, AWordThatStaysLooksAsIfItWereDrawn) {
  EXPECT_EQ(
      Exchanged("u 1 0.0 0.5 new 0.31\nu 1 0.5 0.5 york 0.62\n", kCtm, {{"new york", "new york"}}),
      "u 1 0.0 0.5 new 1.00\nu 1 0.5 0.5 york 1.00\n");
}

TEST(Ctm, EntitiesThatShareAWordAreWrittenOnce) {
  EXPECT_EQ(
      Exchanged("u 1 0 1 anna-paris\nu 1 1 1 is\n", kCtm, {{"anna", "[PER]"}, {"paris", "[LOC]"}}),
      "u 1 0 1 [PER]-[LOC]\nu 1 1 1 is\n");
}

TEST(Ctm, RemarksAreText) {
  EXPECT_EQ(Exchanged(";; of anna\n", kCtm, {{"anna", "[PER]"}}), ";; of [PER]\n");
}

TEST(Ctm, AlternativesAreKept) {
  const std::string text =
      "u 1 * * <ALT_BEGIN>\nu 1 1.0 0.1 anna\nu 1 * * <ALT>\nu 1 1.0 0.1 hanna\n"
      "u 1 * * <ALT_END>\n";
  EXPECT_EQ(Texts(text, kCtm), (std::vector<std::string>{"anna hanna"}));
  EXPECT_EQ(Exchanged(text, kCtm, {}), text);
}

TEST(Ctm, DamagedLinesAreNamed) {
  EXPECT_NE(Refusal("u 1 0 1\n", kCtm).find("a test: line 1: 4 fields"), std::string::npos);
  EXPECT_NE(Refusal("u 1 0 1 a 1 b\n", kCtm).find("line 1: 7 fields"), std::string::npos);
  EXPECT_NE(Refusal("u 1 0 1 a\nu 1 x 1 b\n", kCtm).find("line 2: the begin"), std::string::npos);
  EXPECT_NE(Refusal("u 1 0 -1 a\n", kCtm).find("the duration"), std::string::npos);
  EXPECT_NE(Refusal("u 1 nan 1 a\n", kCtm).find("the begin"), std::string::npos);
  EXPECT_NE(Refusal("u 1 0 1 a b\n", kCtm).find("confidence"), std::string::npos);
}

TEST(Ctm, AWordIsReadAndWritten) {
  LineReader lines(MemorySource("talk A 1.25 0.5 hello 0.75\n"), "a test");
  const CtmWord word = ParseCtmLine(*lines.Next(), lines);
  EXPECT_EQ(word.utterance, "talk");
  EXPECT_EQ(word.channel, "A");
  EXPECT_DOUBLE_EQ(word.EndS(), 1.75);
  EXPECT_EQ(CtmText(word), "talk A 1.25 0.50 hello 0.75");
  EXPECT_EQ(CtmText(word, 3), "talk A 1.250 0.500 hello 0.75");
}

TEST(Ctm, SpreadTimesFillTheTimeOfWhatTheyReplace) {
  const std::vector<WordTime> two = {{1.0, 0.5}, {1.75, 0.25}};
  const std::vector<std::size_t> letters = {1, 2, 5};
  const auto three = SpreadWords(two, letters);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_DOUBLE_EQ(three[0].begin_s, 1.0);
  EXPECT_DOUBLE_EQ(three[1].begin_s, 1.125);
  EXPECT_DOUBLE_EQ(three[2].begin_s + three[2].duration_s, 2.0);
  const std::vector<std::size_t> as_many = {9, 1};
  EXPECT_DOUBLE_EQ(SpreadWords(two, as_many)[1].begin_s, 1.75);
}

TEST(Ctm, EditsAreGroupedByWords) {
  // "anna-paris lives": two entities in the first word.
  const std::vector<Token> spans = {{0, 10}, {11, 16}};
  const std::vector<TextEdit> edits = {{0, 4, "[PER]"}, {5, 10, "[LOC]"}, {11, 16, "x y"}};
  const auto changes = CtmChanges("anna-paris lives", spans, edits);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].words, (std::vector<std::string>{"[PER]-[LOC]"}));
  EXPECT_EQ(changes[1].first, 1U);
  EXPECT_EQ(changes[1].words, (std::vector<std::string>{"x", "y"}));
}

}  // namespace
}  // namespace sotto
