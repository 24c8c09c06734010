#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "privasp/tls_testing.h"

namespace sotto {
namespace {

using testing::ChannelPair;
using testing::Connected;
using testing::ErrorOf;
using testing::kLong;
using testing::RandomBytes;

class ListeningPortTest : public testing::ChannelTest {};

TEST_F(ListeningPortTest, APortThatIsShutAcceptsNoMore) {
  ListeningPort listener("127.0.0.1:0");
  EXPECT_EQ(listener.Accept(After(0.02)), -1);
  auto waiting = std::async(std::launch::async, [&] { return listener.Accept(After(kLong)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  listener.Shut();
  EXPECT_EQ(waiting.get(), -1);
  const Socket late = ConnectTo(listener.Address(), After(kLong));
  EXPECT_EQ(listener.Accept(After(kLong)), -1);
}

TEST_F(ListeningPortTest, AddressesAreReadExactly) {
  for (const char* address : {"", ":", "localhost", "localhost:", ":5000", "127.0.0.1:65536",
                              "127.0.0.1:-1", "127.0.0.1:5x", "127.0.0.1: 5", "::1:5000", "[]:5",
                              "[::1]5000", "[::1]", "[127.0.0.1]:5000"}) {
    EXPECT_NE(ErrorOf([&] { const ListeningPort listener(address); }), "") << address;
    EXPECT_NE(ErrorOf([&] { Channel::Connect(client_, address, After(kLong)); }), "") << address;
  }
  EXPECT_EQ(ErrorOf([&] { Channel::Connect(client_, "127.0.0.1:0", After(kLong)); }),
            "'127.0.0.1:0' is no address: host:port or [IPv6]:port with a port of 1 to 65535");
  EXPECT_NO_THROW(Connected(client_, server_, "localhost:0"));
}

TEST_F(ListeningPortTest, IPv6AddressesStandInBrackets) {
  try {
    const ListeningPort listener("[::1]:0");
    EXPECT_TRUE(listener.Address().starts_with("[::1]:")) << listener.Address();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const ChannelPair pair = Connected(client_, server_, "[::1]:0");
  pair.connected->Send(RandomBytes(5, 1), After(kLong));
  EXPECT_EQ(pair.accepted->Receive(5, After(kLong)), RandomBytes(5, 1));
}

TEST_F(ListeningPortTest, APortInUseAndAPortOfNobodyAreSaidSo) {
  std::string address;
  {
    const ListeningPort listener("127.0.0.1:0");
    address = listener.Address();
    EXPECT_EQ(ErrorOf([&] { const ListeningPort second(address); }),
              "cannot listen on " + address + ": Address already in use");
  }
  EXPECT_EQ(ErrorOf([&] { Channel::Connect(client_, address, After(kLong)); }),
            "cannot connect to " + address + ": Connection refused");
  EXPECT_NO_THROW(const ListeningPort again(address));
}

}  // namespace
}  // namespace sotto
