// What parties do where their disks take nothing any more: they refuse with the reason `storage`,
// leave nothing half done, and go on as soon as there is room. And no secret reaches a disk because
// a party fell over.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <iterator>

#include "privasp/service_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Eventually;
using testing::ExpectPlainAnswers;
using testing::LocalParties;
using testing::ReasonOf;
using testing::SmallLimits;
using testing::SmallSpoofModel;
using testing::SomeInputs;

// While it lives no file of this process can be written beyond `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

// Room for a key that is overwritten, and for no segment, model or mask.
constexpr rlim_t kFull = 1000, kFullForMasks = 40;

std::ptrdiff_t FilesIn(const fs::path& folder) {
  const fs::directory_iterator files(folder);
  return std::distance(begin(files), end(files));
}

// One after the other, as soon as there is something in stock.
void ExpectAnswers(const LocalParties& parties, const SpoofModel& model, std::uint64_t queries) {
  SecureClient client(parties.Config(Role::kClient), "small");
  for (std::uint64_t seed = 0; seed < queries; ++seed) {
    std::string reason;
    EXPECT_TRUE(Eventually([&] {
      reason = ReasonOf([&] { ExpectPlainAnswers(client, model, SomeInputs(model, 1, seed)); });
      return reason != "stock" && reason != "storage";
    })) << reason;
    EXPECT_EQ(reason, "");
  }
}

TEST(FullDisks, TakeNoMaterialAndQueriesGoOn) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 56; }));
  {
    const FullDisk full(kFull);
    ExpectAnswers(parties, model, 30);
    for (const std::size_t p : {0, 1}) {
      EXPECT_TRUE(Eventually([&] { return parties.Count(p, "storage") > 0; }));
    }
  }
  ExpectAnswers(parties, model, 60);
}

TEST(FullDisks, TakeNoModel) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kPublicModel).active);
  for (const Scenario scenario : {Scenario::kPublicModel, Scenario::kSharedModel}) {
    const FullDisk full(kFull);
    EXPECT_EQ(ReasonOf([&] { parties.Load(model, "more", scenario); }), "storage");
    EXPECT_EQ(FilesIn(parties.State(0) / "models"), 1);
  }
  EXPECT_GE(parties.Count(0, "storage"), 2U);  // the dealer may have come too
  ExpectAnswers(parties, model, 1);
  EXPECT_TRUE(parties.Load(model, "more", Scenario::kSharedModel).active);
}

TEST(FullDisks, OfADealerKeepItFromDealing) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties(SmallLimits(), /*with_dealer=*/false);
  const LoadedModel loaded = parties.Load(model, "small", Scenario::kSharedModel, 0.0);
  {
    const FullDisk full(kFullForMasks);
    parties.StartDealer();
    // It comes back to it every half a second.
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    EXPECT_EQ(parties.TheDealer().Delivered(), 0U);
    EXPECT_EQ(FilesIn(parties.Config(Role::kDealer).state), 0);
    // Nor has a server masks that the dealer would have forgotten at its next start.
    for (const std::size_t p : {0, 1}) {
      EXPECT_FALSE(fs::exists(parties.State(p) / "models" / loaded.id / "masks"));
    }
  }
  EXPECT_TRUE(Eventually([&] { return parties.Stored("small") > 0; }));
  ExpectAnswers(parties, model, 3);
}

TEST(FullDisks, OfServersTakeTheMasksLater) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  const LoadedModel loaded = parties.Load(model, "small", Scenario::kSharedModel);
  ASSERT_TRUE(loaded.active);
  parties.StopDealer();
  for (const std::size_t p : {0, 1}) {
    parties.StopServer(p);
    for (const char* name : {"masks", "opened"}) {
      EXPECT_TRUE(fs::remove(parties.State(p) / "models" / loaded.id / name));
    }
    parties.StartServer(p);
  }
  {
    const FullDisk full(kFullForMasks);
    parties.StartDealer();
    EXPECT_TRUE(Eventually([&] { return parties.Count(0, "storage") > 1; }));
    EXPECT_EQ(parties.Model(0, "small")["state"], "waiting");
  }
  EXPECT_TRUE(Eventually([&] {
    return parties.Model(0, "small")["state"] == "active" &&
           parties.Model(1, "small")["state"] == "active";
  }));
  ExpectAnswers(parties, model, 3);
}

// A key that cannot be overwritten is not used, and what was in memory serves.
TEST(FullDisks, ThatForgetNothingGiveNothingOut) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  ASSERT_TRUE(Eventually([&] { return parties.Model(0, "small")["ready"] >= 16; }));
  SecureClient client = parties.ClientOf("small");
  {
    const FullDisk full(0);
    std::string reason;
    for (std::uint64_t seed = 0; reason.empty(); ++seed) {
      ASSERT_LT(seed, 100U);
      reason = ReasonOf([&] { ExpectPlainAnswers(client, model, SomeInputs(model, 1, seed)); });
    }
    EXPECT_EQ(reason, "storage");
    EXPECT_GT(parties.Count(0, "storage"), 0U);
  }
  ExpectAnswers(parties, model, 40);
}

TEST(Parties, LeaveNoCoreDumps) {
  const int before = ::prctl(PR_GET_DUMPABLE);
  {
    LocalParties parties;
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 0);
  }
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), before);
}

}  // namespace
}  // namespace sotto
