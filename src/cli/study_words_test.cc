// sotto study words, run as a user would.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;

constexpr const char* kSmall = " --repeats 1 --net-steps 20 --resamples 20 --speakers 40 ";

struct StudyWordsVerb : public ::testing::Test {
  StudyWordsVerb() {
    // Twelve women and twelve men, each with two sentences; the women say "secret".
    std::string manifest = "utt_id\tpath\tspeaker\tgender\ttext\n";
    for (int s = 0; s < 24; ++s) {
      for (const char* part : {"a", "b"}) {
        manifest += fmt::format("s{0}{1}\t{0}{1}.wav\ts{0}\t{2}\tgood day my {3} friend\n", s, part,
                                s % 2 == 0 ? "F" : "M", s % 2 == 0 ? "secret" : "old");
      }
    }
    WriteFileAtomically(folder / "manifest.tsv", manifest);
    WriteFileAtomically(folder / "file", "x");
  }
  std::string At(const std::string& name) const { return (folder / name).string(); }

  TemporaryFolder folder;
};

TEST_F(StudyWordsVerb, PrintsBothTablesAndWritesThem) {
  const Outcome done =
      Sotto("study words " + folder.Path().string() + kSmall + "--jobs 2 -o " + At("out"));
  ASSERT_EQ(done.code, 0) << done.output;
  for (const char* part :
       {"table 13", "table 14", "Verbmobil", "planted, strength 0.4: gender", "72.1 / 63.0",
        "96.8 / 96.8", "age: 0 adult and 0 teenager speakers", "an experiment", "seed 1"}) {
    EXPECT_TRUE(Has(done, part)) << part << "\n" << done.output;
  }
  EXPECT_FALSE(Has(done, "secret"));
  const auto json = ParseJson(ReadTextFile(folder / "out" / "words.json"));
  // One attribute, eight protocols, three classifiers; planted ones have two.
  EXPECT_EQ(json["rows"].size(), 8U * 3U + 2U * 8U * 3U * 2U + 3U * 3U * 3U * 2U);
  EXPECT_EQ(json["rows"][0]["figures"]["accuracy"]["value"], 1.0);
  EXPECT_NE(ReadTextFile(folder / "out" / "words.csv").find("svm-gaussian"), std::string::npos);
  EXPECT_NE(ReadTextFile(folder / "out" / "words.html").find("Verbmobil"), std::string::npos);

  // The same again, as JSON, whatever the jobs.
  const Outcome again = Sotto("study words " + folder.Path().string() + kSmall + "--json --jobs 1");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(ParseJson(again.out), json);
}

TEST_F(StudyWordsVerb, RefusesBadUsage) {
  const auto refused = [](const std::string& words, int code, const char* why) {
    const Outcome outcome = Sotto("study words " + words);
    EXPECT_EQ(outcome.code, code) << words << outcome.output;
    EXPECT_TRUE(Has(outcome, why)) << outcome.output;
  };
  refused("--no-planted", 2, "--no-planted needs a corpus");
  refused("--strength 1.5", 2, "between 0 and 1");
  refused("--repeats 0", 2, "1 to 1000");
  refused("--speakers 3", 2, "8 speakers");
  refused("--resamples -1", 2, "resamples");
  refused("--net-steps -1", 2, "steps");
  refused("--seed x", 2, "--seed");
  refused("--no-planted " + At("nowhere"), 1, "nowhere");
  refused("--no-planted " + folder.Path().string() + " -o " + At("file"), 1, "not a folder");
  WriteFileAtomically(folder / "manifest.tsv", "utt_id\tpath\tspeaker\nu\tu.wav\ts\n");
  refused("--no-planted " + folder.Path().string(), 1, "none of 1 utterances has a transcript");
}

}  // namespace
}  // namespace sotto
