#include "voice/run_state.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

TEST(RunState, IsLockedWhileARunGoesOn) {
  const TemporaryFolder folder;
  const RunState first(folder / "out", std::nullopt, {"p"});
  EXPECT_THROW(RunState(folder / "out", std::nullopt, {"p"}), Error);
}

TEST(RunState, KeepsTheKeyUntilTheRunIsComplete) {
  const TemporaryFolder folder;
  std::string hex;
  {
    const RunState state(folder / "out", std::nullopt, {"p"});
    hex = state.RunKey().Hex();
    EXPECT_FALSE(state.IsResumed());
  }
  RunState again(folder / "out", std::nullopt, {"p"});
  EXPECT_TRUE(again.IsResumed());
  EXPECT_EQ(again.RunKey().Hex(), hex);
  again.Complete();
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

TEST(RunState, OtherParametersOrAnotherKeyAreRefused) {
  const TemporaryFolder folder;
  const Key given = Key::FromExperimentSeed(1);
  { const RunState state(folder / "out", given, {"p"}); }
  EXPECT_THROW(RunState(folder / "out", given, {"q"}), Error);
  EXPECT_THROW(RunState(folder / "out", Key::FromExperimentSeed(2), {"p"}), Error);
  EXPECT_THROW(RunState(folder / "out", std::nullopt, {"p"}), Error);
  EXPECT_TRUE(RunState(folder / "out", given, {"p"}).IsResumed());
}

}  // namespace
}  // namespace sotto
