// What servers refuse: each with one line, counted, and the service goes on.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "mpc/wire.h"
#include "privasp/service_testing.h"
#include "privasp/tls_socket.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::Eventually;
using testing::ExpectPlain;
using testing::ExpectPlainAnswers;
using testing::ExpectRefused;
using testing::LocalParties;
using testing::ReasonOf;
using testing::SmallLimits;
using testing::SmallSpoofModel;
using testing::SomeInputs;

// One deployment for all: whatever one test does, the service goes on for the next.
class Refusals : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ServiceLimits limits = SmallLimits();
    limits.query_s = 1.5;
    parties = new LocalParties(limits);
    model = new SpoofModel(SmallSpoofModel());
    parties->Load(*model, "open", Scenario::kPublicModel);
    parties->Load(*model, "shared", Scenario::kSharedModel);
  }
  static void TearDownTestSuite() {
    delete model;
    delete parties;
  }
  void TearDown() override {
    for (const char* name : {"open", "shared"}) {
      SecureClient client = parties->ClientOf(name);
      ExpectPlainAnswers(client, *model, SomeInputs(*model, 1, 5));
    }
  }

  // A party's connection to a server, for messages of any kind.
  static Conversation Line(std::size_t p, Role role) {
    const PartyConfig config = parties->Config(role);
    return Line(p, config);
  }
  static Conversation Line(std::size_t p, const PartyConfig& config) {
    const TlsParty party(config.files);  // a connection does not need it any longer
    return {party, config, LocalParties::RoleOf(p)};
  }

  static inline LocalParties* parties = nullptr;
  static inline SpoofModel* model = nullptr;
};

TEST_F(Refusals, EachRoleAsksForWhatIsItsOwn) {
  const OfferMessage offer = parties->ClientOf("open").Offer();
  const QueryId id{};
  const std::vector<SecretBytes> of_clients = {
      AskOfferMessage{"open", {}}.Serialise(),
      AskReservationMessage{offer.card.id, offer.fingerprint, 1, {}}.Serialise(),
      InputMessage{offer.card.id, {id}, {}, {}}.Serialise()};
  const std::vector<SecretBytes> of_providers = {LoadModelMessage{offer, {}}.Serialise(),
                                                 RetireMessage{"open"}.Serialise()};
  const std::vector<SecretBytes> of_dealers = {
      AskDemandMessage{}.Serialise(), MaskShareMessage{offer.card.id, {}, {}}.Serialise(),
      SegmentMessage{{}, offer.card.id, {SecretBytes{1}}}.Serialise()};
  const std::vector<SecretBytes> of_servers = {
      AnnounceMessage{offer.card, {}, {}, false, true, {}}.Serialise(),
      OpenedMaskMessage{offer.card.id, {}, {}}.Serialise(),
      ClaimMessage{offer.card.id, {}, 0, 1}.Serialise(),
      ClaimedMessage{{offer.card.id, {}, 0, 1}, true}.Serialise(),
      ExchangeMessage{{id}, false, {}, {}}.Serialise(),
      BurnMessage{offer.card.id, {id}}.Serialise(),
      PingMessage{}.Serialise(),
      PieceMessage{1, 0, {1}}.Serialise(),
      HelloMessage{}.Serialise(),
      ResultMessage{{id}, false, {}}.Serialise(),
      AcceptedMessage{}.Serialise()};
  for (const std::size_t p : {0, 1}) {
    for (const Role role : {Role::kClient, Role::kProvider, Role::kDealer}) {
      Conversation line = Line(p, role);
      for (const auto* questions : {&of_clients, &of_providers, &of_dealers, &of_servers}) {
        const bool own = (role == Role::kClient && questions == &of_clients) ||
                         (role == Role::kProvider && questions == &of_providers) ||
                         (role == Role::kDealer && questions == &of_dealers);
        if (own) continue;
        for (const SecretBytes& question : *questions) {
          ExpectRefused(*parties, p, "role", [&] { line.Ask(std::span(question)); });
        }
      }
      line.Ask<StatusMessage>(AskStatusMessage{});  // everybody's
    }
  }
}

TEST_F(Refusals, MessagesThatAreNone) {
  SecretBytes other_version = AskStatusMessage{}.Serialise();
  other_version[4] = kWireVersion + 1;
  SecretBytes longer = AskOfferMessage{"open", {}}.Serialise();
  longer.push_back(0);
  for (const SecretBytes& frame : {SecretBytes{}, SecretBytes{'G', 'E', 'T', ' ', '/', ' ', 'H'},
                                   SecretBytes(1000, 0xA5), other_version, longer}) {
    for (const std::size_t p : {0, 1}) {
      Conversation line = Line(p, Role::kClient);
      ExpectRefused(*parties, p, "malformed", [&] { line.Ask(std::span(frame)); });
      // Such a connection has ended.
      EXPECT_THROW(line.Ask<StatusMessage>(AskStatusMessage{}), Error);
    }
  }
}

