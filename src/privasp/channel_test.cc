#include "privasp/channel.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <csignal>
#include <thread>
#include <vector>

#include "privasp/channel_impl.h"
#include "privasp/middleman_testing.h"
#include "privasp/tls_testing.h"

namespace sotto {
namespace {

using testing::AcceptingSays;
using testing::ChannelPair;
using testing::ChannelTest;
using testing::Connected;
using testing::ErrorOf;
using testing::kLimit;
using testing::kLong;
using testing::RandomBytes;

TEST_F(ChannelTest, BothSidesKnowEachOther) {
  for (const Role role : kRoles) {
    if (role == Role::kClient) continue;
    const TlsParty other(pki->Files(role));
    const ChannelPair pair = Connected(client_, other);
    EXPECT_EQ(pair.connected->Peer(), other.Own());
    EXPECT_EQ(pair.accepted->Peer(), client_.Own());
    EXPECT_EQ(other.Own(), (PartyIdentity{role, RoleName(role), pki->Pin(role)}));
  }
}

TEST_F(ChannelTest, FramesArriveAsTheyWereSent) {
  const ChannelPair pair = Connected(client_, server_);
  std::uint64_t bytes = 0;
  for (const std::size_t size : {0, 1, 16379, 16380, 16381, 32765, 70000, 5'000'000}) {
    const SecretBytes frame = RandomBytes(size, size);
    auto sent = std::async(std::launch::async, [&] { pair.connected->Send(frame, After(kLong)); });
    const SecretBytes there = pair.accepted->Receive(kLimit, After(kLong));
    sent.get();
    ASSERT_EQ(there, frame) << size;
    auto back = std::async(std::launch::async, [&] { pair.accepted->Send(there, After(kLong)); });
    EXPECT_EQ(pair.connected->Receive(kLimit, After(kLong)), frame);
    back.get();
    bytes += 4 + size;
  }
  EXPECT_EQ(pair.connected->BytesSent(), bytes);
  EXPECT_EQ(pair.connected->BytesReceived(), bytes);
  EXPECT_EQ(pair.accepted->BytesReceived(), bytes);
}

TEST_F(ChannelTest, SeveralSendWhileOneReceivesOnBothSides) {
  constexpr std::size_t kSenders = 3, kFrames = 150;
  const ChannelPair pair = Connected(client_, server_);
  const auto run = [&](Channel& channel) {
    std::vector<std::future<void>> senders;
    for (std::size_t s = 0; s < kSenders; ++s) {
      senders.push_back(std::async(std::launch::async, [&channel, s] {
        for (std::size_t i = 0; i < kFrames; ++i) {
          SecretBytes frame = RandomBytes(2 + i * i * 7 % 60000, s * kFrames + i);
          frame[0] = static_cast<std::uint8_t>(s);
          frame[1] = static_cast<std::uint8_t>(i);
          channel.Send(frame, After(kLong));
        }
      }));
    }
    std::vector<std::size_t> next(kSenders, 0);
    for (std::size_t n = 0; n < kSenders * kFrames; ++n) {
      const SecretBytes frame = channel.Receive(kLimit, After(kLong));
      const std::size_t s = frame.at(0), i = next.at(s)++;
      SecretBytes expected = RandomBytes(2 + i * i * 7 % 60000, s * kFrames + i);
      expected[0] = static_cast<std::uint8_t>(s);
      expected[1] = static_cast<std::uint8_t>(i);
      ASSERT_EQ(frame, expected) << s << " " << i;
    }
    for (auto& sender : senders) sender.get();
  };
  auto other = std::async(std::launch::async, [&] { run(*pair.accepted); });
  run(*pair.connected);
  other.get();
}

// Over two descriptors that lead to each other, with a new key after so many records.
ChannelPair OverSockets(const TlsParty& connects, const TlsParty& accepts, int connected,
                        int accepted, std::uint64_t most_records) {
  const auto make = [&](const TlsParty& party, int descriptor, bool second) {
    auto impl = std::make_unique<Channel::Impl>();
    impl->socket = Socket(descriptor);
    impl->address = "a pair of sockets";
    impl->most_records_of_key = most_records;
    impl->Handshake(party, second, After(kLong));
    return std::make_unique<Channel>(std::move(impl));
  };
  auto other = std::async(std::launch::async, [&] { return make(accepts, accepted, true); });
  auto first = make(connects, connected, false);
  return {std::move(first), other.get()};
}

// Frames both ways at once; the receivers begin after the senders.
void ExchangeFrames(const ChannelPair& pair, std::size_t frames, std::size_t longest) {
  const auto frame = [&](std::size_t i) { return RandomBytes(i * i % longest, i); };
  const auto send = [&](Channel& channel) {
    for (std::size_t i = 0; i < frames; ++i) channel.Send(frame(i), After(kLong));
  };
  const auto receive = [&](Channel& channel) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (std::size_t i = 0; i < frames; ++i) {
      ASSERT_EQ(channel.Receive(kLimit, After(kLong)), frame(i)) << i;
    }
  };
  std::vector<std::future<void>> all;
  for (Channel* one : {pair.connected.get(), pair.accepted.get()}) {
    all.push_back(std::async(std::launch::async, send, std::ref(*one)));
    all.push_back(std::async(std::launch::async, receive, std::ref(*one)));
  }
  for (auto& each : all) each.get();
}

TEST_F(ChannelTest, ANewKeyKeepsNobodyFromReceiving) {
  // So little fits on the way that both sides want to send a new key and cannot.
  for (const std::size_t longest : {1, 3, 5000}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const int little = 1;
    for (const int end : ends) ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    ExchangeFrames(OverSockets(client_, server_, ends[0], ends[1], 1), 300, longest);
  }
}

// Takes what comes from one socket to another, in pieces of a few bytes.
void Relay(int from, int to, std::uint64_t seed) {
  SeededRng rng(seed);
  std::array<char, 48> piece{};
  while (true) {
    const ssize_t n = ::recv(from, piece.data(), 1 + rng.Below(piece.size()), 0);
    if (n <= 0 || ::send(to, piece.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) break;
  }
  ::shutdown(to, SHUT_WR);
}

TEST_F(ChannelTest, BytesMayComeInAnyPieces) {
  std::array<std::array<int, 2>, 2> ends{};
  for (auto& pair : ends) {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  }
  const Socket middle_a(ends[0][1]), middle_b(ends[1][1]);
  const auto there = std::async(std::launch::async, Relay, ends[0][1], ends[1][1], 1);
  const auto back = std::async(std::launch::async, Relay, ends[1][1], ends[0][1], 2);
  const ChannelPair pair = OverSockets(client_, server_, ends[0][0], ends[1][0], 2);
  ExchangeFrames(pair, 300, 997);
  pair.connected->Shut();
  pair.accepted->Shut();
}

TEST_F(ChannelTest, SignalsDoNotDisturb) {
  struct sigaction tick {};
  tick.sa_handler = [](int) {};  // without SA_RESTART: system calls end early
  struct sigaction before {};
  ::sigaction(SIGALRM, &tick, &before);
  const itimerval often{{0, 2000}, {0, 2000}};
  itimerval never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  {
    const ChannelPair pair = Connected(client_, server_);
    const SecretBytes frame = RandomBytes(8'000'000, 1);
    auto sent = std::async(std::launch::async, [&] { pair.connected->Send(frame, After(kLong)); });
    EXPECT_EQ(pair.accepted->Receive(kLimit, After(kLong)), frame);
    sent.get();
    EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(kLimit, After(0.05)); }),
                "receiving took until the deadline");
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST_F(ChannelTest, AnotherRoleOrKeyIsRefusedByRequire) {
  const ChannelPair pair = Connected(client_, server_);
  const std::string pin = pki->Pin(Role::kFirstServer), other = pki->Pin(Role::kSecondServer);
  EXPECT_NO_THROW(pair.connected->Require(Role::kFirstServer, ""));
  EXPECT_NO_THROW(pair.connected->Require(Role::kFirstServer, pin));
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Require(Role::kSecondServer, ""); }),
              "server1 'server1' at 127.0.0.1:");
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Require(Role::kSecondServer, ""); }),
              ": server2 is wanted here");
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Require(Role::kFirstServer, other); }),
              "its key is " + pin + ", the one that is pinned " + other);
}

