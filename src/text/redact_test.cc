#include "text/redact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "text/redact_testing.h"

namespace sotto {
namespace {

using testing::PhraseFinder;

const Surrogates& Few() {
  static const Surrogates kFew("a test", 1,
                               {{"word", "PER", Gender::kUnknown, 3, "ada"},
                                {"word", "PER", Gender::kUnknown, 1, "grace"},
                                {"word", "LOC", Gender::kUnknown, 1, "rio de janeiro"}},
                               "a test");
  return kFew;
}

ReplacementOptions Asked(ReplaceWith with, const char* p = "1") {
  ReplacementOptions options;
  options.with = with;
  options.p = Chance::Parse(p, "p");
  options.consistent = false;
  options.types = {};
  options.types[static_cast<std::size_t>(EntityType::kPerson)] = true;
  options.types[static_cast<std::size_t>(EntityType::kLocation)] = true;
  return options;
}

Replacer Placeholders() {
  return {Few(), Asked(ReplaceWith::kPlaceholder), Key::ForExperiment(ExperimentKey(1))};
}

struct Outcome {
  std::string text;
  RedactTotals totals;
};

Outcome Redacted(const std::string& text, TextFormat format, const Replacer& replacer,
                 const EntityFinder& finder, const OwnWords* words = nullptr,
                 ResultForm form = ResultForm::kAsRead, const JsonLineFields& fields = {}) {
  LineReader lines(MemorySource(text), "a test");
  const auto passages = ReadPassages(lines, format, fields);
  Outcome outcome;
  outcome.totals = RedactPassages(lines, *passages, Redactor(finder, replacer, words), "talk", form,
                                  [&](std::string_view piece) { outcome.text += piece; });
  return outcome;
}

const PhraseFinder kFinder({{"anna", EntityType::kPerson},
                            {"Anna Lee", EntityType::kPerson},
                            {"new york", EntityType::kLocation},
                            {"at noon", EntityType::kTime}});

TEST(Redact, PlainTextKeepsEverythingThatIsNotReplaced) {
  const std::string text =
      "\xEF\xBB\xBF\t to anna  \r\n\nשלום anna 👩🏽‍💻 from new york at noon\u200F\n "
      "no "
      "end ";
  const Outcome outcome = Redacted(text, TextFormat::kPlain, Placeholders(), kFinder);
  EXPECT_EQ(
      outcome.text,
      "\xEF\xBB\xBF\t to [PER]  \r\n\nשלום [PER] 👩🏽‍💻 from [LOC] at noon\u200F\n no "
      "end ");
  EXPECT_EQ(outcome.totals.counts[0], 2U);
  EXPECT_EQ(outcome.totals.counts[1], 1U);
  EXPECT_EQ(outcome.totals.counts[4], 0U) << "a type that nobody asked for";
  EXPECT_EQ(outcome.totals.passages, 3U);
  EXPECT_EQ(outcome.totals.Found(), 3U);
  EXPECT_EQ(outcome.totals.largest_eps, 0.0);
}

TEST(Redact, WhatNobodyFindsStaysByteForByteInEveryFormat) {
  const PhraseFinder nothing({});
  const OwnWords words("zzz", "a test");
  const std::vector<std::pair<TextFormat, std::string>> texts = {
      {TextFormat::kPlain,
       "\xEF\xBB\xBF"
       "a\r\n\nb"},
      {TextFormat::kJsonLines, "{\"text\":\"\\u0041\\/b\" }\r\n\n{\"x\":1,\"text\":\"\"}"},
      {TextFormat::kCtm, "u\t1  0 1 a\r\n;;x\n\nu 1 1 1 b"},
      {TextFormat::kSrt, "\n1\n0:0:1,0 --> 0:0:2,0\n<i>a\n\n\n\nb"},
      {TextFormat::kWebVtt, "WEBVTT\n\nNOTE x\n\nid\n00:01.000 --> 00:02.000\n<v Bo>&amp;\n"}};
  for (const auto& [format, text] : texts) {
    const ReplacementOptions none = [] {
      ReplacementOptions options = Asked(ReplaceWith::kPlaceholder);
      options.types = {};
      return options;
    }();
    const Replacer replacer(Few(), none, Key::ForExperiment(ExperimentKey(1)));
    EXPECT_EQ(Redacted(text, format, replacer, nothing, &words).text, text) << Name(format);
  }
}

TEST(Redact, OwnWordsGoWithWhateverTheyOverlap) {
  const OwnWords words("york\nlee is\nnoon", "a test");
  const Outcome outcome = Redacted("anna in new york: Anna Lee is at noon, york",
                                   TextFormat::kPlain, Placeholders(), kFinder, &words);
  EXPECT_EQ(outcome.text, "[PER] in [WORD]: [WORD] at [WORD], [WORD]");
  EXPECT_EQ(outcome.totals.own_words, 4U);
  EXPECT_EQ(outcome.totals.counts[0], 1U);
  EXPECT_EQ(outcome.totals.Found(), 5U);
}

TEST(Redact, BlanksBetweenEntitiesStay) {
  const PhraseFinder finder({{"monday evening", EntityType::kPerson},
                             {"on monday ", EntityType::kLocation},
                             {" ", EntityType::kPerson}});
  EXPECT_EQ(Redacted("x on monday evening y", TextFormat::kPlain, Placeholders(), finder).text,
            "x [LOC] [PER] y");
}

TEST(Redact, SpeakersOfCuesAreReplacedWhateverTheFinderFinds) {
  EXPECT_EQ(Redacted("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Zed>hi anna\n", TextFormat::kWebVtt,
                     Placeholders(), kFinder)
                .text,
            "WEBVTT\n\n00:01.000 --> 00:02.000\n<v [PER]>hi [PER]\n");
}

TEST(Redact, ResultsAsJsonHaveTheNewTextAndCounts) {
  const OwnWords words("zed", "a test");
  EXPECT_EQ(Redacted("anna \"x\"\n\nzed and zed\n", TextFormat::kPlain, Placeholders(), kFinder,
                     &words, ResultForm::kJsonLines)
                .text,
            "{\"text\":\"[PER] \\\"x\\\"\",\"entities\":{\"PER\":1}}\n"
            "{\"text\":\"[WORD] and [WORD]\",\"entities\":{\"WORD\":2}}\n");
}

// All mentions of an entity in a dialogue have one surrogate, those of another dialogue their own.
TEST(Redact, DrawsAreSharedWithinADialogueAndPaidOnce) {
  ReplacementOptions options = Asked(ReplaceWith::kSurrogate, "0.5");
  options.consistent = true;
  const Replacer replacer(Few(), options, Key::ForExperiment(ExperimentKey(3)));
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "{\"call\":" + std::to_string(i / 2) + ",\"text\":\"anna and anna\"}\n";
  }
  const Outcome outcome = Redacted(text, TextFormat::kJsonLines, replacer, kFinder, nullptr,
                                   ResultForm::kJsonLines, {"text", "call"});
  std::set<std::string> of_calls;
  std::size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    const std::size_t end = outcome.text.find('\n', at) + 1;
    const std::string line = outcome.text.substr(at, end - at);
    EXPECT_EQ(outcome.text.substr(end, line.size()), line) << "call " << i;
    of_calls.insert(line);
    at = end + line.size();
  }
  EXPECT_EQ(of_calls,
            (std::set<std::string>{"{\"text\":\"ada and ada\",\"entities\":{\"PER\":2}}\n",
                                   "{\"text\":\"grace and grace\",\"entities\":{\"PER\":2}}\n"}));
  EXPECT_EQ(outcome.totals.counts[0], 80U);
  EXPECT_EQ(outcome.totals.draws, 20U);
  // ln((1 − p + pπ)/(pπ)) at p = 1/2, π = 1/4.
  EXPECT_NEAR(outcome.totals.largest_eps, std::log(5.0), 1e-9);
  EXPECT_NEAR(outcome.totals.total_eps, 20.0 * std::log(5.0), 1e-9);
}

