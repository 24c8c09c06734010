// The connection of the two servers over lines that are thin, silent or broken.
#include "privasp/peer_link.h"

#include <gtest/gtest.h>

#include <future>

#include "mpc/wire.h"
#include "privasp/middleman_testing.h"
#include "privasp/service_testing.h"
#include "privasp/tls_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::ErrorOf;
using testing::Eventually;
using testing::Middleman;
using testing::RandomBytes;
using testing::TestPki;

double SecondsOf(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What one end of a link has seen.
struct Seen {
  std::mutex mutex;
  std::vector<SecretBytes> messages;
  std::atomic<int> downs{0}, malformed{0};
  std::size_t Messages() {
    const std::scoped_lock lock(mutex);
    return messages.size();
  }
};

// Both ends of a link; the second server reaches the first by a middleman.
class Links : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new testing::TemporaryFolder;
    pki = new TestPki(folder->Path());
  }
  static void TearDownTestSuite() {
    delete pki;
    delete folder;
  }
  ~Links() override { Disconnect(); }

  void Connect(double link_s, double bytes_per_s = 0.0) {
    middleman_ = std::make_unique<Middleman>(port_.Address(), bytes_per_s);
    for (const std::size_t p : {0, 1}) config_[p].limits.link_s = link_s;
    config_[1].peers[Role::kFirstServer] = {middleman_->Address(), pki->Pin(Role::kFirstServer)};
    for (const std::size_t p : {0, 1}) {
      links_[p] = std::make_unique<PeerLink>(
          *party_[p], config_[p], log_, [this, p](bool up) { seen_[p].downs += up ? 0 : 1; },
          [this, p](SecretBytes message) {
            const std::scoped_lock lock(seen_[p].mutex);
            seen_[p].messages.push_back(std::move(message));
          },
          [this, p] { ++seen_[p].malformed; });
    }
    serving_ = std::thread([this] {
      while (!ended_) {
        try {
          const int descriptor = port_.Accept(After(0.05));
          if (descriptor < 0) continue;
          links_[0]->Serve(ListeningPort::Handshake(*party_[0], descriptor, After(5.0)));
        } catch (const Error&) {
          // The second server tries again.
        }
      }
    });
    links_[1]->Start();
    ASSERT_TRUE(Eventually([&] { return links_[0]->Up() && links_[1]->Up(); }));
  }
  void Disconnect() {
    ended_ = true;
    for (auto& link : links_) {
      if (link) link->Stop();
    }
    if (serving_.joinable()) serving_.join();
    middleman_.reset();
  }
  // A query's exchange at both ends.
  void Exchange(std::uint8_t id) {
    const auto own = [&](std::uint8_t p) {
      ExchangeMessage message{{QueryId{id}}, false, {}, {}};
      message.digest[0] = p;
      return message;
    };
    auto other = std::async(std::launch::async,
                            [&] { return links_[1]->Swap(own(1), After(20.0)).digest[0]; });
    EXPECT_EQ(links_[0]->Swap(own(0), After(20.0)).digest[0], 1);
    EXPECT_EQ(other.get(), 0);
  }

  static inline testing::TemporaryFolder* folder = nullptr;
  static inline TestPki* pki = nullptr;
  const EventLog log_{"test", /*quiet=*/true};
  const std::unique_ptr<TlsParty> party_[2] = {
      std::make_unique<TlsParty>(pki->Files(Role::kFirstServer)),
      std::make_unique<TlsParty>(pki->Files(Role::kSecondServer))};
  const ListeningPort port_{"127.0.0.1:0"};
  PartyConfig config_[2];
  std::unique_ptr<Middleman> middleman_;
  Seen seen_[2];
  std::unique_ptr<PeerLink> links_[2];
  std::atomic<bool> ended_{false};
  std::thread serving_;
};

TEST_F(Links, StayUpByThemselves) {
  Connect(0.5);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(links_[p]->Up());
    EXPECT_EQ(seen_[p].downs, 0);
    EXPECT_EQ(seen_[p].Messages(), 0U);  // signs of life are the link's own affair
  }
}

