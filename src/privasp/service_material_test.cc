// One-time material, whatever happens to dealer, servers and their disks: nothing is given out
// twice, no score is wrong, and what is lacking is said.
#include <gtest/gtest.h>

#include <set>

#include "privasp/service_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Eventually;
using testing::ExpectPlain;
using testing::ExpectPlainAnswers;
using testing::ExpectRefused;
using testing::LocalParties;
using testing::ReasonOf;
using testing::SmallLimits;
using testing::SmallSpoofModel;
using testing::SomeInputs;

// Queries whose ids are looked at.
class Asker {
 public:
  Asker(const LocalParties& parties, const SpoofModel& model, std::string name)
      : parties_(parties), model_(model), name_(std::move(name)) {}

  // `queries` that are answered, rightly and each under an id that was never used before; or
  // refused for one of `reasons` until then.
  void Ask(std::size_t queries, const std::set<std::string>& reasons = {"stock"}) {
    const Deadline deadline = After(30.0);
    while (queries > 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      try {
        SecureClient client(parties_.Config(Role::kClient), name_);
        const auto x = SomeInputs(model_, 1, ++seed_);
        const auto reservations = client.Reserve(1);
        EXPECT_TRUE(used_.insert(reservations[0].ids[0]).second) << "an id was given out again";
        ExpectPlain(client.Ask(reservations, x), model_, x);
        --queries;
      } catch (const Refused& refused) {
        ASSERT_TRUE(reasons.contains(ReasonName(refused.Why()))) << refused.what();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }
  // Ids that are reserved and never asked for.
  void Abandon(std::uint32_t count) {
    SecureClient client(parties_.Config(Role::kClient), name_);
    const auto reservations = client.Reserve(count);
    for (const QueryId& id : reservations[0].ids) EXPECT_TRUE(used_.insert(id).second);
  }
  std::size_t Used() const { return used_.size(); }

 private:
  const LocalParties& parties_;
  const SpoofModel& model_;
  std::string name_;
  std::set<QueryId> used_;
  std::uint64_t seed_ = 0;
};

// Each start burns what is in memory.
ServiceLimits LittleInMemory() {
  ServiceLimits limits = SmallLimits();
  limits.ready = 1;
  return limits;
}

const std::set<std::string> kWhileTheyMeet = {"stock", "model", "peer"};

// How many queries are answered until none is in stock.
std::size_t AskUntilRefused(SecureClient& client, const SpoofModel& model) {
  for (std::size_t asked = 0;; ++asked) {
    const auto x = SomeInputs(model, 1, asked);
    const std::string reason = ReasonOf([&] { ExpectPlainAnswers(client, model, x); });
    if (reason.empty()) continue;
    EXPECT_EQ(reason, "stock");
    return asked;
  }
}

TEST(Material, RunsOutAndComesAgain) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.stock = 16;
  limits.ready = 4;
  limits.quota_per_hour = 100;
  LocalParties parties(limits);
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 16; }));
  parties.StopDealer();
  Asker asker(parties, model, "small");
  SecureClient client = parties.ClientOf("small");
  EXPECT_GE(AskUntilRefused(client, model), 16U);
  for (int i = 0; i < 5; ++i) ExpectRefused(parties, 0, "stock", [&] { client.Reserve(1); });
  EXPECT_EQ(parties.Stored("small"), 0U);
  parties.StartDealer();
  asker.Ask(60);  // and nothing of the quota went with what was refused
}

TEST(Material, ADealerThatStartsAgainGoesOn) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.stock = 16;
  LocalParties parties(limits);
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  parties.StopDealer();
  parties.StartDealer();
  Asker(parties, model, "small").Ask(40);
}

TEST(Material, ADealerThatLostItsMasksDealsNothing) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.stock = 16;
  LocalParties parties(limits);
  ASSERT_TRUE(parties.Load(model, "lost", Scenario::kSharedModel).active);
  ASSERT_TRUE(parties.Load(model, "open", Scenario::kPublicModel).active);
  ASSERT_TRUE(
      Eventually([&] { return parties.Stored("lost") >= 16 && parties.Stored("open") >= 16; }));
  parties.StopDealer();
  fs::remove_all(parties.Config(Role::kDealer).state);
  ::testing::internal::CaptureStderr();
  parties.StartDealer();
  // What was dealt before is good; what is left of it goes down to nothing.
  SecureClient client = parties.ClientOf("lost");
  EXPECT_GE(AskUntilRefused(client, model), 16U);
  // The other model is dealt for meanwhile.
  Asker(parties, model, "open").Ask(40);
  ExpectRefused(parties, 0, "stock", [&] { client.Reserve(1); });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("masks of a model that this dealer does not: load it anew"),
            std::string::npos)
      << said;
  // A model that is loaded anew takes its place.
  ASSERT_TRUE(parties.Load(model, "lost", Scenario::kSharedModel).active);
  Asker(parties, model, "lost").Ask(20);
}