TEST(Redact, EachMentionIsDrawnForItselfWhereNoDialogueIsAskedFor) {
  const Replacer replacer(Few(), Asked(ReplaceWith::kSurrogate),
                          Key::ForExperiment(ExperimentKey(3)));
  std::string text;
  for (int i = 0; i < 30; ++i) text += "so anna then\n";
  const Outcome outcome = Redacted(text, TextFormat::kPlain, replacer, kFinder);
  EXPECT_NE(outcome.text.find("ada"), std::string::npos);
  EXPECT_NE(outcome.text.find("grace"), std::string::npos);
  EXPECT_EQ(outcome.text.find("anna"), std::string::npos);
  EXPECT_EQ(outcome.totals.draws, 30U);
}

TEST(Redact, NothingReplacedIsAnInfiniteEpsilon) {
  const Replacer replacer(Few(), Asked(ReplaceWith::kSurrogate, "0"),
                          Key::ForExperiment(ExperimentKey(3)));
  const Outcome outcome =
      Redacted("ada", TextFormat::kPlain, replacer, PhraseFinder({{"ada", EntityType::kPerson}}));
  EXPECT_EQ(outcome.text, "ada");
  EXPECT_EQ(outcome.totals.total_eps, std::numeric_limits<double>::infinity());
}

