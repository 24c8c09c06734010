// sotto build text, run as a user would.
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

struct BuildText : public ::testing::Test {
  BuildText() {
    std::string table = "utt_id\tspeaker\ttext\n";
    for (int i = 0; i < 6; ++i) {
      table += std::to_string(i) + "\ts" + std::to_string(i) + "\tcall me on monday\n";
    }
    // What one person alone says.
    for (int i = 6; i < 16; ++i) table += std::to_string(i) + "\tzelda\tmail zelda@quux.example\n";
    WriteFileAtomically(folder / "talk.tsv", table);
  }
  std::string At(const std::string& name) const { return (folder / name).string(); }

  testing::TemporaryFolder folder;
};

TEST_F(BuildText, CountsWhatSeveralPeopleSaid) {
  const Outcome built = Sotto("build text " + At("talk.tsv") + " -o " + At("pack") + " --json");
  ASSERT_EQ(built.code, 0) << built.output;
  const auto json = ParseJson(built.out);
  EXPECT_EQ(json["texts"], 16);
  EXPECT_EQ(json["counted_by"], "speakers");
  EXPECT_EQ(json["types"]["DATE"]["kept_words"], 1);
  EXPECT_EQ(json["types"]["DATE"]["least_share"], 1.0);
  EXPECT_EQ(json["types"]["EMAIL"]["entities"], 10);
  EXPECT_EQ(json["types"]["EMAIL"]["from"], "none");
  EXPECT_EQ(ReadTextFile(At("pack")),
            "sotto-surrogates\t1\nsource\ta corpus\nmin_count\t5\n"
            "kind\tname\tgender\tcount\ttext\nword\tDATE\t-\t6\tmonday\n");
}

TEST_F(BuildText, TakesTheRestFromTheProgramWhereAsked) {
  const Outcome built = Sotto("build text " + At("talk.tsv") + " -o " + At("pack") + " --fill");
  ASSERT_EQ(built.code, 0) << built.output;
  EXPECT_TRUE(Has(built, "program's"));
  EXPECT_NE(ReadTextFile(At("pack")).find("form\tPER\t"), std::string::npos);
}

TEST_F(BuildText, SaysInOneLineWhatIsWrongAndWritesNothing) {
  WriteFileAtomically(folder / "odd.txt",
                      "zel\xff"
                      "da\n");
  WriteFileAtomically(folder / "empty.txt", "");
  for (const std::string& words :
       {"build text " + At("absent") + " -o " + At("pack"),
        "build text " + At("odd.txt") + " -o " + At("pack"),
        "build text " + At("empty.txt") + " -o " + At("pack"),
        "build text " + At("talk.tsv") + " -o " + At("pack") + " --min-count 99",
        "build text " + At("talk.tsv") + " -o " + At("pack") + " --source $'a\\tb'",
        "build text " + At("talk.tsv") + " -o " + At("pack") + " --min-count 0",
        "build text " + At("talk.tsv") + " -o " + At("talk.tsv")}) {
    const Outcome failed = Sotto(words);
    EXPECT_NE(failed.code, 0) << words;
    EXPECT_EQ(failed.signal, 0);
    EXPECT_FALSE(Has(failed, "zel")) << failed.output;
    EXPECT_FALSE(std::filesystem::exists(folder / "pack")) << words;
  }
}

}  // namespace
}  // namespace sotto
