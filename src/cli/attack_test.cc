// sotto attack, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;

// Voices with different pitch and formants, six recordings each; every second one is a woman.
void MakeCorpus(const fs::path& folder, int first, int last, bool genders = true) {
  std::string manifest = "utt_id\tpath\tspeaker\tgender\n";
  for (int s = first; s < last; ++s) {
    for (int i = 0; i < 6; ++i) {
      const double shift = 1.0 + 0.04 * s;
      const std::string name = fmt::format("s{:02}-{}", s, i);
      testing::WriteWav(folder / ("wav/" + name + ".wav"),
                        testing::SyntheticVowel(1.2, 16000, 90.0 + 9.0 * s + 2.0 * i,
                                                {(600.0 + 40.0 * i) * shift, 1200.0 * shift,
                                                 (2500.0 - 60.0 * i) * shift}));
      manifest += fmt::format("{0}\twav/{0}.wav\ts{1:02}\t{2}\n", name, s,
                              !genders     ? ""
                              : s % 2 == 0 ? "F"
                                           : "M");
    }
  }
  WriteFileAtomically(folder / "manifest.tsv", manifest);
}

class AttackVerb : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    MakeCorpus(*folder_ / "public", 0, 12);
    MakeCorpus(*folder_ / "in", 12, 18);
    const Outcome trained = Sotto(fmt::format(
        "train ivector {} -o {} --components 4 --dimension 6 --lda 5", At("public"), At("iv")));
    ASSERT_EQ(trained.code, 0) << trained.output;
    const Outcome made =
        Sotto(fmt::format("anonymise --method mcadams {} {} --strategy random --key-out {}",
                          At("in"), At("out"), At("key")));
    ASSERT_EQ(made.code, 0) << made.output;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string At(const std::string& name) { return (*folder_ / name).string(); }
  static std::string Both() {
    return fmt::format("--original {} --protected {} --encoder {} --cache {} --bootstrap 50",
                       At("in"), At("out"), At("iv"), At("cache"));
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* AttackVerb::folder_ = nullptr;

TEST_F(AttackVerb, RunsTheWholeLadderOnARelease) {
  const std::string command =
      fmt::format("attack {} --background {} --key {} --quick", Both(), At("public"), At("key"));
  const Outcome outcome = Sotto(command + fmt::format(" --report {} --json", At("page.html")));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const json result = json::parse(outcome.out);
  std::set<std::string> ran, rest;
  double lowest = 2.0;
  for (const json& row : result["rows"]) {
    const bool run = row["status"] == "run";
    (run ? ran : rest).insert(row["attacker"].get<std::string>());
    EXPECT_TRUE(run || !row["reason"].get<std::string>().empty());
    if (!run || !row["figures"].contains("eer")) continue;
    lowest = std::min(lowest, row["figures"]["eer"].get<double>());
    ASSERT_EQ(row["ci"]["eer"].size(), 2U);
    EXPECT_LE(row["ci"]["eer"][0].get<double>(), row["ci"]["eer"][1].get<double>());
    EXPECT_TRUE(row["figures"].contains("zebra.d_ece_bits"));
  }
  for (const char* attacker :
       {"ignorant", "within-release", "lazy-informed", "semi-informed-quick", "informed",
        "waveform-inversion", "embedding-inversion", "gender-original", "gender-protected"}) {
    EXPECT_TRUE(ran.contains(attacker)) << attacker;
  }
  EXPECT_FALSE(ran.contains("semi-informed"));
  EXPECT_TRUE(rest.contains("pool-rule"));  // mcadams has no target voice
  EXPECT_TRUE(rest.contains("semi-informed"));
  EXPECT_TRUE(rest.contains("words"));  // there are no transcripts
  EXPECT_TRUE(rest.contains("voice-and-words"));
  EXPECT_EQ(result["worst"]["figures"]["eer"].get<double>(), lowest);
  EXPECT_EQ(result["exposed"].size(), 6U);
  EXPECT_EQ(result["enrolment"], 18);
  EXPECT_EQ(result["trials"], 18);

  EXPECT_EQ(result["measured"], "measured, not covered by epsilon");

  const std::string page = ReadTextFile(At("page.html"));
  EXPECT_NE(page.find("map-protected"), std::string::npos);
  EXPECT_NE(page.find("Measured, not covered by ε"), std::string::npos);

  // From the cache the same comes out, as a table.
  const Outcome again = Sotto(command);
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_TRUE(Has(again, "Attackers, the strongest first"));
  EXPECT_TRUE(Has(again, "Most exposed speakers"));
  EXPECT_TRUE(Has(again, "measured, not covered by epsilon"));
  EXPECT_TRUE(Has(again, "12 of 18 trials, 18 of 18 enrolment utterances re-transformed"));
  EXPECT_FALSE(Has(again, "anonymous"));
  const Outcome more = Sotto(command + " --informed-trials 3 --informed-enrolment 1");
  EXPECT_TRUE(Has(more, "18 of 18 trials, 6 of 18 enrolment utterances")) << more.output;
  const Outcome repeated = Sotto(command + " --json");
  EXPECT_EQ(json::parse(repeated.out)["rows"], result["rows"]);
}

// The manifest with a column of transcripts: what each speaker always says.
std::string WithTexts(const std::string& manifest) {
  std::string texts;
  for (const std::string_view line : SplitLines(manifest)) {
    const std::string speaker(line.substr(0, 3));
    texts +=
        fmt::format("{}\t{}\n", line,
                    speaker == "utt" ? "text" : fmt::format("good day says mister {}", speaker));
  }
  return texts;
}

TEST_F(AttackVerb, LinksByTheTranscriptsOfBothSides) {
  std::vector<std::pair<fs::path, std::string>> before;
  for (const char* side : {"in", "out"}) {
    const fs::path manifest = *folder_ / side / "manifest.tsv";
    before.emplace_back(manifest, ReadTextFile(manifest));
    WriteFileAtomically(manifest, WithTexts(before.back().second));
  }
  const Outcome outcome = Sotto(fmt::format("attack {} -L 1 --json", Both()));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  std::set<std::string> ran;
  const json result = json::parse(outcome.out);
  for (const json& row : result["rows"]) {
    if (row["status"] != "run") continue;
    ran.insert(row["attacker"].get<std::string>());
    if (row["attacker"] == "words") {
      EXPECT_LT(row["figures"]["eer"].get<double>(), 0.01);
    }
  }
  EXPECT_TRUE(ran.contains("words"));
  EXPECT_TRUE(ran.contains("voice-and-words"));
  EXPECT_FALSE(Has(outcome, "mister"));
  // A release without transcripts says so.
  WriteFileAtomically(before[1].first, before[1].second);
  const Outcome mute = Sotto(fmt::format("attack {} -L 1", Both()));
  EXPECT_TRUE(Has(mute, "the release has no transcripts")) << mute.output;
  WriteFileAtomically(before[0].first, before[0].second);
}

TEST_F(AttackVerb, SaysWhatIsMissing) {
  const Outcome no_key = Sotto(fmt::format("attack {}", Both()));
  ASSERT_EQ(no_key.code, 0) << no_key.output;
  EXPECT_TRUE(Has(no_key, "the original has no transcripts"));
  EXPECT_TRUE(Has(no_key, "it needs the key of the release (--key)"));
  EXPECT_TRUE(Has(no_key, "sotto train encoder"));

  EXPECT_EQ(Sotto("attack --original x").code, 2);
  const Outcome both = Sotto(fmt::format("attack {} --embeddings-original {}", Both(), At("in")));
  EXPECT_EQ(both.code, 2);
  const Outcome unlike = Sotto(fmt::format("attack {} --attacker-encoder {}", Both(), At("iv")));
  EXPECT_EQ(unlike.code, 1);
  EXPECT_TRUE(Has(unlike, "no 'sotto.attacker'"));
  const Outcome no_record = Sotto(fmt::format(
      "attack --original {0} --protected {0} --encoder {1} --cache none", At("in"), At("iv")));
  EXPECT_EQ(no_record.code, 1);
  EXPECT_TRUE(Has(no_record, "no sotto-run.json"));

  MakeCorpus(*folder_ / "unlabelled", 0, 12, false);
  const std::string background =
      fmt::format("attack {} --quick --background {}", Both(), At("unlabelled"));
  const Outcome refused = Sotto(background);
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(Has(refused, "12 of 12 speakers have no gender")) << refused.output;
}

TEST_F(AttackVerb, RunsOnGivenEmbeddingsAndLists) {
  for (const auto& [corpus, name] : {std::pair{"in", "e"}, {"out", "p"}}) {
    const Outcome made =
        Sotto(fmt::format("embed {} {} --encoder {}", At(corpus), At(name), At("iv")));
    ASSERT_EQ(made.code, 0) << made.output;
  }
  WriteFileAtomically(At("list"),
                      "s12 s12-5 target\ns13 s12-5 nontarget\ns12 s13-5 nontarget\ns13 s13-5 "
                      "target\ns14 s14-5 target\ns14 s12-5 nontarget\n");
  const std::string sets = fmt::format(
      "--embeddings-original {} --embeddings-protected {} --bootstrap 0", At("e"), At("p"));
  const Outcome outcome = Sotto(fmt::format("attack {} --trials {} --json", sets, At("list")));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["trials"], 3);
  bool whole = false;
  for (const json& row : result["rows"]) {
    if (row["attacker"] != "ignorant" || row["l"] != 0 || row["impostors"] != "all") continue;
    whole = true;
    EXPECT_EQ(row["counts"]["n_tar"], 3);
    EXPECT_EQ(row["counts"]["n_non"], 3);
  }
  EXPECT_TRUE(whole);
  EXPECT_EQ(Sotto(fmt::format("attack {} --key {}", sets, At("key"))).code, 2);
}

}  // namespace
}  // namespace sotto