TEST(Redact, ResultsComePassageByPassage) {
  LineReader lines(MemorySource("a\nb\nc"), "a test");
  const auto passages = ReadPassages(lines, TextFormat::kPlain);
  const Replacer replacer = Placeholders();
  std::vector<std::string> pieces;
  RedactPassages(lines, *passages, Redactor(kFinder, replacer, nullptr), "", ResultForm::kAsRead,
                 [&](std::string_view piece) { pieces.emplace_back(piece); });
  EXPECT_EQ(pieces, (std::vector<std::string>{"a\n", "b\n", "c"}));
}

TEST(Redact, ALineOfTenMegabytesIsReplacedInOneGo) {
  std::string text;
  while (text.size() < (10U << 20))
    text += "and then anna said to him that it rained" + std::string(89, 'x') + "; ";
  const Outcome outcome = Redacted(text, TextFormat::kPlain, Placeholders(), kFinder);
  EXPECT_EQ(outcome.text.find("anna"), std::string::npos);
  EXPECT_EQ(outcome.totals.counts[0], text.size() / 131);
}

TEST(Redact, FormatsAreKnownByTheEndOfAName) {
  EXPECT_EQ(FormatOf("a/b.SRT"), TextFormat::kSrt);
  EXPECT_EQ(FormatOf("b.vtt"), TextFormat::kWebVtt);
  EXPECT_EQ(FormatOf("b.ctm"), TextFormat::kCtm);
  EXPECT_EQ(FormatOf("b.jsonl"), TextFormat::kJsonLines);
  EXPECT_EQ(FormatOf("b.txt"), TextFormat::kPlain);
  EXPECT_EQ(FormatOf("b"), TextFormat::kPlain);
  for (const std::string& name : TextFormatNames()) EXPECT_EQ(Name(ParseTextFormat(name)), name);
  EXPECT_THROW(ParseTextFormat("docx"), Error);
}

TEST(Redact, AnEmptyTextIsRefused) {
  for (const char* text : {"", "\xEF\xBB\xBF"}) {
    for (const std::string& format : TextFormatNames()) {
      EXPECT_EQ(testing::Refusal(text, ParseTextFormat(format)),
                "a test: empty; a text has at least a character");
    }
  }
}

}  // namespace
}  // namespace sotto
