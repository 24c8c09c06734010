// sotto study hiding and sotto study folds, run as a user would.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;
using testing::Voices;

struct StudyHiding : public ::testing::Test {
  StudyHiding() {
    WriteEmbeddings(Voices("f", 20, 3, 1), folder / "fit");
    WriteEmbeddings(Voices("a", 12, 3, 2), folder / "attack");
    WriteEmbeddings(Voices("t", 12, 3, 3), folder / "test");
  }
  std::string At(const std::string& name) const { return (folder / name).string(); }
  Outcome Study(const std::string& words) const {
    return Sotto("study hiding --attack " + At("attack") + " --resamples 10 --jobs 2 -o " +
                 At("out") + " " + words);
  }
  // One line, and nothing is written.
  void ExpectRefused(const std::string& words, const std::string& why) const {
    const Outcome refused = Study(words);
    EXPECT_NE(refused.code, 0);
    EXPECT_TRUE(Has(refused, why)) << refused.output;
    EXPECT_FALSE(fs::exists(At("out")));
  }

  TemporaryFolder folder;
};

TEST_F(StudyHiding, WritesPageAndFigures) {
  const std::string voices = "--fit " + At("fit") + " --test " + At("test");
  const Outcome done = Study(voices + " --defences leace ive");
  ASSERT_EQ(done.code, 0) << done.output;
  EXPECT_TRUE(Has(done, "unprotected"));
  EXPECT_TRUE(Has(done, "leace"));
  const auto json = ParseJson(ReadTextFile(folder / "out" / "hiding.json"));
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][1]["method"], "leace");
  EXPECT_EQ(json["rows"][1]["parts"].size(), 1U);
  EXPECT_TRUE(json["rows"][2]["parts"][0]["auc_uninformed"].is_null());
  EXPECT_TRUE(fs::exists(folder / "out" / "hiding.html"));
  EXPECT_TRUE(fs::exists(folder / "out" / "hiding.csv"));

  // The same figures by a model that was fitted before.
  ASSERT_EQ(
      Sotto("train hide --method leace --embeddings " + At("fit") + " -o " + At("leace")).code, 0);
  const Outcome again = Study("--test " + At("test") + " --model " + At("leace") + " --json");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(ParseJson(again.out)["rows"][1]["parts"], json["rows"][1]["parts"]);
}

TEST_F(StudyHiding, RefusesWhatCannotBeJudged) {
  const std::string fit = "--fit " + At("fit") + " --defences leace ";
  ExpectRefused(fit + "--test " + At("attack"), "12 speakers of --test are also in --attack");
  ExpectRefused(fit + "--test " + At("fit"), "20 speakers of --test are also in --fit");
  ExpectRefused("--test " + At("test"), "--model");
  ExpectRefused(fit + "--test " + At("test") + " --attribute age", "--labels");
  ExpectRefused(fit + "--test " + At("nowhere"), "nowhere");
  ExpectRefused("--fit " + At("fit") + " --defences magic --test " + At("test"), "magic");
  fs::remove(folder / "test" / "spk2gender");
  ExpectRefused(fit + "--test " + At("test"), "12 of 12 speakers have no gender");
}

struct StudyFoldsVerb : public ::testing::Test {
  StudyFoldsVerb() {
    WriteEmbeddings(Voices("s", 12, 3, 1), folder / "one");
    WriteEmbeddings(Voices("t", 6, 2, 2), folder / "two");
  }
  std::string At(const std::string& name) const { return (folder / name).string(); }
  Outcome Study(const std::string& words) const {
    return Sotto("study folds " + words + " --folds 3 --jobs 2");
  }
  // In one line; for bad usage another says where to read on.
  void ExpectRefused(const std::string& words, int code, const std::string& why) const {
    const Outcome refused = Study(words);
    EXPECT_EQ(refused.code, code) << words << refused.output;
    EXPECT_TRUE(Has(refused, why)) << refused.output;
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), code) << refused.err;
  }

  TemporaryFolder folder;
};