TEST_F(Links, ALongMessageOverAThinLineComesWholeAndExchangesPassIt) {
  constexpr double kBytesPerSecond = 1e6;
  Connect(1.0, kBytesPerSecond);
  SecretBytes message = RandomBytes(4U << 20, 1);  // four times link_s
  const SecretBytes small = PingMessage{}.Serialise();
  std::copy(small.begin(), small.end(), message.begin());
  message[5] = static_cast<std::uint8_t>(MessageKind::kOpenedMask);
  for (const std::size_t p : {0, 1}) {
    EXPECT_LT(SecondsOf([&] { links_[p]->Send(message); }), 1.0);
    links_[p]->Send(message);  // waits already
  }
  double longest = 0.0;
  for (std::uint8_t id = 1; seen_[0].Messages() == 0 || seen_[1].Messages() == 0; ++id) {
    longest = std::max(longest, SecondsOf([&] { Exchange(id); }));
    ASSERT_LT(id, 250);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LT(longest, 2.5);
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(seen_[p].downs, 0);
    EXPECT_EQ(seen_[p].messages.size(), 1U);
    EXPECT_EQ(seen_[p].messages.front(), message);
  }
}

TEST_F(Links, OneOnWhichNothingMovesIsMadeAnew) {
  Connect(0.5);
  middleman_->Stall(true, true);
  EXPECT_TRUE(Eventually([&] { return seen_[0].downs > 0 && seen_[1].downs > 0; }));
  EXPECT_NE(ErrorOf([&] { links_[0]->Send(PingMessage{}.Serialise()); }), "");
  middleman_->Stall(false, false);
  EXPECT_TRUE(Eventually([&] { return links_[0]->Up() && links_[1]->Up(); }));
  Exchange(1);
}

TEST_F(Links, OneThatBreaksInALongMessageBeginsAnew) {
  Connect(0.5, 1e6);
  SecretBytes message(1U << 20, 1);
  links_[0]->Send(message);
  middleman_->Stall(true, true);
  EXPECT_TRUE(Eventually([&] { return seen_[0].downs > 0 && seen_[1].downs > 0; }));
  middleman_->Stall(false, false);
  EXPECT_TRUE(Eventually([&] { return links_[0]->Up() && links_[1]->Up(); }));
  message.back() = 2;
  for (int i = 0; i < 3; ++i) {
    message.back() = static_cast<std::uint8_t>(2 + i);
    links_[0]->Send(message);
  }
  EXPECT_TRUE(Eventually([&] { return seen_[1].Messages() == 3; }));
  EXPECT_EQ(seen_[1].messages.back(), message);
  EXPECT_EQ(seen_[1].malformed, 0);
}

TEST_F(Links, PiecesThatDoNotFollowEachOtherEndTheConnection) {
  Connect(5.0);
  links_[1]->Send(PieceMessage{1U << 20, 100, {1, 2, 3}}.Serialise());
  EXPECT_TRUE(Eventually([&] { return seen_[0].malformed == 1 && seen_[1].downs == 1; }));
  EXPECT_TRUE(Eventually([&] { return links_[0]->Up() && links_[1]->Up(); }));
}

// The whole service: the mask of a model takes longer than link_s, and the queries of another model
// go on meanwhile.
TEST(ThinLine, BetweenTheServersBringsAModelIn) {
  ServiceLimits limits = testing::SmallLimits();
  limits.link_s = 1.0;
  testing::LocalParties parties(limits);
  const Middleman middleman(parties.At(0).Address(), 1e6);
  PartyConfig second = parties.Config(Role::kSecondServer);
  second.peers[Role::kFirstServer].address = middleman.Address();
  parties.StopServer(1);
  WriteFileAtomically(LocalConfig(parties.Folder(), Role::kSecondServer), FormatConfig(second));
  parties.StartServer(1);
  const SpoofModel small = testing::SmallSpoofModel(), large = testing::SmallSpoofModel(128);
  ASSERT_TRUE(parties.Load(small, "small", Scenario::kSharedModel).active);
  auto loaded = std::async(std::launch::async, [&] {
    return parties.Load(large, "large", Scenario::kSharedModel, 60.0).active;
  });
  SecureClient client = parties.ClientOf("small");
  int asked = 0;
  while (loaded.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready) {
    testing::ExpectPlainAnswers(client, small,
                                testing::SomeInputs(small, 1, static_cast<std::uint64_t>(asked++)));
  }
  EXPECT_TRUE(loaded.get());
  EXPECT_GE(asked, 3);
  SecureClient of_large = parties.ClientOf("large");
  testing::ExpectPlainAnswers(of_large, large, testing::SomeInputs(large, 1, 1));
  EXPECT_EQ(middleman.Connections(), 1U);  // the link was up all the time
}

}  // namespace
}  // namespace sotto