TEST_F(ChannelTest, WhoSaysNothingIsLeftAtTheDeadline) {
  EXPECT_SAYS(AcceptingSays(
                  server_,
                  [](const std::string& address) {
                    const Socket silent = ConnectTo(address, After(kLong));
                    WaitFor(silent.Descriptor(), POLLIN, After(kLong));
                  },
                  0.1),
              "the handshake took until the deadline");
  const Socket deaf = ListenOn("127.0.0.1:0");
  const std::string address = OwnAddress(deaf.Descriptor());
  EXPECT_EQ(ErrorOf([&] { Channel::Connect(client_, address, After(0.1)); }),
            address + ": the handshake took until the deadline");
}

TEST_F(ChannelTest, ReceivingEndsAtTheDeadline) {
  const ChannelPair pair = Connected(client_, server_);
  EXPECT_FALSE(pair.accepted->Readable(After(0.02)));
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(kLimit, After(0.05)); }),
              "client 'client' at 127.0.0.1:");
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(kLimit, After(kLong)); }),
              "receiving took until the deadline");
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Send(RandomBytes(9, 1), After(kLong)); }),
              "receiving took until the deadline");
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Receive(kLimit, After(kLong)); }),
              "closed by the peer");
}

TEST_F(ChannelTest, AFrameThatStopsHalfwayEndsAtTheDeadlineOrWithItsSender) {
  const ListeningPort listener("127.0.0.1:0");
  const std::array<std::uint8_t, 6> begins = {9, 0, 0, 0, 1, 2};
  for (const bool goes : {false, true}) {
    auto accepted = std::async(std::launch::async, [&] {
      return ListeningPort::Handshake(server_, listener.Accept(After(kLong)), After(kLong));
    });
    auto impl = std::make_unique<Channel::Impl>();
    impl->socket = ConnectTo(listener.Address(), After(kLong));
    impl->Handshake(client_, /*accepts=*/false, After(kLong));
    const auto channel = accepted.get();
    Patience patience(After(kLong));
    impl->Write(begins, patience);
    if (goes) impl.reset();
    EXPECT_SAYS(ErrorOf([&] { channel->Receive(kLimit, After(goes ? kLong : 0.05)); }),
                goes ? "closed by the peer" : "receiving took until the deadline");
  }
}

