#include "evaluate/evaluate.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing.h"
#include "evaluate/step_folder.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

const StepForm<int> kNumber = {[](const int& n) { return std::to_string(n); },
                               [](std::string_view text, const std::string& where) {
                                 if (text.find_first_not_of("0123456789") != std::string_view::npos)
                                   throw Error(where);
                                 return std::stoi(std::string(text));
                               },
                               {}};

TEST(StepFolder, AStepIsDoneOnceForTheSameInputs) {
  const TemporaryFolder folder;
  int made = 0;
  const std::function<int()> make = [&] { return ++made; };
  {
    StepFolder steps(folder / "work");
    EXPECT_EQ(steps.Do("cell/attack", "a", kNumber, make), 1);
    EXPECT_EQ(steps.Do("cell/attack", "a", kNumber, make), 1);
    EXPECT_TRUE(steps.IsDone("cell/attack", "a"));
    EXPECT_FALSE(steps.IsDone("cell/attack", "b"));
    EXPECT_THROW(StepFolder(folder / "work"), Error);  // one run at a time
  }
  StepFolder steps(folder / "work");
  EXPECT_EQ(steps.Do("cell/attack", "a", kNumber, make), 1);
  EXPECT_EQ(steps.Found(), 1U);
  EXPECT_EQ(steps.Do("cell/attack", "b", kNumber, make), 2);  // another input: done again
  EXPECT_THROW(steps.Do<int>("cell/utility", "a", kNumber, []() -> int { throw Error("no"); }),
               Error);
  EXPECT_FALSE(fs::exists(folder / "work/cell/utility.json"));
  EXPECT_EQ(fs::status(folder / "work").permissions(), fs::perms::owner_all);
  const std::string kept = ReadTextFile(folder / "work/cell/attack.json");
  WriteFileAtomically(folder / "work/cell/attack.json", "{\"fingerprint\":");  // damaged
  EXPECT_EQ(steps.Do("cell/attack", "b", kNumber, make), 3);
  std::string other = kept;
  other[kept.rfind('2')] = 'x';  // a result that cannot be read
  WriteFileAtomically(folder / "work/cell/attack.json", other);
  EXPECT_EQ(steps.Do("cell/attack", "b", kNumber, make), 4);
  EXPECT_EQ(steps.Made(), 3U);
}

TEST(StepFolder, WithoutAFormAStepIsMadeEveryTimeAndLeavesNothing) {
  const TemporaryFolder folder;
  StepFolder steps(folder / "work");
  int made = 0;
  const std::function<int()> make = [&] { return ++made; };
  EXPECT_EQ(steps.Do("cell/attack", "a", StepForm<int>{}, make), 1);
  EXPECT_EQ(steps.Do("cell/attack", "a", StepForm<int>{}, make), 2);
  EXPECT_FALSE(fs::exists(folder / "work/cell"));
}

TEST(EvaluateOptions, HearSixtyUtterancesWithPocketSphinxUnlessTold) {
  EvaluateOptions options;
  EXPECT_EQ(options.Recognisers()[0].limit, 0U);  // Moonshine: all
  EXPECT_EQ(options.Recognisers()[1].limit, 60U);
  options.utterances = 20;
  options.recognisers = {RecogniserChoice::Parse("moonshine"),
                         RecogniserChoice::Parse("pocketsphinx:7")};
  EXPECT_EQ(options.Recognisers()[0].limit, 20U);
  EXPECT_EQ(options.Recognisers()[1].limit, 7U);
}

}  // namespace
}  // namespace sotto