TEST(Material, ADealerWithAnothersMasksDealsNothing) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.stock = 16;
  LocalParties parties(limits);
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  parties.StopDealer();
  const ModelCard card = parties.ClientOf("small").Offer().card;
  Dealer other;
  other.AddModel(card);
  const auto masks = other.Masks(card.id);
  SecretBytes bytes = masks[0].Serialise();
  const SecretBytes second = masks[1].Serialise();
  bytes.insert(bytes.end(), second.begin(), second.end());
  for (const auto& file : fs::directory_iterator(parties.Config(Role::kDealer).state)) {
    WriteFileAtomically(file.path(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  ::testing::internal::CaptureStderr();
  parties.StartDealer();
  SecureClient client = parties.ClientOf("small");
  AskUntilRefused(client, model);
  EXPECT_EQ(parties.TheDealer().Delivered(), 0U);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("other masks of a model"),
            std::string::npos);
}

TEST(Material, TheDealerForgetsWhatNoServerHas) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.stock = 16;
  limits.forget_s = 0.4;
  LocalParties parties(limits);
  const fs::path state = parties.Config(Role::kDealer).state;
  const auto path = [&](const LoadedModel& loaded) { return state / (loaded.id + ".masks"); };
  const auto masks = [&](const LoadedModel& loaded) { return fs::exists(path(loaded)); };
  const LoadedModel kept = parties.Load(model, "kept", Scenario::kSharedModel);
  const LoadedModel gone = parties.Load(model, "gone", Scenario::kSharedModel);
  const LoadedModel later = parties.Load(model, "later", Scenario::kSharedModel);
  ASSERT_TRUE(kept.active && gone.active && later.active);
  ASSERT_TRUE(masks(kept) && masks(gone) && masks(later));
  const fs::path kept_name = parties.Folder() / "same-file";
  fs::create_hard_link(path(gone), kept_name);
  RetireModelAtServers(parties.Config(Role::kProvider), "gone");
  EXPECT_TRUE(Eventually([&] { return !masks(gone); }));
  const std::string left = ReadTextFile(kept_name);
  EXPECT_TRUE(!left.empty() && left == std::string(left.size(), '\0'));
  // Not while a server is away, which may have it.
  for (const std::size_t p : {0, 1}) parties.StopServer(p);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_TRUE(masks(kept));
  for (const std::size_t p : {0, 1}) parties.StartServer(p);
  Asker(parties, model, "kept").Ask(20, kWhileTheyMeet);
  // Also what it never dealt for since it was started.
  parties.StopDealer();
  RetireModelAtServers(parties.Config(Role::kProvider), "later");
  for (const std::size_t p : {0, 1}) {
    ASSERT_TRUE(Eventually([&] { return parties.Model(p, "later").is_null(); }));
  }
  parties.StartDealer();
  EXPECT_TRUE(Eventually([&] { return !masks(later); }));
  Asker(parties, model, "kept").Ask(20);
  EXPECT_TRUE(masks(kept));
}

class Restarts : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, Restarts,
                         ::testing::Combine(::testing::Values(Scenario::kPublicModel,
                                                              Scenario::kSharedModel),
                                            ::testing::Bool()));

TEST_P(Restarts, AServerGoesOnWithWhatIsOnItsDisk) {
  const auto [scenario, decision_only] = GetParam();
  SpoofModel model = SmallSpoofModel();
  model.net.decision_only = decision_only;
  LocalParties parties(LittleInMemory());
  ASSERT_TRUE(parties.Load(model, "small", scenario).active);
  ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 56; }));
  parties.StopDealer();
  Asker asker(parties, model, "small");
  asker.Ask(3);
  for (const std::size_t p : {1, 0}) {
    asker.Abandon(2);
    parties.StopServer(p);
    EXPECT_THROW(parties.ClientOf("small"), Error);
    parties.StartServer(p);
    asker.Ask(3, kWhileTheyMeet);
  }
  parties.StopServer(0);
  parties.StopServer(1);
  parties.StartServer(1);
  parties.StartServer(0);
  asker.Ask(3, kWhileTheyMeet);
}