TEST_F(ChannelTest, SendingToWhoDoesNotReadEndsAtTheDeadline) {
  const ChannelPair pair = Connected(client_, server_);
  const SecretBytes frame(kLimit);
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Send(frame, After(0.15)); }),
              "server1 'server1' at 127.0.0.1:");
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Send({}, After(kLong)); }),
              "sending took until the deadline");
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(kLimit, After(kLong)); }), "closed by the peer");
}

TEST_F(ChannelTest, ASenderThatWaitsForAnotherHasADeadlineToo) {
  const ChannelPair pair = Connected(client_, server_);
  auto slow = std::async(std::launch::async, [&] {
    return ErrorOf([&] { pair.connected->Send(SecretBytes(kLimit), After(kLong)); });
  });
  ASSERT_TRUE(pair.accepted->Readable(After(kLong)));  // the first has begun
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Send({}, After(0.1)); }),
              "sending took until the deadline");
  EXPECT_SAYS(slow.get(), "sending took until the deadline");
}

TEST_F(ChannelTest, ALongFrameIsRefusedUnread) {
  const ChannelPair pair = Connected(client_, server_);
  pair.connected->Send(RandomBytes(1000, 1), After(kLong));
  pair.connected->Send(RandomBytes(1001, 2), After(kLong));
  pair.connected->Send(RandomBytes(10, 3), After(kLong));
  EXPECT_EQ(pair.accepted->Receive(1000, After(kLong)).size(), 1000U);
  const std::string words = "a frame of 1001 bytes is refused: at most 1000 are allowed";
  EXPECT_SAYS(ErrorOf([&] {
                EXPECT_THROW(pair.accepted->Receive(1000, After(kLong)), FrameTooLong);
                pair.accepted->Receive(1000, After(kLong));
              }),
              "an earlier frame was not received");
}

TEST_F(ChannelTest, WhoSendsAFrameThatIsTooLongCanBeTold) {
  const ChannelPair pair = Connected(client_, server_);
  pair.connected->Send(RandomBytes(1001, 2), After(kLong));
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(1000, After(kLong)); }),
              "a frame of 1001 bytes is refused: at most 1000 are allowed");
  pair.accepted->Send(RandomBytes(9, 1), After(kLong));
  pair.accepted->Shut();
  EXPECT_EQ(pair.connected->Receive(kLimit, After(kLong)), RandomBytes(9, 1));
}

TEST_F(ChannelTest, AFrameThatGetsOnHasTheTimeItTakes) {
  const ListeningPort port("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    return ListeningPort::Handshake(server_, port.Accept(After(kLong)), After(kLong));
  });
  Channel::Impl sender;
  sender.socket = ConnectTo(port.Address(), After(kLong));
  sender.Handshake(client_, /*accepts=*/false, After(kLong));
  const auto receiver = accepted.get();
  const auto receive = [&] { return receiver->Receive(kLimit, Patience::WhileMoving(0.5)).size(); };
  auto received = std::async(std::launch::async, receive);
  const std::array<std::uint8_t, 4> length = {20, 0, 0, 0}, part = {1, 2, 3, 4};
  Patience patience(After(kLong));
  sender.Write(length, patience);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    sender.Write(part, patience);
  }
  EXPECT_EQ(received.get(), 20U);
  // And no more than that where it does not get on.
  sender.Write(length, patience);
  EXPECT_SAYS(ErrorOf(receive), "receiving took until the deadline");
}

