#include "release/run_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string Refusal(const fs::path& out, const std::optional<Key>& key = std::nullopt) {
  try {
    RunState(out, key, {"p"});
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(RunState, IsLockedWhileARunGoesOn) {
  const TemporaryFolder folder;
  const RunState first(folder / "out", std::nullopt, {"p"});
  EXPECT_TRUE(Has(Refusal(folder / "out"), "a run is under way"));
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
  const Key given = Key::ForExperiment(ExperimentKey(1));
  { const RunState state(folder / "out", given, {"p"}); }
  EXPECT_THROW(RunState(folder / "out", given, {"q"}), Error);
  EXPECT_THROW(RunState(folder / "out", Key::ForExperiment(ExperimentKey(2)), {"p"}), Error);
  EXPECT_THROW(RunState(folder / "out", std::nullopt, {"p"}), Error);
  EXPECT_TRUE(RunState(folder / "out", given, {"p"}).IsResumed());
}

TEST(RunState, ARunThatWentAwayLeavesNoTraceInAnotherFolder) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "out/.sotto-work");
  WriteFileAtomically(folder / "out/.sotto-work/lock", "");
  std::ofstream(folder / "out/x.wav") << "released";
  EXPECT_TRUE(Has(Refusal(folder / "out"), "is not empty"));
  EXPECT_FALSE(fs::exists(folder / "out/.sotto-work"));
  EXPECT_TRUE(fs::exists(folder / "out/x.wav"));
}

TEST(RunState, RemembersOutputsUnderAnyName) {
  const TemporaryFolder folder;
  const MadeItem one{"a b/100%\n\x7f.wav", "o1", "i1", {}}, two{"c.flac", "o2", "i2", {"d1", "d2"}};
  {
    RunState state(folder / "out", std::nullopt, {"p"});
    state.AddMade(std::vector{one, {"c.flac", "before", "before", {}}});
    state.AddMade(std::vector{two});
    EXPECT_FALSE(state.SetTables("first"));
    std::ofstream(folder / "map") << "ours";
    EXPECT_FALSE(state.Wrote(folder / "map"));
    state.SetWritten(folder / "map", "ours");
    EXPECT_TRUE(state.Wrote(folder / "map"));
  }
  RunState state(folder / "out", std::nullopt, {"p"});
  ASSERT_EQ(state.Made().size(), 2U);
  EXPECT_EQ(state.Made().at("a b/100%\n\x7f").file, one.file);
  EXPECT_EQ(state.Made().at("c").output, "o2");
  EXPECT_EQ(state.Made().at("c").draws, two.draws);
  EXPECT_TRUE(state.SetTables("first"));
  EXPECT_FALSE(state.SetTables("second"));
  EXPECT_TRUE(state.Wrote(folder / "map"));
  // Somebody else's by now.
  std::ofstream(folder / "map") << "theirs";
  EXPECT_FALSE(state.Wrote(folder / "map"));
}

TEST(RunState, LinesThatWereNotWrittenToTheirEndCountForNothing) {
  const TemporaryFolder folder;
  const fs::path file = folder / "out/.sotto-work/state";
  const std::vector<MadeItem> items = {{"a.wav", "o1", "i1", {}}, {"b.wav", "o2", "i2", {}}};
  {
    RunState state(folder / "out", std::nullopt, {"p"});
    state.AddMade(items);
  }
  const std::string whole = ReadTextFile(file);
  for (const std::size_t lost : {1U, 5U, 20U}) {
    for (const bool zeroed : {false, true}) {
      std::string text = whole.substr(0, whole.size() - lost);
      if (zeroed) text.append(lost, '\0');
      std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
      {
        RunState state(folder / "out", std::nullopt, {"p"});
        EXPECT_EQ(state.Made().size(), 1U) << lost;
        state.AddMade(std::span(items).last(1));
      }
      EXPECT_EQ(ReadTextFile(file), whole);
    }
  }
  // Nor do lines of somebody without the key.
  std::ofstream(file, std::ios::app) << "made c.wav o i 0123456789abcdef\n";
  EXPECT_EQ(RunState(folder / "out", std::nullopt, {"p"}).Made().size(), 2U);
}

