// sotto train entities, run as a user would.
#include <gtest/gtest.h>

#include <filesystem>
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

// Commands to an assistant with made-up names, in the form of NLU-eval, and lists of names.
struct TrainEntities : public ::testing::Test {
  TrainEntities() {
    static const char* const names[] = {"anna", "bruno", "clara", "david", "emma", "felix"};
    static const char* const cities[] = {"linz", "graz", "wels", "steyr"};
    static const char* const verbs[] = {"call", "ring",  "text", "tell", "ask",
                                        "mail", "greet", "find", "see",  "meet"};
    static const char* const ends[] = {"please", "now", "again", "for me", "at once", "first"};
    std::string tsv = "intent\tannotation\n";
    for (const char* verb : verbs) {
      for (const char* end : ends) {
        const std::size_t i = tsv.size();
        tsv += std::string("x\t") + verb + " [person : " + names[i % 6] +
               "] in [place_name : " + cities[i % 4] + "] [date : today] " + end + "\n";
      }
    }
    std::filesystem::create_directories(folder / "text/nlu_eval");
    std::filesystem::create_directories(folder / "names/first_names");
    WriteFileAtomically(folder / "text/nlu_eval/annotated.tsv", tsv);
    WriteFileAtomically(folder / "names/first_names/all.txt", "Anna\nBruno\nClara\nDavid\n");
    WriteFileAtomically(folder / "names/world-cities.csv",
                        "name,country,subcountry,geonameid\nLinz,Austria,,1\nGraz,Austria,,2\n");
  }

  std::string At(const std::string& name) const { return (folder / name).string(); }
  Outcome Train(const std::string& words) const {
    return Sotto("train entities --features 2000 --data " + folder.Path().string() + " " + words);
  }

  TemporaryFolder folder;
};

TEST_F(TrainEntities, WritesAModelThatFindsTheNamesAndPrintsHeldOutFigures) {
  const Outcome trained = Train("-o " + At("model") + " --json");
  ASSERT_EQ(trained.code, 0) << trained.output;
  const auto json = ParseJson(trained.out);
  const auto& held_out = json["held_out"]["nlu_eval"]["transcript"];
  EXPECT_GT(held_out["PER"]["f1"].get<double>(), 0.9);
  EXPECT_GE(held_out["token_recall_at_recall"].get<double>(), 0.9);
  WriteFileAtomically(folder / "text.txt", "call clara in graz today please\n");
  const Outcome redacted = Sotto("redact --model " + At("model") + " " + At("text.txt"));
  EXPECT_TRUE(Has(redacted, "call [PER] in [LOC] [DATE] please")) << redacted.Text();
  EXPECT_NE(Train("-o " + At("model")).code, 0) << "the model is there already";
}

TEST_F(TrainEntities, PrintsTablesWithoutJson) {
  const Outcome trained = Train("--epochs 1 --final-epochs 1 -o " + At("model"));
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_TRUE(Has(trained, "all but ORG"));
  EXPECT_TRUE(Has(trained, "epoch 1 of 1"));
}

TEST_F(TrainEntities, BadFlagsAndFoldersAreOneLineAndWriteNothing) {
  EXPECT_NE(Train("--epochs 0 -o " + At("model")).code, 0);
  EXPECT_NE(Train("--replaced 2 -o " + At("model")).code, 0);
  const Outcome nothing = Sotto("train entities --data " + At("text") + " -o " + At("model"));
  EXPECT_NE(nothing.code, 0);
  EXPECT_TRUE(Has(nothing, "none of nlu_eval"));
  EXPECT_FALSE(std::filesystem::exists(folder / "model"));
}

}  // namespace
}  // namespace sotto