TEST(Material, AStoreThatWasCopiedBackFromBeforeGivesNothingTwice) {
  const SpoofModel model = SmallSpoofModel();
  for (const std::size_t p : {0, 1}) {
    LocalParties parties(LittleInMemory());
    ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
    ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 56; }));
    parties.StopDealer();  // nothing is new below
    Asker asker(parties, model, "small");
    asker.Ask(2);
    parties.StopServer(p);
    const fs::path state = parties.State(p), before = parties.Folder() / "before";
    fs::copy(state, before, fs::copy_options::recursive);
    parties.StartServer(p);
    asker.Ask(5, kWhileTheyMeet);
    asker.Abandon(7);
    asker.Ask(5, {"stock"});
    parties.StopServer(p);
    fs::remove_all(state);
    fs::rename(before, state);
    parties.StartServer(p);
    asker.Ask(5, kWhileTheyMeet);
    EXPECT_EQ(asker.Used(), 24U);
    SecureClient client = parties.ClientOf("small");
    AskUntilRefused(client, model);
  }
}

TEST(Material, WhatNobodyAsksForGoesFromTheMemoryOfBothServers) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.reservation_s = 0.2;
  limits.query_s = 0.2;
  LocalParties parties(limits);
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kPublicModel).active);
  ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 56; }));
  const PartyConfig config = parties.Config(Role::kClient);
  const TlsParty party(config.files);
  Conversation first(party, config, Role::kFirstServer);
  SecureClient client = parties.ClientOf("small");
  const AskReservationMessage question{client.Offer().card.id, client.Offer().fingerprint, 8, {}};
  // The second server is never asked, and the first gets an input for some of them.
  const auto kept = first.Ask<ReservationMessage>(question);
  for (int i = 0; i < 3; ++i) first.Ask<ReservationMessage>(question);
  const auto inputs = Client(client.Offer().card).Ask({kept, kept}, SomeInputs(model, 8, 1));
  EXPECT_EQ(ReasonOf([&] { first.Ask<ResultMessage>(inputs[0]); }), "peer");
  EXPECT_TRUE(Eventually([&] {
    return parties.Count(0, "reservations_burnt") == 24 &&
           parties.Model(0, "small")["ready"] == parties.Model(1, "small")["ready"];
  })) << parties.Model(0, "small")
      << parties.Model(1, "small");
  ExpectPlainAnswers(client, model, SomeInputs(model, 1, 1));
}

// As a dealer that is at fault would send: the first server's halves cannot be used.
TEST(Material, WhatOneServerCannotUseGoesFromTheMemoryOfBoth) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.stock = 24;
  limits.ready = 16;
  LocalParties parties(limits, /*with_dealer=*/false);
  ASSERT_FALSE(parties.Load(model, "small", Scenario::kPublicModel, 0.1).active);
  ASSERT_TRUE(Eventually([&] {
    return parties.Model(0, "small")["state"] == "active" &&
           parties.Model(1, "small")["state"] == "active";
  }));
  const PartyConfig config = parties.Config(Role::kDealer);
  const TlsParty party(config.files);
  std::array lines = {Conversation(party, config, Role::kFirstServer),
                      Conversation(party, config, Role::kSecondServer)};
  const ModelCard card = parties.ClientOf("small").Offer().card;
  Dealer dealer;
  dealer.AddModel(card);
  const auto send = [&](std::uint8_t id, bool damaged) {
    std::array<SegmentMessage, 2> halves = {SegmentMessage{{id}, card.id, {}},
                                            SegmentMessage{{id}, card.id, {}}};
    for (auto& dealt : dealer.Deal(card.id, 8)) {
      if (damaged) dealt[0].model = {1};
      for (std::size_t p = 0; p < 2; ++p) halves[p].pieces.push_back(dealt[p].Serialise());
    }
    for (std::size_t p = 0; p < 2; ++p) lines[p].Ask<AcceptedMessage>(halves[p]);
  };
  send(1, true);
  send(2, false);
  Asker(parties, model, "small").Ask(8);  // all of the second segment, which comes after the first
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(Eventually([&] { return parties.Model(p, "small")["ready"] == 0; }, 5.0))
        << parties.Model(p, "small");
  }
}

