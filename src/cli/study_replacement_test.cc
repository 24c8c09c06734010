// sotto study replacement, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Sotto;

struct StudyReplacementVerb : public ::testing::Test {
  // A corpus as SLURP is published: a template for each word.
  StudyReplacementVerb() {
    fs::create_directories(folder / "text" / "slurp");
    std::ofstream out(folder / "text" / "slurp" / "devel.jsonl");
    const char* names[] = {"annabel", "bertram", "carlotta"};
    const char* towns[] = {"oldtown", "newville"};
    for (int i = 0; i < 90; ++i) {
      const char *name = names[i % 3], *town = towns[i % 2];
      const std::string word(1 + static_cast<std::size_t>(i / 26), static_cast<char>('a' + i % 26));
      out << fmt::format(
          "{{\"id\": {}, \"intent\": \"x\", \"annotation\": \"ask [person : {}] for {} in "
          "[place_name : {}]\", \"sentence\": \"ask {} for {} in {}\"}}\n",
          i, name, word, town, name, word, town);
    }
  }
  std::string At(const std::string& name) const { return (folder / name).string(); }
  Outcome Study(const std::string& words) const {
    return Sotto("study replacement " + At("text") + " --resamples 10 --jobs 2 --trainings 1 -o " +
                 At("out") + " " + words);
  }
  testing::TemporaryFolder folder;
};

TEST_F(StudyReplacementVerb, WritesTheTableWithThePublishedRow) {
  const Outcome done = Study("--taggers crf --p 0 0.9 --json");
  ASSERT_EQ(done.code, 0) << done.output;
  const auto json = ParseJson(done.out);
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["published"][2]["eps"], 6.75);
  EXPECT_GT(json["rows"][0]["taggers"][0]["f1"].get<double>(), 0.8);
  EXPECT_EQ(json["rows"][2]["replaced_with"], "placeholders");
  EXPECT_EQ(json, ParseJson(ReadTextFile(folder / "out" / "replacement.json")));
  for (const char* file : {"replacement.csv", "replacement.html", "replacement.json"}) {
    const std::string text = ReadTextFile(folder / "out" / file);
    for (const char* word : {"annabel", "bertram", "oldtown"}) {
      EXPECT_EQ(text.find(word), std::string::npos) << file;
    }
  }
}

TEST_F(StudyReplacementVerb, TrainsTheNetWhereTheTrainingProgramIsBuilt) {
  const Outcome done = Study("--epochs 2 --hidden 8 --p 0 1 --no-placeholders");
  ASSERT_EQ(done.code, 0) << done.output;
  if (Has(done, "BiLSTM-CRF was not trained")) GTEST_SKIP() << "built without libtorch";
  EXPECT_TRUE(Has(done, "F1 BiLSTM-CRF")) << done.output;
  EXPECT_TRUE(Has(done, "79.8")) << done.output;
  const Outcome failed = Study("--epochs 0 --taggers bilstm-crf");
  EXPECT_EQ(failed.code, 1);
  EXPECT_TRUE(Has(failed, "epochs is 0")) << failed.output;
}

TEST_F(StudyReplacementVerb, SaysWhatIsWrongInOneLine) {
  for (const auto& [words, why, code] :
       {std::tuple("--p 0.5 1.5", "--p", 2), std::tuple("--p 0.9 0.5", "above the one before", 2),
        std::tuple("--p often", "--p", 2), std::tuple("--taggers lstm", "lstm", 2),
        std::tuple("--trainings 0", "--trainings", 2)}) {
    const Outcome refused = Study(words);
    EXPECT_EQ(refused.code, code) << words << refused.output;
    EXPECT_TRUE(Has(refused, why)) << refused.output;
    EXPECT_FALSE(fs::exists(folder / "out"));
  }
  const Outcome nowhere = Sotto("study replacement " + At("nowhere") + " -o " + At("out"));
  EXPECT_EQ(nowhere.code, 1) << nowhere.output;
  fs::remove(folder / "text" / "slurp" / "devel.jsonl");
  EXPECT_EQ(Study("").code, 1);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

}  // namespace
}  // namespace sotto