TEST_F(Refusals, MessagesThatAreTooLong) {
  // Also what is too long to be on its way before the server refuses it.
  for (const std::size_t size : {std::size_t{4} << 20, std::size_t{64} << 20}) {
    const SecretBytes message(size);
    for (const std::size_t p : {0, 1}) {
      Conversation line = Line(p, Role::kClient);
      ExpectRefused(*parties, p, "malformed", [&] { line.Ask(std::span(message)); });
    }
  }
}

TEST_F(Refusals, BytesThatAreNoTls) {
  const std::uint64_t before = parties->Count(1, "failed_handshakes");
  const Socket socket = ConnectTo(parties->At(1).Address(), After(20.0));
  const std::string text = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_GT(::send(socket.Descriptor(), text.data(), text.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(Eventually([&] { return parties->Count(1, "failed_handshakes") == before + 1; }));
}

TEST_F(Refusals, WhoHangsUpIsNotCountedAsMalformed) {
  const std::uint64_t before = parties->Count(0, "malformed");
  for (int i = 0; i < 5; ++i) parties->ClientOf("open");
  EXPECT_TRUE(Eventually([&] { return parties->Status(0)["clients"] == 0; }));
  EXPECT_EQ(parties->Count(0, "malformed"), before);
}

TEST_F(Refusals, NamesThatAreNoTextLeadToNoModel) {
  Conversation line = Line(0, Role::kClient);
  for (const char* name : {"\xff\xfe", "nobody", "a\nb"}) {
    const std::uint64_t before = parties->Count(0, "model");
    EXPECT_THROW(line.Ask<OfferMessage>(AskOfferMessage{name, {}}), Refused);
    EXPECT_EQ(parties->Count(0, "model"), before + 1);
  }
}

TEST_F(Refusals, ReservationsThatDoNotFit) {
  const OfferMessage offer = parties->ClientOf("shared").Offer();
  Conversation first = Line(0, Role::kClient), second = Line(1, Role::kClient);
  const auto ask = [&](Conversation& line, const AskReservationMessage& question) {
    return [&line, question] { line.Ask<ReservationMessage>(question); };
  };
  const AskReservationMessage good{offer.card.id, offer.fingerprint, 1, {}};
  AskReservationMessage bad = good;
  bad.fingerprint = "0123456789abcdef";
  ExpectRefused(*parties, 0, "features", ask(first, bad));
  bad.fingerprint = "\xff";
  const std::uint64_t features = parties->Count(0, "features");
  EXPECT_THROW(first.Ask<ReservationMessage>(bad), Refused);
  EXPECT_EQ(parties->Count(0, "features"), features + 1);
  bad = good;
  bad.model = ModelId{1};
  ExpectRefused(*parties, 0, "model", ask(first, bad));
  bad = good;
  bad.ids = {QueryId{1}};
  ExpectRefused(*parties, 0, "reservation", ask(first, bad));  // the client names none
  ExpectRefused(*parties, 1, "reservation", ask(second, good));
  ExpectRefused(*parties, 1, "stock", ask(second, bad));  // ids of nothing
  bad.ids = {QueryId{1}, QueryId{1}};
  bad.count = 2;
  ExpectRefused(*parties, 1, "stock", ask(second, bad));
  bad = good;
  bad.count = 128;  // more than there ever are
  ExpectRefused(*parties, 0, "stock", ask(first, bad));
}

TEST_F(Refusals, AnInputServesOnce) {
  for (const char* name : {"open", "shared"}) {
    SecureClient client = parties->ClientOf(name);
    const auto x = SomeInputs(*model, 2, 1);
    const auto reservations = client.Reserve(2);
    ExpectPlain(client.Ask(reservations, x), *model, x);
    const std::uint64_t first = parties->Count(0, "reservation"),
                        second = parties->Count(1, "reservation");
    EXPECT_EQ(ReasonOf([&] { client.Ask(reservations, x); }), "reservation");
    EXPECT_EQ(parties->Count(0, "reservation"), first + 1);
    EXPECT_EQ(parties->Count(1, "reservation"), second + 1);
    EXPECT_EQ(ReasonOf([&] { client.Ask(reservations, SomeInputs(*model, 2, 2)); }), "reservation");
  }
}

TEST_F(Refusals, IdsAreOfTheCertificateThatReservedThem) {
  const PartyConfig config = parties->AddClient("mallory");
  SecureClient alice = parties->ClientOf("shared"), mallory(config, "shared");
  const auto x = SomeInputs(*model, 1, 1);
  const auto reservations = alice.Reserve(1);
  EXPECT_EQ(ReasonOf([&] { mallory.Ask(reservations, x); }), "reservation");
  // Nor can they be reserved again.
  Conversation second = Line(1, config);
  ExpectRefused(*parties, 1, "stock", [&] {
    second.Ask<ReservationMessage>(AskReservationMessage{
        alice.Offer().card.id, alice.Offer().fingerprint, 1, reservations[0].ids});
  });
  // The owner's query is as before.
  ExpectPlain(alice.Ask(reservations, x), *model, x);
}

// The two inputs of a query that a client would send.
struct Inputs {
  std::array<ReservationMessage, 2> reservations;
  std::array<InputMessage, 2> inputs;
};
Inputs MakeInputs(SecureClient& client, std::span<const std::int32_t> x) {
  Inputs made{client.Reserve(1), {}};
  made.inputs = Client(client.Offer().card).Ask(made.reservations, x);
  return made;
}

// What each server says to what it is sent, at the same time.
std::array<std::string, 2> Answers(Conversation& first, Conversation& second,
                                   const std::array<InputMessage, 2>& inputs) {
  Conversation* lines[] = {&first, &second};
  for (std::size_t p = 0; p < 2; ++p) lines[p]->Send(inputs[p]);
  std::array<std::string, 2> reasons;
  for (std::size_t p = 0; p < 2; ++p) {
    reasons[p] = ReasonOf([&] { lines[p]->Receive<ResultMessage>(); });
  }
  return reasons;
}

using Reasons = std::array<std::string, 2>;

TEST_F(Refusals, InputsThatDoNotFit) {
  SecureClient open = parties->ClientOf("open"), shared = parties->ClientOf("shared");
  Conversation first = Line(0, Role::kClient), second = Line(1, Role::kClient);
  const auto x = SomeInputs(*model, 1, 1);
  // The right ones, by the same way.
  EXPECT_EQ(Answers(first, second, MakeInputs(shared, x).inputs), (Reasons{"", ""}));

  Inputs bad = MakeInputs(shared, x);
  for (InputMessage& input : bad.inputs) input.values.pop_back();
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"input", "input"}));
  // Burnt: the right input comes too late.
  EXPECT_EQ(ReasonOf([&] { shared.Ask(bad.reservations, x); }), "reservation");

  bad = MakeInputs(shared, x);
  for (InputMessage& input : bad.inputs) input.committed.emplace();
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"input", "input"}));

  bad = MakeInputs(shared, x);
  for (InputMessage& input : bad.inputs) input.ids.push_back(input.ids[0]);
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"input", "input"}));

  // A commitment that is not to the share.
  bad = MakeInputs(open, x);
  for (std::size_t p = 0; p < 2; ++p) bad.inputs[p].committed->salt[0] ^= 1U;
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"input", "input"}));
  bad = MakeInputs(open, x);
  bad.inputs[0].committed->share_seed = FreshSeed();
  ++bad.inputs[1].values[7];
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"input", "input"}));
}