TEST(RunState, AStateOfAnotherVersionIsNamedAsSuch) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "out/.sotto-work");
  const fs::path file = folder / "out/.sotto-work/state";
  std::ofstream(file) << "sotto run state 1\n"
                      << std::string(64, 'a') << "\n"
                      << "x\n";
  EXPECT_TRUE(Has(Refusal(folder / "out"), "an earlier version"));
  std::ofstream(file) << "sotto run state 3\nsomething\n";
  EXPECT_TRUE(Has(Refusal(folder / "out"), "another version"));
  std::ofstream(file) << "sotto run state 2\n";
  EXPECT_TRUE(Has(Refusal(folder / "out"), "is damaged"));
}

TEST(RunState, AFinishingRunHasNoKeyAndKnowsItsCorpus) {
  const TemporaryFolder folder;
  std::string hex;
  {
    RunState state(folder / "out", std::nullopt, {"p"});
    hex = state.RunKey().Hex();
    std::ofstream(folder / "map") << "m";
    state.SetWritten(folder / "map", "m");
    state.SetWritten(folder / "gone", "g");
    std::ofstream(folder / "out/a.wav") << "x";
    std::ofstream(folder / "out/text") << "y";
    state.BeginFinishing(
        {"corpus", "{\"complete\": true}\n", {"a.wav", "text"}, {{"b 1", "no sound"}}});
  }
  EXPECT_FALSE(Has(ReadTextFile(folder / "out/.sotto-work/state"), hex.c_str()));
  EXPECT_TRUE(
      Has(Refusal(folder / "out", Key::ForExperiment(ExperimentKey(1))), "other parameters"));
  const fs::path file = folder / "out/.sotto-work/state";
  const std::string whole = ReadTextFile(file);
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    std::string text = whole;
    text[i] ^= 1;
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_FALSE(Refusal(folder / "out").empty()) << i;
  }
  std::ofstream(file, std::ios::trunc) << whole;
  RunState state(folder / "out", std::nullopt, {"p"});
  EXPECT_EQ(state.FinishingRecord(), "{\"complete\": true}\n");
  EXPECT_TRUE(state.IsSameCorpus("corpus"));
  EXPECT_FALSE(state.IsSameCorpus("another"));
  ASSERT_EQ(state.FinishingFailures().size(), 1U);
  EXPECT_EQ(state.FinishingFailures()[0].first, "b 1");
  EXPECT_EQ(state.NotWhole(), "");
  std::ofstream(folder / "out/text") << "z";
  EXPECT_EQ(state.NotWhole(), "text");
  fs::remove(folder / "out/text");
  EXPECT_EQ(state.NotWhole(), "text");
  EXPECT_EQ(state.WrittenFiles(), std::vector<std::string>{folder / "map"});
  state.Restart();
  EXPECT_FALSE(fs::exists(folder / "out/a.wav"));
  EXPECT_FALSE(state.FinishingRecord());
  EXPECT_NE(state.RunKey().Hex(), hex);
  EXPECT_TRUE(state.Wrote(folder / "map"));
  EXPECT_FALSE(state.Wrote(folder / "gone"));
  state.Complete();
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

// Killed between the removals: what is left is not taken for the whole, and key and map may still
// be replaced.
TEST(RunState, ARestartThatWasStoppedGoesOn) {
  const TemporaryFolder folder;
  const fs::path file = folder / "out/.sotto-work/state";
  {
    RunState state(folder / "out", std::nullopt, {"p"});
    std::ofstream(folder / "map") << "m";
    state.SetWritten(folder / "map", "m");
    std::ofstream(folder / "out/a.wav") << "x";
    state.BeginFinishing({"corpus", "{}", {"a.wav"}, {}});
    const std::string finishing = ReadTextFile(file);
    state.Restart();
    // As it was when the first output was about to go.
    std::ofstream(folder / "out/a.wav") << "x";
    std::ofstream(file, std::ios::trunc) << finishing;
    EXPECT_EQ(ReadTextFile(file), finishing);
  }
  for (const bool removed : {false, true}) {
    std::string restarting;
    {
      RunState state(folder / "out", std::nullopt, {"p"});
      ASSERT_TRUE(state.FinishingRecord());
      EXPECT_EQ(state.NotWhole().empty(), !removed);
      if (removed) state.Restart();
    }
    if (!removed) fs::remove(folder / "out/a.wav");
  }
  RunState state(folder / "out", std::nullopt, {"p"});
  EXPECT_FALSE(state.FinishingRecord());
  EXPECT_TRUE(state.Wrote(folder / "map"));
}

}  // namespace
}  // namespace sotto
