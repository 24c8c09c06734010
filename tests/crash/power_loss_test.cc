// The power goes at any moment of a run, and with it what was not synced. The same command again
// gives what an uninterrupted run gives; never is a damaged release called complete.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "disk.h"

namespace sotto::testing {
namespace {

Tree Release(Tree tree) {
  std::erase_if(tree, [](const auto& item) { return item.first.starts_with("out/.sotto-work"); });
  return tree;
}

// Every distinct state of the disk under `loss`; `rounds` of them at each operation where chance
// decides.
void CutThePower(const SmallRun& run, const std::vector<std::string>& command, Loss loss,
                 std::size_t rounds = 1) {
  const Tree expected = run.Reference(command);
  // OUT is there from the start: else all that is not synced above it hides what is below.
  std::filesystem::create_directory(run.Made("out"));
  const Disk disk(run.Operations(command), run.At("made"), {run.Made("out")});
  SeededRng rng(20);
  std::set<Tree> seen;
  std::size_t resumed = 0, refused = 0;
  for (std::size_t i = 0; i < rounds * disk.Size(); ++i) {
    const std::size_t n = 1 + i / rounds;
    const Tree left = disk.After(n, loss, rng);
    if (!seen.insert(left).second) continue;
    const std::string where =
        fmt::format("the power goes after operation {} of {}", n, disk.Size());
    if (SaysComplete(left)) {
      ASSERT_EQ(Difference(expected, Release(left)), "") << where << ": called complete";
    }
    WriteTree(run.Made(), left);
    const bool over = IsOver(left);
    const Outcome outcome = Sotto(command);
    const Tree result = run.Result();
    if (outcome.code == 0) {
      ASSERT_EQ(Difference(expected, result), "") << where << "\n" << outcome.Text();
      ++resumed;
      continue;
    }
    // A clear line is the other thing allowed; what it leaves is not called complete, or is.
    ASSERT_EQ(outcome.code, 1) << where << "\n" << outcome.Text();
    ASSERT_TRUE(outcome.err.starts_with("sotto: ")) << where << "\n" << outcome.Text();
    ASSERT_TRUE(!SaysComplete(result) || Difference(expected, Release(result)).empty()) << where;
    // Only names that came back in an order of their own are beyond a run's own repair.
    ASSERT_TRUE(over || loss == Loss::kAll || loss == Loss::kAnything)
        << where << "\n"
        << outcome.Text() << Difference({}, left);
    refused += over ? 0 : 1;
  }
  EXPECT_GT(resumed, 3U);
  EXPECT_LE(10 * refused, resumed) << refused << " of " << resumed + refused << " refused";
}

std::vector<std::string> Everything(const SmallRun& run) {
  return run.WithKey({"--new-ids", "--map-out", run.Made("map.tsv")});
}

TEST(PowerLoss, TheShimSeesEveryChange) {
  for (const auto corpus : {SmallRun::Corpus::kKaldi, SmallRun::Corpus::kSegments,
                            SmallRun::Corpus::kPipes, SmallRun::Corpus::kFolder}) {
    const SmallRun run(corpus);
    const Disk disk(run.Operations(run.WithKey({"--allow-pipes"})), run.At("made"));
    SeededRng rng(20);
    EXPECT_EQ(Difference(run.Result(), disk.After(disk.Size(), Loss::kNothing, rng)), "");
  }
}

// Once the program says that it is done, nothing of the release can be lost any more.
TEST(PowerLoss, ACompleteRunIsOnTheDisk) {
  for (const auto corpus : {SmallRun::Corpus::kKaldi, SmallRun::Corpus::kFolder}) {
    const SmallRun run(corpus);
    for (const auto& command : {Everything(run), run.WithKey()}) {
      const Tree expected = run.Reference(command);
      const Disk disk(run.Operations(command), run.At("made"));
      SeededRng rng(20);
      EXPECT_EQ(Difference(expected, Release(disk.After(disk.Size(), Loss::kAll, rng))), "");
    }
  }
}

TEST(PowerLossSlow, AllThatWasNotSyncedIsLost) {
  const SmallRun run(SmallRun::Corpus::kKaldi);
  CutThePower(run, Everything(run), Loss::kAll);
}

TEST(PowerLossSlow, NamesStayAndTheirBytesAreZeros) {
  const SmallRun run(SmallRun::Corpus::kKaldi);
  CutThePower(run, Everything(run), Loss::kBytesZeroed);
}

TEST(PowerLossSlow, NamesStayAndFilesAreCut) {
  const SmallRun run(SmallRun::Corpus::kSegments);
  CutThePower(run, run.WithKey(), Loss::kBytesCut);
}

TEST(PowerLossSlow, TheLastNamesAreLost) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  CutThePower(run, run.WithKey(), Loss::kRecent, 2);
}

TEST(PowerLossSlow, ByTheTossOfACoin) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  CutThePower(run, run.WithKey(), Loss::kAnything, 2);
}

// The only copy of a key of the system is in the state: it is there before anything is released.
TEST(PowerLossSlow, AKeyOfTheSystemStaysOneKey) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  const auto command = run.Command({"--key-out", run.Made("key")});
  const Disk disk(run.Operations(command), run.At("made"));
  SeededRng rng(21);
  for (const Loss loss : {Loss::kBytesZeroed, Loss::kRecent}) {
    for (const std::size_t n : Spread(disk.Size(), 40)) {
      const std::string where = fmt::format("after operation {} of {}", n, disk.Size());
      const Tree left = disk.After(n, loss, rng);
      WriteTree(run.Made(), left);
      const Outcome outcome = Sotto(command);
      const Tree result = run.Result();
      if (outcome.code == 0 || SaysComplete(result)) {
        ASSERT_EQ(run.OfOtherKey("key", {}), "") << where << "\n" << outcome.Text();
      }
      const bool over = IsOver(left);
      ASSERT_TRUE(outcome.code == 0 || over) << where << "\n"
                                             << outcome.Text() << Difference({}, left);
    }
  }
}

}  // namespace
}  // namespace sotto::testing
