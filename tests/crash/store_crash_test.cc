// A store of one-time material is killed at each of its changes, or finds the disk full, or the
// power goes after any of its operations. It opens again, what was added durably is there, and no
// piece comes out that came out before.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "disk.h"
#include "store_walk.h"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using Kind = StoreStep::Kind;

// A run of store_walk in a watched folder.
class Walk {
 public:
  Walk() {
    // The shim looks after programs of this name.
    fs::create_symlink(SOTTO_STORE_WALK, folder_ / "sotto");
    Clear();
  }
  std::string Made() const { return folder_ / "made"; }
  void Clear() const {
    fs::remove_all(Made());
    fs::create_directory(Made());
  }
  Outcome Run(const char* setting, const std::string& value) const {
    return Program({folder_ / "sotto", Made()},
                   {{"LD_PRELOAD", SOTTO_FILE_SHIM}, {kShimRoot, Made()}, {setting, value}})
        .Wait();
  }
  std::vector<FileOperation> Operations() const {
    const Outcome outcome = Run(kShimLog, folder_ / "log");
    if (outcome.code != 0) throw std::runtime_error(outcome.Text());
    return ReadFileLog(folder_ / "log");
  }

 private:
  QuickFolder folder_;
};

// A segment as the steps that have returned left it, and what the step after them, which may have
// been under way, may have made of it.
struct Expected {
  std::size_t added = 0;         // by this step
  std::uint32_t pieces = 0;      // 0: the segment must not be there
  std::uint32_t spent = 0;       // at least
  std::uint32_t most_spent = 0;  // at most
  bool may_be_absent = false;
};

std::map<std::uint8_t, Expected> ExpectedAfter(std::size_t done) {
  std::map<std::uint8_t, Expected> expected;
  for (std::size_t step = 0; step < std::min(done + 1, StoreSteps().size()); ++step) {
    const auto& [kind, segment, first, count] = StoreSteps()[step];
    const bool under_way = step == done;
    switch (kind) {
      case Kind::kAdd:
        // What fails is taken back, as far as the disk allows.
        expected[segment] = {step, count, 0, under_way ? count : 0, under_way};
        break;
      case Kind::kClaim:
        expected[segment].most_spent = first + count;
        if (!under_way) expected[segment].spent = first + count;
        break;
      case Kind::kDrop:
      case Kind::kDestroy:
        for (auto& [number, state] : expected) {
          if (kind == Kind::kDrop && number != segment) continue;
          state.most_spent = state.pieces;
          if (!under_way) state.spent = state.pieces;
        }
        break;
    }
  }
  for (auto& [number, state] : expected) {
    state.may_be_absent = state.may_be_absent || state.most_spent == state.pieces;
    if (state.spent == state.pieces) state.pieces = 0;
  }
  return expected;
}

// Opens what is left after `done` steps and asks for all that was ever there.
void ExpectNothingTwice(const std::string& folder, std::size_t done, const std::string& where) {
  SCOPED_TRACE(fmt::format("{}, {} of {} steps done", where, done, StoreSteps().size()));
  std::optional<MaterialStore> store;
  ASSERT_NO_THROW(store.emplace(WalkStore(folder), kWalkModel, kWalkCapacity));
  std::map<SegmentId, SegmentState> found;
  for (const SegmentState& state : store->Segments()) found[state.id] = state;
  for (const auto& [number, expected] : ExpectedAfter(done)) {
    SCOPED_TRACE(fmt::format("segment {}", number));
    const SegmentId id = WalkSegment(number);
    const auto state = found.find(id);
    if (state == found.end()) {
      EXPECT_TRUE(expected.pieces == 0 || expected.may_be_absent);
    } else {
      EXPECT_EQ(state->second.pieces, expected.pieces);
      EXPECT_GE(state->second.spent, expected.spent);
      EXPECT_LE(state->second.spent, expected.most_spent);
    }
    for (std::uint32_t i = 0; i < 10; ++i) {
      std::vector<SecretBytes> pieces;
      try {
        pieces = store->Claim(id, i, 1);
      } catch (const Error&) {
        // A key that was overwritten by half is of no use, as one that was whole.
        EXPECT_TRUE(i < expected.most_spent || i >= expected.pieces || expected.may_be_absent) << i;
        continue;
      }
      EXPECT_TRUE(i >= expected.spent && i < expected.pieces) << i << " came out twice";
      EXPECT_EQ(pieces, std::vector<SecretBytes>{WalkPiece(expected.added, i)}) << i;
    }
    found.erase(id);
  }
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(store->Unspent(), 0U);
  // Nothing else is left, and there is room for new material.
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(WalkStore(folder))) {
    names.insert(entry.path().filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"lock", "model"}));
  const std::vector<SecretBytes> more(kWalkCapacity, SecretBytes(1));
  EXPECT_NO_THROW(store->Add(WalkSegment(9), more));
}