TEST_F(StudyFoldsVerb, PrintsTheFiguresAsTextAndJson) {
  const std::string words =
      At("one") + " " + At("two") + " --defences leace transport:dimension=10";
  const Outcome text = Study(words);
  ASSERT_EQ(text.code, 0) << text.output;
  for (const char* said :
       {"defence", "unprotected", "leace", "transport:dimension=10", "not applicable",
        "gender of 18 speakers with 48 voiceprints, means over 3 folds"}) {
    EXPECT_TRUE(Has(text, said)) << said << "\n" << text.out;
  }
  const Outcome done = Study(words + " --json");
  ASSERT_EQ(done.code, 0) << done.output;
  const auto json = ParseJson(done.out);
  EXPECT_EQ(json["attribute"], "gender");
  EXPECT_EQ(json["speakers"], 18);
  EXPECT_EQ(json["voiceprints"], 48);
  EXPECT_EQ(json["folds"], 3);
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][0]["defence"], "unprotected");
  EXPECT_EQ(json["rows"][0]["auc_uninformed"], json["rows"][0]["auc_informed"]);
  EXPECT_EQ(json["rows"][1]["defence"], "leace");
  EXPECT_NE(json["rows"][1]["auc_uninformed"], json["rows"][1]["auc_informed"]);
  EXPECT_TRUE(json["rows"][2]["auc_uninformed"].is_null());  // another dimension
}

TEST_F(StudyFoldsVerb, HidesWhatATableTells) {
  std::string table = "speaker\tage\n";
  for (int s = 0; s < 12; ++s) {
    table += "s" + std::to_string(s) + (s < 6 ? "\told\n" : "\tyoung\n");
  }
  WriteFileAtomically(folder / "labels.tsv", table);
  const Outcome done =
      Study(At("one") + " --labels " + At("labels.tsv") + " --attribute age --json");
  ASSERT_EQ(done.code, 0) << done.output;
  EXPECT_EQ(ParseJson(done.out)["attribute"], "age");
  ExpectRefused(At("one") + " --attribute age", 2,
                "--attribute age needs --labels: embeddings tell genders alone");
  ExpectRefused(At("one") + " --labels " + At("labels.tsv") + " --attribute accent", 1,
                "no column 'accent'");
}

TEST_F(StudyFoldsVerb, BadUsageAndBadInputAreSaid) {
  ExpectRefused("", 2, "VOICEPRINTS");
  ExpectRefused(At("one") + " --seed x", 2, "--seed");
  ExpectRefused(At("nowhere"), 1, "nowhere");
  ExpectRefused(At("one") + " --defences magic", 1, "defence 'magic'");
  ExpectRefused(At("one") + " --defences leace:dimension=3", 1, "dimension");
  ExpectRefused(At("one") + " --defences transport:dimension", 1,
                "'transport:dimension': 'dimension' is no PARAMETER=VALUE");
  ExpectRefused(At("one") + " " + At("one"), 1, "the voiceprints together");
  EmbeddingSet other = Voices("t", 2, 2, 2);
  WriteEmbeddings(other, folder / "few");
  ExpectRefused(At("few"), 1, "1 speakers of gender 'F' for 3 folds");
  for (auto& [speaker, gender] : other.genders) {
    gender = gender == Gender::kMale ? Gender::kFemale : Gender::kMale;
  }
  for (std::string& id : other.ids) id += "-again";
  WriteEmbeddings(other, folder / "turned");
  ExpectRefused(At("two") + " " + At("turned"), 1, "speaker 't0' is of two genders");
  WriteEmbeddings(Voices("u", 6, 2, 2, 8), folder / "short");
  ExpectRefused(At("one") + " " + At("short"), 1, "has 8 dimensions, the others 16");
  EXPECT_EQ(Sotto("study folds " + At("one") + " --folds 1").code, 2);
}

}  // namespace
}  // namespace sotto
