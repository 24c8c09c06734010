// Models that come, are replaced and go while clients ask.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "privasp/service_testing.h"
#include "privasp/tls_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Eventually;
using testing::ExpectPlain;
using testing::ExpectPlainAnswers;
using testing::LocalParties;
using testing::ReasonOf;
using testing::SmallLimits;
using testing::SmallSpoofModel;
using testing::SomeInputs;

std::size_t FoldersAt(const LocalParties& parties, std::size_t p) {
  const fs::directory_iterator folder(parties.State(p) / "models");
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

TEST(Models, AreReplacedWhileClientsAsk) {
  constexpr std::size_t kClients = 8;
  LocalParties parties;
  // As many units as the number of the model.
  std::vector<SpoofModel> models(5);
  for (std::uint32_t units = 2; units < 5; ++units) models[units] = SmallSpoofModel(units);
  ASSERT_TRUE(parties.Load(models[2], "rotated", Scenario::kSharedModel).active);
  ASSERT_TRUE(Eventually([&] { return parties.Stored("rotated") >= 40; }));
  std::atomic<bool> over = false;
  std::atomic<std::size_t> answered = 0, of_the_last = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kClients; ++i) {
    threads.emplace_back([&, i] {
      SecureClient client = parties.ClientOf("rotated");
      for (std::uint64_t seed = i; !over; seed += kClients) {
        const auto x = SomeInputs(models[2], 1, seed);
        try {
          const auto answers = client.Ask(x);
          const std::uint32_t units = client.Offer().card.units;
          ExpectPlain(answers, models.at(units), x);
          ++answered;
          of_the_last += units == 4 ? 1 : 0;
        } catch (const Refused& refused) {
          // Eight clients may be faster than one dealer.
          EXPECT_EQ(refused.Why(), Reason::kStock) << refused.what();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  for (const std::uint32_t units : {3, 4}) {
    EXPECT_TRUE(parties.Load(models[units], "rotated", Scenario::kSharedModel).active);
  }
  EXPECT_TRUE(Eventually([&] { return of_the_last > 5 * kClients; }));
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answered, 5 * kClients);
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(Eventually([&] { return FoldersAt(parties, p) == 1; }));
    EXPECT_EQ(parties.Status(p).at("models").size(), 1U);
    EXPECT_EQ(parties.Count(p, "malformed"), 0U);
  }
}

TEST(Models, ThatAreRetiredFinishWhatIsReserved) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  SecureClient client = parties.ClientOf("small");
  const auto reservations = client.Reserve(1);
  RetireModelAtServers(parties.Config(Role::kProvider), "small");
  EXPECT_EQ(ReasonOf([&] { client.Reserve(1); }), "model");
  EXPECT_EQ(ReasonOf([&] { parties.ClientOf("small"); }), "model");
  for (const std::size_t p : {0, 1}) EXPECT_EQ(FoldersAt(parties, p), 1U);
  const auto x = SomeInputs(model, 1, 1);
  ExpectPlain(client.Ask(reservations, x), model, x);
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(Eventually([&] { return FoldersAt(parties, p) == 0; }));
  }
}

TEST(Models, ThatAreRetiredStayRetiredOverAStart) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  SecureClient client = parties.ClientOf("small");
  client.Reserve(1);  // keeps them from ending it at once
  RetireModelAtServers(parties.Config(Role::kProvider), "small");
  for (const std::size_t p : {0, 1}) parties.StopServer(p);
  for (const std::size_t p : {0, 1}) EXPECT_EQ(FoldersAt(parties, p), 1U);
  for (const std::size_t p : {0, 1}) parties.StartServer(p);
  EXPECT_EQ(ReasonOf([&] { parties.ClientOf("small"); }), "model");
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(Eventually([&] { return FoldersAt(parties, p) == 0; }));
  }
}

TEST(Models, ThatOneServerRetiresGoAtTheOther) {
  const SpoofModel model = SmallSpoofModel();
  for (const std::size_t p : {0, 1}) {
    LocalParties parties;
    ASSERT_TRUE(parties.Load(model, "small", Scenario::kPublicModel).active);
    SecureClient client = parties.ClientOf("small");
    client.Reserve(1);
    const PartyConfig config = parties.Config(Role::kProvider);
    const TlsParty party(config.files);
    Conversation(party, config, LocalParties::RoleOf(p))
        .Ask<AcceptedMessage>(RetireMessage{"small"});
    EXPECT_TRUE(Eventually([&] { return parties.Model(1 - p, "small")["state"] == "draining"; }));
    RetireModelAtServers(config, "small");  // once more does no harm
  }
}

// `policy`: of one server's configuration.
void RestartWithPolicy(LocalParties& parties, std::size_t p, const std::string& policy) {
  parties.StopServer(p);
  PartyConfig config = parties.Config(LocalParties::RoleOf(p));
  config.policy = policy;
  WriteFileAtomically(LocalConfig(parties.Folder(), LocalParties::RoleOf(p)), FormatConfig(config));
  parties.StartServer(p);
}