TEST_F(ChannelTest, WhoWaitsForALongFrameBeforeItsOwnWaitsAsLongAsThatGetsOn) {
  const ListeningPort port("127.0.0.1:0");
  const testing::Middleman thin(port.Address(), 1e6);
  auto accepted = std::async(std::launch::async, [&] {
    return ListeningPort::Handshake(server_, port.Accept(After(kLong)), After(kLong));
  });
  const auto sender = Channel::Connect(client_, thin.Address(), After(kLong));
  sender->KeepShortQueue();
  const auto receiver = accepted.get();
  const SecretBytes frame = RandomBytes(4U << 20, 1);  // four times as long as they have patience
  auto first =
      std::async(std::launch::async, [&] { sender->Send(frame, Patience::WhileMoving(1.0)); });
  ASSERT_TRUE(receiver->Readable(After(kLong)));
  auto second =
      std::async(std::launch::async, [&] { sender->Send({}, Patience::WhileMoving(1.0)); });
  EXPECT_EQ(receiver->Receive(kLimit, Patience::WhileMoving(1.0)), frame);
  EXPECT_EQ(receiver->Receive(kLimit, Patience::WhileMoving(1.0)).size(), 0U);
  EXPECT_NO_THROW(first.get());
  EXPECT_NO_THROW(second.get());
}

TEST_F(ChannelTest, APeerThatIsGoneIsAnError) {
  {
    ChannelPair pair = Connected(client_, server_);
    pair.accepted->Send(RandomBytes(5, 1), After(kLong));
    pair.accepted.reset();
    EXPECT_TRUE(pair.connected->Readable(After(kLong)));
    EXPECT_EQ(pair.connected->Receive(kLimit, After(kLong)), RandomBytes(5, 1));
    EXPECT_TRUE(pair.connected->Readable(After(kLong)));
    EXPECT_SAYS(ErrorOf([&] { pair.connected->Receive(kLimit, After(kLong)); }),
                "closed by the peer");
  }
  ChannelPair pair = Connected(client_, server_);
  pair.accepted.reset();
  const std::string gone = ErrorOf([&] {
    for (int i = 0; i < 1000; ++i) pair.connected->Send(RandomBytes(100'000, 1), After(kLong));
  });
  EXPECT_SAYS(gone, "closed by the peer");
}

TEST_F(ChannelTest, WhatThePeerSaidLastIsReadAfterSendingHasFailed) {
  ChannelPair pair = Connected(client_, server_);
  pair.accepted->Send(RandomBytes(40'000, 1), After(kLong));
  pair.accepted.reset();
  EXPECT_SAYS(ErrorOf([&] {
                for (int i = 0; i < 1000; ++i) pair.connected->Send({}, After(kLong));
              }),
              "closed by the peer");
  EXPECT_EQ(pair.connected->Receive(kLimit, After(kLong)), RandomBytes(40'000, 1));
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Receive(kLimit, After(kLong)); }),
              "closed by the peer");
}

TEST_F(ChannelTest, AConnectionThatBreaksIsClosedByThePeerToo) {
  const ListeningPort listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    return ListeningPort::Handshake(server_, listener.Accept(After(kLong)), After(kLong));
  });
  auto impl = std::make_unique<Channel::Impl>();
  impl->socket = ConnectTo(listener.Address(), After(kLong));
  impl->Handshake(client_, /*accepts=*/false, After(kLong));
  const auto channel = accepted.get();
  const linger at_once{1, 0};  // close() resets
  ::setsockopt(impl->socket.Descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  impl->known = false;  // no goodbye of TLS
  impl.reset();
  EXPECT_SAYS(ErrorOf([&] { channel->Receive(kLimit, After(kLong)); }), "closed by the peer");
}

TEST_F(ChannelTest, ShutWakesWhoWaits) {
  const ChannelPair pair = Connected(client_, server_);
  auto receiver = std::async(std::launch::async, [&] {
    return ErrorOf([&] { pair.connected->Receive(kLimit, After(kLong)); });
  });
  auto sender = std::async(std::launch::async, [&] {
    return ErrorOf([&] { pair.connected->Send(SecretBytes(kLimit), After(kLong)); });
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  pair.connected->Shut();
  EXPECT_SAYS(receiver.get(), "the connection was shut here");
  EXPECT_SAYS(sender.get(), "the connection was shut here");
  EXPECT_SAYS(ErrorOf([&] { pair.connected->Receive(kLimit, After(kLong)); }),
              "the connection was shut here");
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(kLimit, After(kLong)); }), "closed by the peer");
}

}  // namespace
}  // namespace sotto
