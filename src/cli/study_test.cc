// sotto study hiding, run as a user would.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sotto
