#include "assess/wer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"

namespace sotto {
namespace {

WerResult OfGolden(const std::filesystem::path& folder, const WerOptions& options = {}) {
  return ComputeWer(ParseTranscripts(ReadTextFile(folder / "ref.txt"), "ref"),
                    ParseTranscripts(ReadTextFile(folder / "hyp.txt"), "hyp"), options);
}

void ExpectGolden(const std::string& name) {
  const auto folder = testing::SharedFolder() / "data/golden" / name;
  const auto values = nlohmann::json::parse(ReadTextFile(folder / "expected.json"))["values"];
  const WerResult result = OfGolden(folder);
  const auto& kaldi = values["wer"]["kaldi edit-distance (S,D,I of one optimal alignment)"];
  EXPECT_EQ(result.words.sub, kaldi["sub"]);
  EXPECT_EQ(result.words.del, kaldi["dele"]);
  EXPECT_EQ(result.words.ins, kaldi["ins"]);
  EXPECT_EQ(result.words.n, kaldi["words"]);
  EXPECT_EQ(result.utterances_with_errors, kaldi["sent_err"]);
  EXPECT_DOUBLE_EQ(result.words.Rate(), kaldi["wer"].get<double>());
  const auto& kept = values["cer"]["kaldi edit-distance on code points, spaces kept"];
  EXPECT_EQ(result.chars.Errors(), kept["err"]);
  EXPECT_EQ(result.chars.n, kept["chars"]);
  EXPECT_DOUBLE_EQ(result.chars.Rate(), kept["cer"].get<double>());
  const auto& removed = values["cer"]["kaldi edit-distance on code points, spaces removed"];
  EXPECT_EQ(result.chars_no_spaces.Errors(), removed["err"]);
  EXPECT_EQ(result.chars_no_spaces.n, removed["chars"]);

  const std::string text = ReadTextFile(folder / "per_utt_expected.tsv");
  const Tsv expected = ParseTsv(text, "per_utt_expected.tsv");
  ASSERT_EQ(result.per_utterance.size(), expected.rows.size());
  for (std::size_t i = 0; i < expected.rows.size(); ++i) {
    EXPECT_EQ(result.per_utterance[i].id, expected.rows[i][0]);
    EXPECT_EQ(std::to_string(result.per_utterance[i].words.n), expected.rows[i][1]);
    EXPECT_EQ(std::to_string(result.per_utterance[i].words.Errors()), expected.rows[i][2]);
  }
}

TEST(WerGolden, CountsMatchOnRealRecogniserOutput) {
  SOTTO_NEEDS_SHARED("data/golden/wer_nist_lvc");
  ExpectGolden("wer_nist_lvc");
}

TEST(WerGolden, CountsMatchOnUnicodeText) {
  SOTTO_NEEDS_SHARED("data/golden/wer_unicode");
  ExpectGolden("wer_unicode");
}

TEST(WerGolden, CountsMatchOnEmptyReferencesAndShifts) {
  SOTTO_NEEDS_SHARED("data/golden/wer_edge");
  ExpectGolden("wer_edge");
}

WerResult OfTexts(const std::string& ref, const std::string& hyp, const WerOptions& options = {}) {
  return ComputeWer(ParseTranscripts(ref, "ref"), ParseTranscripts(hyp, "hyp"), options);
}

TEST(Wer, NormaliserLowersBeyondAsciiAndDropsPunctuation) {
  const std::string ref = "u ÀÉ ΣΟΦΊΑ don't, stop!\n";
  const std::string hyp = "u àé σοφία don't stop\n";
  EXPECT_EQ(OfTexts(ref, hyp).words.Errors(), 4U);
  EXPECT_EQ(OfTexts(ref, hyp, {TextNormaliser::kLower, false}).words.Errors(), 2U);
  EXPECT_EQ(OfTexts(ref, hyp, {TextNormaliser::kLowerNoPunct, false}).words.Errors(), 0U);
}

TEST(Wer, NoBreakAndIdeographicSpacesSeparateWords) {
  EXPECT_EQ(OfTexts("u a b c\n",
                    "u\ta\xC2\xA0"
                    "b\xE3\x80\x80"
                    "c\r\n")
                .words.Errors(),
            0U);
}

TEST(Wer, MissingUtterancesAreRefusedUnlessAllowed) {
  EXPECT_THROW(OfTexts("a x\nb y z\n", "a x\n"), Error);
  EXPECT_THROW(OfTexts("a x\n", "a x\nb y\n"), Error);
  const WerResult result = OfTexts("a x\nb y z\n", "a x\nc y\n", {TextNormaliser::kNone, true});
  EXPECT_EQ(result.words.del, 2U);
  EXPECT_EQ(result.without_hypothesis, 1U);
  EXPECT_EQ(result.without_reference, 1U);
}

TEST(Wer, RateOfAnEmptyReferenceIsUndefined) {
  EXPECT_TRUE(std::isnan(OfTexts("a\n", "a x\n").words.Rate()));
}

TEST(Transcripts, RefuseRepeatedIdsAndTextThatIsNoUtf8) {
  EXPECT_THROW(ParseTranscripts("a x\na y\n", "t"), Error);
  EXPECT_THROW(ParseTranscripts(" x y\n", "t"), Error);
  for (const char* bad :
       {"a \xFF", "a \xC0\x80", "a \xED\xA0\x80", "a \xF4\x90\x80\x80", "a \xE2\x82"}) {
    EXPECT_THROW(ParseTranscripts(bad, "t"), Error);
  }
}

// Levenshtein distance by recursion over all alignments.
std::size_t BruteForce(std::u32string_view a, std::u32string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  return std::min({BruteForce(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1),
                   BruteForce(a.substr(1), b) + 1, BruteForce(a, b.substr(1)) + 1});
}

TEST(Wer, EditTotalIsTheSmallestPossible) {
  const std::u32string letters = U"abaabbabcaab";
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      const auto a = std::u32string_view(letters).substr(i, 3 + j % 4);
      const auto b = std::u32string_view(letters).substr(j, 2 + i % 5);
      const EditCounts counts = AlignCharacters(a, b);
      EXPECT_EQ(counts.Errors(), BruteForce(a, b));
      EXPECT_EQ(counts.hits + counts.sub + counts.del, a.size());
      EXPECT_EQ(counts.hits + counts.sub + counts.ins, b.size());
    }
  }
}

}  // namespace
}  // namespace sotto
