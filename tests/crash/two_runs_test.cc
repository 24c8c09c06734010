// Two runs into one folder, one of them held at a chosen call: one goes on, the other says why it
// does not, and all that is released is of one key.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "base/files.h"
#include "small_run.h"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

class TwoRunsSlow : public ::testing::Test {
 protected:
  // A run that is held before its call number `at`, or not at all with 0.
  std::unique_ptr<Program> Start(const std::string& name, std::size_t at) const {
    if (at == 0) return std::make_unique<Program>(SottoWords(Command(name)));
    return StartHeld(name, kShimPause, std::to_string(at), Command(name));
  }
  std::unique_ptr<Program> StartHeld(const std::string& name, const char* setting,
                                     const std::string& where,
                                     const std::vector<std::string>& command) const {
    for (const char* file : {".paused", ".go"}) fs::remove(run_.At(name + file));
    return std::make_unique<Program>(SottoWords(command),
                                     run_.Watched({{setting, where},
                                                   {kShimPaused, run_.At(name + ".paused")},
                                                   {kShimGo, run_.At(name + ".go")}}));
  }
  std::vector<std::string> Command(const std::string& name) const {
    return run_.Command({"--new-ids", "--key-out", run_.Made("key-" + name)});
  }
  // Whether it came to the call before its end.
  bool WaitUntilHeld(const std::string& name, const Program& program) const {
    for (int i = 0; i < 10000; ++i) {
      if (fs::exists(run_.At(name + ".paused"))) return true;
      if (program.HasEnded()) return fs::exists(run_.At(name + ".paused"));
      ::usleep(1000);
    }
    return false;
  }
  void LetGo(const std::string& name) const { WriteFileAtomically(run_.At(name + ".go"), ""); }

  void ExpectOneGoesOn(const Outcome& a, const Outcome& b, const std::string& where) const {
    ASSERT_TRUE((a.code == 0 && b.code == 1) || (a.code == 1 && b.code == 0))
        << where << "\na: " << a.Text() << "\nb: " << b.Text();
    const Outcome& second = a.code == 0 ? b : a;
    EXPECT_TRUE(Has(second, "under way") || Has(second, "another run") ||
                Has(second, "is not empty"))
        << where << "\n"
        << second.Text();
    EXPECT_TRUE(second.err.starts_with("sotto: ")) << second.Text();
    EXPECT_FALSE(fs::exists(run_.Made("out/.sotto-work"))) << where;
    EXPECT_FALSE(fs::exists(run_.Made(a.code == 0 ? "key-b" : "key-a"))) << where;
    EXPECT_EQ(run_.OfOtherKey(a.code == 0 ? "key-a" : "key-b", {"--new-ids"}), "")
        << where << "\na: " << a.Text() << "\nb: " << b.Text();
  }

  // The numbers of the calls up to the first file that is released, when all is decided; then of
  // some later ones.
  std::vector<std::size_t> Points(std::size_t early, std::size_t late) const {
    run_.Clear();
    const auto operations = run_.Operations(Command("a"));
    std::size_t decided = 0;
    while (decided < operations.size() &&
           !operations[decided].path2.starts_with(run_.Made("out/wav"))) {
      ++decided;
    }
    std::vector<std::size_t> points = Spread(decided, early);
    for (const std::size_t point : Spread(operations.size() - decided, late)) {
      points.push_back(decided + point);
    }
    return points;
  }

  const SmallRun run_{SmallRun::Corpus::kKaldi};
};

TEST_F(TwoRunsSlow, TheSecondPassesWhileTheFirstIsHeld) {
  const auto points = Points(30, 12);
  std::size_t held = 0;
  for (const std::size_t at : points) {
    run_.Clear();
    const auto a = Start("a", at);
    // A run makes some calls more or fewer than the next: outputs that are ready together are
    // synced together.
    if (!WaitUntilHeld("a", *a)) {
      ASSERT_EQ(a->Wait().code, 0) << at;
      continue;
    }
    ++held;
    const Outcome b = Start("b", 0)->Wait();
    LetGo("a");
    ExpectOneGoesOn(a->Wait(), b, fmt::format("the first is held at call {}", at));
    if (HasFailure()) return;
  }
  EXPECT_GE(held + 3, points.size());
}

