// sotto utility, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using testing::Outcome;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

// Without any model, so that the test says the same on every machine.
Outcome Utility(const std::string& arguments) {
  return testing::Shell(
      fmt::format("env -u SOTTO_MODELS -u SOTTO_SHARED HOME=/nonexistent {} utility {}",
                  testing::Binary(), arguments));
}

// Two speakers with two utterances each.
void WriteCorpus(const std::filesystem::path& folder, const std::string& last = "b2") {
  MakeFolder(folder);
  std::string rows = "utt_id\tpath\tspeaker\tgender\ttext\n";
  double f0_hz = 100.0;
  for (const std::string& id : {std::string("a1"), std::string("a2"), std::string("b1"), last}) {
    WriteWav(folder / (id + ".wav"), SyntheticVowel(1.0, 16000, f0_hz += 20.0));
    rows += fmt::format("{0}\t{0}.wav\t{1}\t{2}\tah\n", id, id[0], id[0] == 'a' ? "F" : "M");
  }
  WriteFileAtomically(folder / "manifest.tsv", rows);
}

TEST(UtilityCli, ACopyOfTheOriginalsHasLostNothingAndNoFigureIsLeftOut) {
  const TemporaryFolder folder;
  WriteCorpus(folder / "o");
  const std::string o = (folder / "o").string();
  const Outcome outcome = Utility(fmt::format(
      "--original {0} --protected {0} --recogniser moonshine --json --bootstrap 20", o));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const char* key :
       {"wer", "cer", "pitch_correlation", "pitch_correlation_lagged", "voicing_agreement",
        "energy_correlation", "pause_ratio", "speaking_rate", "level_db", "duration_ratio",
        "dnsmos", "g_vd_db", "by_speaker", "by_gender"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["voicing_agreement"], 1.0);
  EXPECT_EQ(json["level_db"], 0.0);
  EXPECT_EQ(json["duration_ratio"], 1.0);
  EXPECT_TRUE(json["wer"][0]["protected"].is_null());
  EXPECT_TRUE(json["wer"][0]["reason"].is_string());
  EXPECT_TRUE(json["reason"]["dnsmos.ovr.protected"].is_string());
  EXPECT_EQ(json["by_speaker"].size(), 2U);
}

TEST(UtilityCli, AnotherSetOfUtterancesIsBadInputWithCounts) {
  const TemporaryFolder folder;
  WriteCorpus(folder / "o");
  WriteCorpus(folder / "p", "b3");
  const Outcome outcome = Utility(fmt::format("--original {} --protected {}",
                                              (folder / "o").string(), (folder / "p").string()));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.output.find("1 only in the first ('b2'), 1 only in the second ('b3')"),
            std::string::npos)
      << outcome.output;
}

TEST(UtilityCli, BadUsageIsExitCodeTwo) {
  EXPECT_EQ(Utility("").code, 2);
  EXPECT_EQ(Utility("--original o").code, 2);
  EXPECT_EQ(Utility("--original o --protected p --recogniser whisper").code, 2);
  EXPECT_EQ(Utility("--original o --protected p --recogniser moonshine:0").code, 2);
  EXPECT_EQ(Utility("--original o --protected p --level 2").code, 2);
}

}  // namespace
}  // namespace sotto