TEST_F(Refusals, TheServersCompareInputsBeforeAnythingLeaves) {
  SecureClient open = parties->ClientOf("open"), shared = parties->ClientOf("shared");
  Conversation first = Line(0, Role::kClient), second = Line(1, Role::kClient);
  const auto x = SomeInputs(*model, 1, 1);
  const std::uint64_t before = parties->Count(0, "peer"), after = parties->Count(1, "peer");
  Inputs bad = MakeInputs(shared, x);
  ++bad.inputs[1].values[100];
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"peer", "peer"}));
  // Two commitments of which each server finds its own right.
  bad = MakeInputs(open, x);
  bad.inputs[1].committed->commitments[0][0] ^= 1U;
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"peer", "peer"}));
  // The utterances in another order: neither finds the other's exchange.
  auto reservations = shared.Reserve(2);
  auto inputs = Client(shared.Offer().card).Ask(reservations, SomeInputs(*model, 2, 3));
  std::swap(inputs[1].ids[0], inputs[1].ids[1]);
  EXPECT_EQ(Answers(first, second, inputs), (Reasons{"peer", "peer"}));
  EXPECT_EQ(parties->Count(0, "peer"), before + 3);
  EXPECT_EQ(parties->Count(1, "peer"), after + 3);
}

TEST_F(Refusals, WhereOneServerRefusesTheOtherGivesNothing) {
  SecureClient shared = parties->ClientOf("shared");
  Conversation first = Line(0, Role::kClient), second = Line(1, Role::kClient);
  const auto x = SomeInputs(*model, 1, 1);
  Inputs bad = MakeInputs(shared, x);
  bad.inputs[1].values.pop_back();
  EXPECT_EQ(Answers(first, second, bad.inputs), (Reasons{"peer", "input"}));
}