// Whoever looks into the folder while it goes away finds it not empty, and the run that made it so
// has succeeded.
TEST_F(TwoRunsSlow, TheSecondPassesWhileTheWorkFolderOfTheFirstGoes) {
  for (const char* file : {"/state", "/lock", ""}) {
    run_.Clear();
    const std::string goes = run_.Made("out/.sotto-work") + file;
    const auto a = StartHeld("a", kShimPauseRemoval, goes, Command("a"));
    ASSERT_TRUE(WaitUntilHeld("a", *a)) << goes;
    const Outcome b = Start("b", 0)->Wait();
    LetGo("a");
    const Outcome first = a->Wait();
    EXPECT_EQ(first.code, 0) << first.Text();
    ExpectOneGoesOn(first, b, "the first is held while it removes " + goes);
  }
}

// The second is held at each of its calls while the work folder of the first is still there.
TEST_F(TwoRunsSlow, TheWorkFolderOfTheFirstGoesWhileTheSecondLooks) {
  const std::string work = run_.Made("out/.sotto-work");
  bool held = true;
  std::size_t at = 1;
  for (; held && at <= 60; ++at) {
    run_.Clear();
    const auto a = StartHeld("a", kShimPauseRemoval, work, Command("a"));
    ASSERT_TRUE(WaitUntilHeld("a", *a));
    const auto b = Start("b", at);
    held = WaitUntilHeld("b", *b);
    LetGo("a");
    const Outcome first = a->Wait();
    LetGo("b");
    const Outcome second = b->Wait();
    EXPECT_EQ(first.code, 0) << first.Text();
    ExpectOneGoesOn(first, second, fmt::format("the second is held at call {}", at));
    if (HasFailure()) return;
  }
  EXPECT_FALSE(held);
  EXPECT_GE(at, 8U);
}

TEST_F(TwoRunsSlow, BothAreHeldAndLetGoInEitherOrder) {
  const auto points = Points(6, 1);
  for (const std::size_t first : points) {
    for (const std::size_t second : points) {
      run_.Clear();
      const auto a = Start("a", first);
      ASSERT_TRUE(WaitUntilHeld("a", *a)) << first;
      const auto b = Start("b", second);
      // It may have been refused before it came so far.
      std::optional<Outcome> b_ended;
      for (int i = 0; i < 10000 && !fs::exists(run_.At("b.paused")) && !b_ended; ++i) {
        if (b->HasEnded()) b_ended = b->Wait();
        ::usleep(1000);
      }
      const bool a_first = (first + second) % 2 == 0;
      std::optional<Outcome> a_ended;
      if (a_first) {
        LetGo("a");
        a_ended = a->Wait();
      }
      LetGo("b");
      if (!b_ended) b_ended = b->Wait();
      LetGo("a");
      if (!a_ended) a_ended = a->Wait();
      ExpectOneGoesOn(*a_ended, *b_ended,
                      fmt::format("held at calls {} and {}, {} is let go first", first, second,
                                  a_first ? "a" : "b"));
      if (HasFailure()) return;
    }
  }
}

// An unfinished run is taken up by one of two.
TEST_F(TwoRunsSlow, TakingUpAnUnfinishedRun) {
  const auto command = run_.WithKey();
  const Tree expected = run_.Reference(command);
  const std::size_t changes = CountChanges(run_.Operations(command));
  run_.Clear();
  run_.KilledAt(command, changes / 2);
  const Tree unfinished = run_.Result();
  for (std::size_t at = 1; at <= 20; ++at) {
    WriteTree(run_.Made(), unfinished);
    const auto a = StartHeld("a", kShimPause, std::to_string(at), command);
    ASSERT_TRUE(WaitUntilHeld("a", *a)) << at;
    const Outcome b = Sotto(command);
    LetGo("a");
    const Outcome first = a->Wait();
    ASSERT_EQ(first.code + b.code, 1) << at << "\na: " << first.Text() << "\nb: " << b.Text();
    ASSERT_EQ(Difference(expected, run_.Result()), "") << at;
  }
}

}  // namespace
}  // namespace sotto::testing