std::size_t StepsDone(const std::string& folder) {
  std::size_t done = 0;
  while (fs::exists(WalkMark(folder, done))) ++done;
  return done;
}

TEST(StoreCrash, KilledAtAnyChangeNothingComesOutTwice) {
  const Walk walk;
  const auto operations = walk.Operations();
  const std::size_t changes = CountChanges(operations);
  ASSERT_EQ(StepsDone(walk.Made()), StoreSteps().size());
  ASSERT_GT(changes, 90U);
  std::set<std::size_t> seen;
  for (std::size_t at = 1; at <= changes; ++at) {
    walk.Clear();
    const Outcome outcome = walk.Run(kShimKill, std::to_string(at));
    ASSERT_EQ(outcome.signal, SIGKILL) << outcome.Text();
    const std::size_t done = StepsDone(walk.Made());
    seen.insert(done);
    ExpectNothingTwice(walk.Made(), done, fmt::format("killed at change {} of {}", at, changes));
    if (HasFailure()) return;  // one is enough to look at
  }
  EXPECT_EQ(seen.size(), StoreSteps().size());
}

TEST(StoreCrash, OnADiskThatFailsFromAnyChangeOnNothingComesOutTwice) {
  const Walk walk;
  const std::size_t changes = CountChanges(walk.Operations());
  std::set<std::size_t> seen;
  for (std::size_t at = 1; at <= changes; ++at) {
    walk.Clear();
    const Outcome outcome = walk.Run(kShimFull, std::to_string(at));
    const std::size_t done = StepsDone(walk.Made());
    ASSERT_EQ(outcome.signal, 0) << outcome.Text();
    // What is not kept is said.
    EXPECT_EQ(outcome.code, done == StoreSteps().size() ? 0 : 1) << outcome.Text();
    seen.insert(done);
    ExpectNothingTwice(walk.Made(), done, fmt::format("full at change {} of {}", at, changes));
    if (HasFailure()) return;
  }
  EXPECT_EQ(seen.size(), StoreSteps().size() + 1);
}

// Of a run that is over there are only the marks left: so each state in between is compared with
// what a run leaves that is killed there.
TEST(StoreCrash, TheShimSeesEveryChange) {
  const Walk walk;
  const auto operations = walk.Operations();
  const Disk disk(operations, walk.Made());
  SeededRng rng(22);
  std::size_t change = 0;
  for (std::size_t n = 0; n < operations.size(); ++n) {
    if (CountChanges({operations[n]}) == 0) continue;
    ++change;
    // A write is done by half at a kill; other changes not at all.
    if (operations[n].call == FileCall::kWrite || change % 3 != 0) continue;
    walk.Clear();
    ASSERT_EQ(walk.Run(kShimKill, std::to_string(change)).signal, SIGKILL);
    const auto names_and_sizes = [](const Tree& tree) {
      Tree facts;  // temporary names and keys are drawn anew in each run
      for (const auto& [name, content] : tree) {
        const bool temporary = name.ends_with(".part");
        facts[temporary ? "part" : name] = std::to_string(content.size());
      }
      return facts;
    };
    EXPECT_EQ(Difference(names_and_sizes(disk.After(n, Loss::kNothing, rng)),
                         names_and_sizes(ReadTree(walk.Made()))),
              "")
        << change;
  }
}

void CutThePower(Loss loss, std::size_t rounds = 1) {
  const Walk walk;
  const auto operations = walk.Operations();
  const Disk disk(operations, walk.Made());
  SeededRng rng(22);
  std::set<Tree> seen;
  std::size_t done = 0;
  for (std::size_t n = 1; n <= operations.size(); ++n) {
    // Steps that had returned, whatever became of their marks on the disk.
    if (operations[n - 1].path == WalkMark(walk.Made(), done)) ++done;
    for (std::size_t round = 0; round < rounds; ++round) {
      const Tree left = disk.After(n, loss, rng);
      WriteTree(walk.Made(), left);
      seen.insert(left);
      ExpectNothingTwice(walk.Made(), done,
                         fmt::format("the power goes after operation {} of {}", n, disk.Size()));
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(done, StoreSteps().size());
  EXPECT_GT(seen.size(), 20U);
}

TEST(StorePowerLoss, TheSystemGoesOn) { CutThePower(Loss::kNothing); }

TEST(StorePowerLoss, AllThatWasNotSyncedIsLost) { CutThePower(Loss::kAll); }

TEST(StorePowerLoss, NamesStayAndTheirBytesAreZeros) { CutThePower(Loss::kBytesZeroed); }

TEST(StorePowerLoss, NamesStayAndFilesAreCut) { CutThePower(Loss::kBytesCut); }

TEST(StorePowerLoss, TheLastNamesAreLost) { CutThePower(Loss::kRecent, 10); }

TEST(StorePowerLoss, ByTheTossOfACoin) { CutThePower(Loss::kAnything, 10); }

}  // namespace
}  // namespace sotto::testing