TEST(Material, NoClientHoldsTheStockNorDoAllOfThemTheMemory) {
  static_assert(ServiceLimits{}.reserved >= kMaxBatch &&
                2 * ServiceLimits{}.reserved <= ServiceLimits{}.stock &&
                ServiceLimits{}.reserved < ServiceLimits{}.reserved_total);
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.reserved = 8;
  limits.reserved_total = 12;
  LocalParties parties(limits);
  for (const char* name : {"one", "two"}) {
    ASSERT_TRUE(parties.Load(model, name, Scenario::kPublicModel).active);
    ASSERT_TRUE(Eventually([&] { return parties.Stored(name) >= 40; }));
  }
  SecureClient client = parties.ClientOf("one"), again = parties.ClientOf("two"),
               other(parties.AddClient("other"), "two");
  const auto some = client.Reserve(4);
  again.Reserve(4);
  // Of all models together.
  ExpectRefused(parties, 0, "busy", [&] { again.Reserve(1); });
  ExpectRefused(parties, 0, "busy", [&] { other.Reserve(5); });
  other.Reserve(4);
  ExpectRefused(parties, 0, "busy", [&] { other.Reserve(1); });
  const auto x = SomeInputs(model, 4, 1);
  ExpectPlain(client.Ask(some, x), model, x);
  other.Reserve(4);  // what is answered is held no longer
  ExpectRefused(parties, 0, "busy", [&] { client.Reserve(1); });
}

TEST(Material, AReservationHasItsTime) {
  const SpoofModel model = SmallSpoofModel();
  ServiceLimits limits = SmallLimits();
  limits.reservation_s = 0.05;
  limits.reserved = 8;
  LocalParties parties(limits);
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  SecureClient client = parties.ClientOf("small");
  const auto reservations = client.Reserve(8);
  // No more than so many at a time.
  EXPECT_TRUE(ReasonOf([&] { client.Reserve(8); }) == "busy" ||
              Eventually([&] { return parties.Count(0, "reservations_burnt") == 8; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const std::uint64_t before = parties.Count(1, "reservation");
  EXPECT_EQ(ReasonOf([&] { client.Ask(reservations, SomeInputs(model, 8, 1)); }), "reservation");
  EXPECT_EQ(parties.Count(1, "reservation"), before + 1);
  EXPECT_TRUE(Eventually([&] {
    return parties.Count(0, "reservations_burnt") == 8 &&
           parties.Count(1, "reservations_burnt") + 8 >= 8 &&
           parties.Model(1, "small")["reserved"] == 0;
  }));
}

TEST(Material, QuotasAreKeptByEachServer) {
  const SpoofModel model = SmallSpoofModel();
  for (const std::size_t p : {0, 1}) {
    LocalParties parties;
    ServiceLimits strict = SmallLimits();
    strict.quota_per_hour = 5;
    parties.SetLimits(LocalParties::RoleOf(p), strict);
    parties.StopServer(p);
    parties.StartServer(p);
    ASSERT_TRUE(parties.Load(model, "small", Scenario::kPublicModel).active);
    SecureClient client = parties.ClientOf("small");
    ExpectPlainAnswers(client, model, SomeInputs(model, 4, 1));
    ExpectRefused(parties, p, "quota", [&] { client.Reserve(2); });
    ExpectPlainAnswers(client, model, SomeInputs(model, 1, 1));
    ExpectRefused(parties, p, "quota", [&] { client.Reserve(1); });
    // Another certificate has its own.
    SecureClient other(parties.AddClient("other"), "small");
    ExpectPlainAnswers(other, model, SomeInputs(model, 1, 1));
  }
}

TEST(Material, IsRefusedWhereItCannotBeKept) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kPublicModel).active);
  ASSERT_TRUE(Eventually([&] { return parties.Stored("small") >= 56; }));
  parties.StopDealer();
  const PartyConfig config = parties.Config(Role::kDealer);
  const TlsParty party(config.files);
  Conversation line(party, config, Role::kFirstServer);
  const ModelCard card = parties.ClientOf("small").Offer().card;
  const SegmentMessage segment{{1}, card.id, std::vector<SecretBytes>(65, SecretBytes(100))};
  ExpectRefused(parties, 0, "storage", [&] { line.Ask<AcceptedMessage>(segment); });
  SegmentMessage unknown = segment;
  unknown.model = {1};
  ExpectRefused(parties, 0, "model", [&] { line.Ask<AcceptedMessage>(unknown); });
  const MaskShareMessage masks{card.id, FreshSeed(), FreshSeed()};
  ExpectRefused(parties, 0, "model", [&] { line.Ask<AcceptedMessage>(masks); });
  // Material that is none is spent and not used; the rest serves.
  parties.ClientOf("small");
  Asker asker(parties, model, "small");
  asker.Ask(8);
  const SegmentMessage junk{{2}, card.id, std::vector<SecretBytes>(4, SecretBytes(100))};
  Conversation second(party, config, Role::kSecondServer);
  for (Conversation* each : {&line, &second}) {
    EXPECT_TRUE(
        Eventually([&] { return ReasonOf([&] { each->Ask<AcceptedMessage>(junk); }).empty(); }));
  }
  asker.Ask(20);
}

}  // namespace
}  // namespace sotto