TEST_F(Refusals, APortThatIsInUse) {
  const PartyConfig config = parties->Config(Role::kFirstServer);
  try {
    ServerService again(config, EventLog("again", true));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot listen on " + config.listen + ": Address already in use");
  }
}

TEST_F(Refusals, ANetWhoseRangesDoNotFitIsNotSent) {
  SpoofModel wide = *model;
  wide.net.threshold = std::int64_t{1} << 60;
  EXPECT_THROW(parties->Load(wide, "wide", Scenario::kSharedModel), Error);
  for (const std::size_t p : {0, 1}) EXPECT_TRUE(parties->Model(p, "wide").is_null());
}

TEST_F(Refusals, ANameThatIsNone) {
  EXPECT_THROW(parties->Load(*model, "../x", Scenario::kSharedModel), Error);
  EXPECT_THROW(RetireModelAtServers(parties->Config(Role::kProvider), ""), Error);
  EXPECT_EQ(ReasonOf([&] { RetireModelAtServers(parties->Config(Role::kProvider), "nobody"); }),
            "model");
}

LoadModelMessage OpenModel(const SpoofModel& model, const std::string& name) {
  const Provider provider(model.net, Scenario::kPublicModel);
  return {
      {name, provider.Card(), model.front_end, model.front_end.Fingerprint(), model.net.threshold},
      provider.PublicModel().Serialise()};
}

TEST_F(Refusals, ModelsThatAreNot) {
  Conversation provider = Line(0, Role::kProvider);
  const auto load = [&](const LoadModelMessage& message) {
    return [&provider, message] { provider.Ask<AcceptedMessage>(message); };
  };
  const LoadModelMessage good = OpenModel(*model, "bad");
  LoadModelMessage bad = good;
  bad.model.pop_back();
  ExpectRefused(*parties, 0, "model", load(bad));
  bad = good;
  bad.offer.card.id[0] ^= 1U;
  ExpectRefused(*parties, 0, "model", load(bad));
  bad = good;
  bad.offer.fingerprint = "0123456789abcdef";
  ExpectRefused(*parties, 0, "model", load(bad));
  bad = good;
  bad.offer.card.scenario = Scenario::kSharedModel;
  ExpectRefused(*parties, 0, "model", load(bad));
  EXPECT_TRUE(parties->Model(0, "bad").is_null());
  // Nothing of them is left on the disk.
  const auto folder = std::filesystem::directory_iterator(parties->State(0) / "models");
  EXPECT_EQ(std::distance(begin(folder), end(folder)), 2);
}

TEST_F(Refusals, AModelThatOnlyOneServerHas) {
  Conversation provider = Line(0, Role::kProvider);
  const LoadModelMessage half = OpenModel(*model, "half");
  provider.Ask<AcceptedMessage>(half);
  ExpectRefused(*parties, 0, "model", [&] { provider.Ask<AcceptedMessage>(half); });  // again
  EXPECT_EQ(ReasonOf([&] { parties->ClientOf("half"); }), "model");
  EXPECT_EQ(parties->Model(0, "half")["state"], "waiting");
  // Loaded properly it takes the place of that one.
  EXPECT_TRUE(parties->Load(*model, "half", Scenario::kPublicModel).active);
  SecureClient client = parties->ClientOf("half");
  ExpectPlainAnswers(client, *model, SomeInputs(*model, 1, 1));
  EXPECT_TRUE(Eventually([&] { return parties->Status(0)["models"].size() == 3; }));
  RetireModelAtServers(parties->Config(Role::kProvider), "half");
  EXPECT_TRUE(Eventually(
      [&] { return parties->Model(0, "half").is_null() && parties->Model(1, "half").is_null(); }));
}

TEST_F(Refusals, AModelThatIsNotTheSameAtBoth) {
  LoadModelMessage load = OpenModel(*model, "other");
  Line(0, Role::kProvider).Ask<AcceptedMessage>(load);
  ++load.offer.threshold;
  Line(1, Role::kProvider).Ask<AcceptedMessage>(load);
  EXPECT_EQ(ReasonOf([&] { parties->ClientOf("other"); }), "model");
  for (const std::size_t p : {0, 1}) EXPECT_EQ(parties->Model(p, "other")["state"], "waiting");
  RetireModelAtServers(parties->Config(Role::kProvider), "other");
  EXPECT_TRUE(Eventually([&] { return parties->Model(0, "other").is_null(); }));
}

}  // namespace
}  // namespace sotto
