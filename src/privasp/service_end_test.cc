// Connections that are slow, silent or too many, and the end of a server.
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <thread>

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

class ServerConnections : public ::testing::Test {
 protected:
  explicit ServerConnections(ServiceLimits limits = SmallLimits())
      : parties_(limits), party_(parties_.Config(Role::kClient).files) {
    parties_.Load(model_, "small", Scenario::kPublicModel);
  }
  Conversation Line(std::size_t p) const {
    return {party_, parties_.Config(Role::kClient), LocalParties::RoleOf(p)};
  }
  void ExpectAnswers() {
    SecureClient client = parties_.ClientOf("small");
    ExpectPlainAnswers(client, model_, SomeInputs(model_, 1, 1));
  }
  double StopSeconds(std::size_t p) {
    const auto start = std::chrono::steady_clock::now();
    parties_.StopServer(p);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const SpoofModel model_ = SmallSpoofModel();
  LocalParties parties_;
  const TlsParty party_;
};

TEST_F(ServerConnections, ThatSayNothingDelayNobody) {
  std::vector<Socket> silent;
  std::vector<std::unique_ptr<Conversation>> idle;
  for (int i = 0; i < 10; ++i) {
    silent.push_back(ConnectTo(parties_.At(0).Address(), After(20.0)));
    idle.push_back(std::make_unique<Conversation>(Line(0)));
  }
  ExpectAnswers();
  // Nor does a server wait for them at its end.
  EXPECT_LT(StopSeconds(0), 10.0);
  // Who asks then is told why.
  for (auto& line : idle) {
    EXPECT_EQ(ReasonOf([&] { line->Ask<StatusMessage>(AskStatusMessage{}); }), "stopping");
  }
}

TEST_F(ServerConnections, OfStrangersWhoSayNothingTakeNobodysPlace) {
  // More than there are places, and they come again and again.
  std::atomic<bool> enough{false};
  auto strangers = std::async(std::launch::async, [&] {
    std::deque<Socket> silent;
    while (!enough) {
      silent.push_back(ConnectTo(parties_.At(0).Address(), After(20.0)));
      if (silent.size() > 300) silent.pop_front();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto start = std::chrono::steady_clock::now();
  ExpectAnswers();
  const PartyConfig provider = parties_.Config(Role::kProvider);
  const TlsParty party(provider.files);
  for (int i = 0; i < 5; ++i) {
    Conversation(party, provider, Role::kFirstServer).Ask<StatusMessage>(AskStatusMessage{});
  }
  // The second server and the dealer find their places again as well.
  parties_.StopServer(1);
  parties_.StartServer(1);
  EXPECT_TRUE(Eventually([&] { return parties_.Status(0)["link"] == true; }, 5.0));
  parties_.StopDealer();
  parties_.StartDealer();
  EXPECT_TRUE(Eventually([&] { return parties_.Status(0)["dealer_seen_s_ago"] < 0.3; }, 5.0));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 15.0);
  enough = true;
  strangers.get();
  EXPECT_GT(parties_.Count(0, "failed_handshakes"), 100U);
  EXPECT_TRUE(Eventually([&] { return parties_.Model(0, "small")["state"] == "active"; }));
  ExpectAnswers();
}

TEST_F(ServerConnections, OfStrangersWhoSayNothingEndSoon) {
  std::vector<Socket> silent;
  silent.reserve(10);
  for (int i = 0; i < 10; ++i) silent.push_back(ConnectTo(parties_.At(0).Address(), After(20.0)));
  EXPECT_TRUE(Eventually([&] { return parties_.Count(0, "failed_handshakes") == 10; }, 10.0));
}

TEST_F(ServerConnections, OfWhoStopsReadingDelayNobody) {
  const PartyConfig config = parties_.Config(Role::kClient);
  const auto channel = Channel::Connect(party_, config.Peer(Role::kFirstServer).address, After(20));
  const SecretBytes question = AskOfferMessage{"small", {}}.Serialise();  // 24 kB come back
  for (int i = 0; i < 2000; ++i) {
    try {
      channel->Send(question, After(0.2));
    } catch (const Error&) {
      break;  // the server does not read any more either
    }
  }
  ExpectAnswers();
}

TEST_F(ServerConnections, ThatEndInTheMiddleOfAQueryFailThatQueryOnly) {
  SecureClient gone = parties_.ClientOf("small");
  {
    SecureClient client = parties_.ClientOf("small");
    client.Reserve(2);
    Conversation first = Line(0);
    const auto reservations = gone.Reserve(1);
    first.Send(Client(gone.Offer().card).Ask(reservations, SomeInputs(model_, 1, 1))[0]);
  }
  ExpectAnswers();
}

class FewConnections : public ServerConnections {
 protected:
  static ServiceLimits Few() {
    ServiceLimits limits = SmallLimits();
    limits.connections = 3;
    return limits;
  }
  FewConnections() : ServerConnections(Few()) {}
};

TEST_F(FewConnections, AreKeptToTheirNumber) {
  std::vector<std::unique_ptr<Conversation>> open;
  for (int i = 0; i < 3; ++i) {
    open.push_back(std::make_unique<Conversation>(Line(0)));
    open.back()->Ask<StatusMessage>(AskStatusMessage{});
  }
  // Also when those who are refused do not wait to hear it.
  for (int i = 0; i < 5; ++i) Line(0);
  ASSERT_TRUE(Eventually([&] { return parties_.Count(0, "busy") == 5; }));
  for (int i = 0; i < 3; ++i) {
    Conversation more = Line(0);
    EXPECT_EQ(ReasonOf([&] { more.Ask<StatusMessage>(AskStatusMessage{}); }), "busy");
  }
  // Others than clients have their own room.
  const PartyConfig config = parties_.Config(Role::kProvider);
  const TlsParty provider(config.files);
  Conversation(provider, config, Role::kFirstServer).Ask<StatusMessage>(AskStatusMessage{});
  open.pop_back();
  EXPECT_TRUE(Eventually(
      [&] { return ReasonOf([&] { Line(0).Ask<StatusMessage>(AskStatusMessage{}); }).empty(); }));
}

class ShortConnections : public ServerConnections {
 protected:
  static ServiceLimits Short() {
    ServiceLimits limits = SmallLimits();
    limits.idle_s = 0.3;
    limits.request_s = 20.0;
    return limits;
  }
  ShortConnections() : ServerConnections(Short()) {}
};

TEST_F(ShortConnections, EndWhenNothingIsAskedForLong) {
  Conversation line = Line(0);
  line.Ask<StatusMessage>(AskStatusMessage{});
  EXPECT_TRUE(Eventually([&] { return parties_.Status(0)["clients"] == 0; }));
  EXPECT_THROW(line.Ask<StatusMessage>(AskStatusMessage{}), Error);
  ExpectAnswers();
}

TEST_F(ServerConnections, AQueryUnderWayIsAnsweredAtTheEnd) {
  for (const std::size_t p : {0, 1}) {
    SecureClient client = parties_.ClientOf("small");
    const auto x = SomeInputs(model_, 1, p);
    const Client protocol(client.Offer().card);
    const auto reservations = client.Reserve(1);
    const auto inputs = protocol.Ask(reservations, x);
    Conversation lines[] = {Line(0), Line(1)};
    Conversation late = Line(p);
    late.Ask<StatusMessage>(AskStatusMessage{});
    // One server is in the middle of it when it is told to end.
    lines[p].Send(inputs[p]);
    ASSERT_TRUE(Eventually([&] { return parties_.Model(p, "small")["running"] == 1; }));
    auto stopped = std::async(std::launch::async, [&] { parties_.At(p).Stop(); });
    // From then on nothing new is taken.
    EXPECT_TRUE(Eventually([&] {
      try {
        late.Ask<StatusMessage>(AskStatusMessage{});
        return false;
      } catch (const Refused& refused) {
        EXPECT_EQ(refused.Why(), Reason::kStopping);
        return true;
      }
    }));
    lines[1 - p].Send(inputs[1 - p]);
    std::array<ResultMessage, 2> results;
    for (const std::size_t q : {0, 1}) results[q] = lines[q].Receive<ResultMessage>();
    EXPECT_EQ(protocol.Answer(results)[0], testing::PlainAnswer(model_.net, x));
    stopped.get();
    parties_.StopServer(p);
    parties_.StartServer(p);
    ASSERT_TRUE(Eventually([&] { return parties_.Model(0, "small")["state"] == "active"; }));
    ASSERT_TRUE(Eventually([&] { return parties_.Model(1, "small")["state"] == "active"; }));
    ASSERT_TRUE(Eventually([&] { return parties_.Stored("small") >= 8; }));
  }
}

}  // namespace
}  // namespace sotto
