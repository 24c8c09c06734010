// The program is killed at its system calls, and the same command is given again: the outcome is
// that of a run nobody interrupted.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <limits>

#include "base/files.h"
#include "small_run.h"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

// After a kill the same command gives `expected`, or finds that the run had been complete.
void ExpectResumes(const SmallRun& run, const std::vector<std::string>& command,
                   const Tree& expected, const std::string& where) {
  const Tree before = run.Result();
  if (SaysComplete(before)) {
    // The record is the last word: whatever it finds at that moment is the whole release.
    Tree release = before;
    std::erase_if(release,
                  [](const auto& item) { return item.first.starts_with("out/.sotto-work"); });
    EXPECT_EQ(Difference(expected, release), "") << where << ": complete at the kill";
  }
  const bool over = IsOver(before);
  Outcome resumed = Sotto(command, {{"TMPDIR", run.At("tmp")}});
  // The shell of a pipe holds the lock of its killed parent until it has become another program.
  for (int i = 0; i < 50 && Has(resumed, "a run is under way"); ++i) {
    ::usleep(20000);
    resumed = Sotto(command, {{"TMPDIR", run.At("tmp")}});
  }
  EXPECT_EQ(resumed.code, over ? 1 : 0) << where << "\n" << resumed.Text();
  // The folder, or the map it wrote.
  EXPECT_TRUE(!over || Has(resumed, "is not empty") || Has(resumed, "exists already"))
      << resumed.Text();
  EXPECT_EQ(Difference(expected, run.Result()), "") << where;
}

// Kills a fresh run. False when it came to its end before that call: threads of its own share the
// work, and how much each finds waiting differs a little from run to run.
bool Kill(const SmallRun& run, const std::vector<std::string>& command, std::size_t at) {
  run.Clear();
  const Outcome outcome = run.KilledAt(command, at);
  EXPECT_TRUE(outcome.signal == SIGKILL || outcome.code == 0) << outcome.Text();
  return outcome.signal == SIGKILL;
}

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// Kills at `count` of the calls that change something, kAll: at every one; at `least` different
// ones the run was really ended. `after` looks at what a kill left.
template <class After>
void KillEverywhere(const SmallRun& run, const std::vector<std::string>& command, std::size_t count,
                    const After& after, std::size_t least) {
  const Tree expected = run.Reference(command);
  const std::size_t changes = CountChanges(run.Operations(command));
  ASSERT_EQ(Difference(expected, run.Result()), "");
  ASSERT_GT(changes, 20U);
  std::size_t kills = 0;
  const std::vector<std::size_t> points = Spread(changes, count);
  for (const std::size_t at : points) {
    if (!Kill(run, command, at)) continue;
    ++kills;
    const std::string where = fmt::format("killed at change {} of {}", at, changes);
    after(where);
    ExpectResumes(run, command, expected, where);
    if (::testing::Test::HasFailure()) return;  // one is enough to look at
  }
  EXPECT_GE(kills, least);
}

const auto kNothing = [](const std::string&) {};

TEST(KillSlow, AKaldiDataDirWithNewIdsAndItsMap) {
  const SmallRun run(SmallRun::Corpus::kLargerKaldi);
  KillEverywhere(run, run.WithKey({"--new-ids", "--map-out", run.Made("map.tsv")}), kAll, kNothing,
                 200);
}

TEST(KillSlow, SegmentsOfRecordings) {
  const SmallRun run(SmallRun::Corpus::kSegments);
  KillEverywhere(run, run.WithKey(), kAll, kNothing, 100);
}

TEST(KillSlow, PipesNeverLeaveTheOriginalBehind) {
  const SmallRun run(SmallRun::Corpus::kPipes);
  KillEverywhere(
      run, run.WithKey({"--allow-pipes"}), kAll,
      [&](const std::string& where) { EXPECT_EQ(run.FindOriginal().value_or(""), "") << where; },
      100);
}

// The key comes from the system and is kept by --key-out: all that was released is of that key.
TEST(KillSlow, AKeyOfTheSystemStaysOneKey) {
  const SmallRun run(SmallRun::Corpus::kKaldi);
  const auto command = run.Command({"--new-ids", "--key-out", run.Made("key")});
  const std::size_t changes = CountChanges(run.Operations(command));
  for (const std::size_t at : Spread(changes, 60)) {
    if (!Kill(run, command, at)) continue;
    const std::string where = fmt::format("killed at change {} of {}", at, changes);
    const bool over = IsOver(run.Result());
    const Outcome resumed = Sotto(command);
    ASSERT_EQ(resumed.code, over ? 1 : 0) << where << "\n" << resumed.Text();
    for (const auto& [name, content] : run.Result()) {
      ASSERT_FALSE(name.ends_with(".part")) << name << " is left, " << where;
    }
    ASSERT_EQ(run.OfOtherKey("key", {"--new-ids"}), "") << where << "\n" << resumed.Text();
  }
}

// Nothing is resumed: the file is made again, and what a kill left beside it goes.
TEST(KillSlow, ASingleFile) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  const std::vector<std::string> command = {
      "anonymise", run.In("anna/2.wav"), run.Made("y.wav"), "--method", "mcadams",
      "--key",     run.At("key"),        "--force"};
  const Tree expected = run.Reference(command);
  const std::size_t changes = CountChanges(run.Operations(command));
  for (std::size_t at = 1; at <= changes; ++at) {
    if (!Kill(run, command, at)) continue;
    const Tree left = run.Result();
    ASSERT_TRUE(!left.contains("y.wav") || left.at("y.wav") == expected.at("y.wav")) << at;
    const Outcome again = Sotto(command);
    ASSERT_EQ(again.code, 0) << again.Text();
    ASSERT_EQ(Difference(expected, run.Result()), "") << "killed at change " << at;
  }
}

TEST(KillSlow, TwiceInOneRun) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  const auto command = run.WithKey();
  const Tree expected = run.Reference(command);
  const std::size_t changes = CountChanges(run.Operations(command));
  for (const std::size_t first : Spread(changes, 8)) {
    for (std::size_t second = 1; second < changes; second += 5) {
      if (!Kill(run, command, first)) break;
      const Outcome outcome = run.KilledAt(command, second);
      if (outcome.signal != SIGKILL) break;  // the resumed run had less to do
      ExpectResumes(run, command, expected,
                    fmt::format("killed at change {}, then at {}", first, second));
      if (HasFailure()) return;
    }
  }
}

// While a run is unfinished nobody else can read its work; afterwards nothing of it is left.
TEST(Kill, TheWorkFolderIsPrivateAndGoesAway) {
  const SmallRun run(SmallRun::Corpus::kKaldi);
  const auto command = run.Command({});
  const std::size_t changes = CountChanges(run.Operations(command));
  EXPECT_FALSE(fs::exists(run.Made("out/.sotto-work")));
  ASSERT_TRUE(Kill(run, command, changes / 2));
  const fs::path work = run.Made("out/.sotto-work");
  EXPECT_EQ(fs::status(work).permissions(), fs::perms::owner_all);
  const auto private_file = fs::perms::owner_read | fs::perms::owner_write;
  EXPECT_EQ(fs::status(work / "state").permissions(), private_file);
}

}  // namespace
}  // namespace sotto::testing