TEST(Models, OfAnotherPolicyThanAServersAreRefused) {
  SpoofModel scores = SmallSpoofModel(), decisions = SmallSpoofModel();
  decisions.net.decision_only = true;
  for (const std::size_t p : {0, 1}) {
    LocalParties parties;
    RestartWithPolicy(parties, p, "decision");
    const std::string said =
        testing::ErrorOf([&] { parties.Load(scores, "scores", Scenario::kSharedModel); });
    EXPECT_SAYS(said,
                "model 'scores' is of policy score; this server's configuration says decision");
    EXPECT_EQ(parties.Count(p, "model"), 1U);
    EXPECT_EQ(FoldersAt(parties, p), 0U);
    EXPECT_TRUE(parties.Load(decisions, "decisions", Scenario::kSharedModel).active);
    // A server does not serve what its configuration forbids since.
    EXPECT_THROW(RestartWithPolicy(parties, p, "score"), Error);
    RestartWithPolicy(parties, p, "decision");
    EXPECT_TRUE(Eventually([&] { return parties.Model(p, "decisions")["state"] == "active"; }));
  }
}

TEST(Models, ThatTheSecondServerRefusesGoAtTheFirst) {
  const SpoofModel model = SmallSpoofModel();
  SpoofModel decisions = SmallSpoofModel();
  decisions.net.decision_only = true;
  LocalParties parties;
  RestartWithPolicy(parties, 1, "score");
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  EXPECT_EQ(ReasonOf([&] { parties.Load(decisions, "small", Scenario::kSharedModel); }), "model");
  // And the one of that name that was there stays.
  EXPECT_TRUE(Eventually([&] { return FoldersAt(parties, 0) == 1; }));
  for (const std::size_t p : {0, 1}) EXPECT_EQ(parties.Model(p, "small")["state"], "active");
  SecureClient client = parties.ClientOf("small");
  ExpectPlainAnswers(client, model, SomeInputs(model, 1, 1));
}

TEST(Models, ThatAServerDidNotFinishLoadingAreRemovedAtItsStart) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  parties.StopServer(0);
  const fs::path folder = parties.State(0) / "models" / std::string(32, '0');
  fs::create_directories(folder / "store");
  WriteFileAtomically(folder / "store" / "model", "x");
  parties.StartServer(0);
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(Eventually([&] { return parties.Model(0, "small")["state"] == "active"; }));
}

TEST(Models, WhoseOpenedMasksAreLostOpenThemAgain) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  for (const std::size_t p : {0, 1}) {
    parties.StopServer(p);
    for (const auto& entry : fs::directory_iterator(parties.State(p) / "models")) {
      EXPECT_TRUE(fs::remove(entry.path() / "opened"));
      if (p == 1) {
        EXPECT_TRUE(fs::remove(entry.path() / "masks"));  // the dealer has them
      }
    }
    parties.StartServer(p);
    EXPECT_TRUE(Eventually([&] { return parties.Model(p, "small")["state"] == "active"; }));
    EXPECT_TRUE(Eventually([&] {
      return ReasonOf([&] {
               SecureClient client = parties.ClientOf("small");
               ExpectPlainAnswers(client, model, SomeInputs(model, 2, 1));
             })
          .empty();
    }));
  }
}

TEST(Models, ADamagedOneKeepsAServerFromStarting) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  parties.StopServer(0);
  fs::path file;
  for (const auto& entry : fs::directory_iterator(parties.State(0) / "models")) {
    file = entry.path() / "model";
  }
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_THROW(parties.StartServer(0), Error);
}

TEST(Models, EveryLineOfTheLogsIsOfKnownFields) {
  const SpoofModel model = SmallSpoofModel();
  ::testing::internal::CaptureStderr();
  {
    LocalParties parties(SmallLimits(), /*with_dealer=*/true, /*quiet=*/false);
    ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
    SecureClient client = parties.ClientOf("small");
    ExpectPlainAnswers(client, model, SomeInputs(model, 2, 1));
    const auto reservations = client.Reserve(1);
    auto inputs = Client(client.Offer().card).Ask(reservations, SomeInputs(model, 1, 1));
    inputs[0].values.pop_back();
    const PartyConfig config = parties.Config(Role::kClient);
    const TlsParty party(config.files);
    Conversation line(party, config, Role::kFirstServer);
    EXPECT_EQ(ReasonOf([&] { line.Ask<ResultMessage>(inputs[0]); }), "input");
    EXPECT_EQ(ReasonOf([&] { line.Ask<ResultMessage>(inputs[0]); }), "reservation");
    RetireModelAtServers(parties.Config(Role::kProvider), "small");
    parties.StopServer(1);
    parties.StartServer(1);
  }
  std::istringstream text(::testing::internal::GetCapturedStderr());
  const std::set<std::string> known = {"time", "level", "party",  "event",     "address",
                                       "role", "peer",  "reason", "text",      "model",
                                       "id",   "by",    "server", "utterances"};
  std::size_t lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    const auto fields = ParseJson(line);
    for (const auto& [name, value] : fields.items()) EXPECT_TRUE(known.contains(name)) << line;
    EXPECT_LT(line.size(), 500U) << line;
  }
  EXPECT_GT(lines, 10U);
}

}  // namespace
}  // namespace sotto
