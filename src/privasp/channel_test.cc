#include "privasp/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/testing.h"
#include "privasp/certificates_internal.h"
#include "privasp/channel_impl.h"
#include "privasp/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::ChannelPair;
using testing::Connected;
using testing::TemporaryFolder;
using testing::TestPki;

constexpr double kLong = 20.0;  // never reached
constexpr std::size_t kLimit = std::size_t{1} << 26;

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

#define EXPECT_SAYS(text, words) EXPECT_PRED2(Says, text, words)
bool Says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos && text.find('\n') == std::string::npos;
}

SecretBytes RandomBytes(std::size_t size, std::uint64_t seed) {
  SeededRng rng(seed);
  SecretBytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(rng());
  return bytes;
}

// What the authority of `pki` would sign if it did not look.
TlsFiles Forge(const TestPki& pki, const std::string& name, CertificateFields fields,
               EVP_PKEY* key = nullptr) {
  const fs::path home = pki.folder / ("forged-" + name);
  fs::create_directory(home);
  const CertificateHandle issuer = ReadPemCertificate(pki.Authority() / "authority.pem");
  const KeyHandle issuer_key = ReadPrivateKey(pki.Authority() / "authority.key");
  const KeyHandle fresh = NewPrivateKey();
  if (key == nullptr) key = fresh.get();
  fields.name = name;
  fields.key = key;
  if (fields.issuer == nullptr) fields.issuer = issuer.get();
  if (fields.issuer_key == nullptr) fields.issuer_key = issuer_key.get();
  TlsFiles files{home / "party.pem", home / "party.key", pki.Authority() / "authority.pem"};
  WriteCertificate(files.certificate, MakeCertificate(fields).get());
  WritePrivateKey(files.key, key);
  return files;
}

// The other end of a connection, by another program that trusts everybody.
class Stranger {
 public:
  struct Settings {
    int version = TLS1_3_VERSION;
    const TlsFiles* files = nullptr;  // none: no certificate
    fs::path chain{};                 // sent along
    bool refuses = false;             // every certificate, as if it had expired
  };

  Stranger(Socket socket, bool accepts, const Settings& settings) : socket_(std::move(socket)) {
    const int descriptor = socket_.Descriptor();
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    const timeval patience{static_cast<time_t>(kLong), 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    context_.reset(SSL_CTX_new(TLS_method()));
    SSL_CTX_set_min_proto_version(context_.get(), settings.version);
    SSL_CTX_set_max_proto_version(context_.get(), settings.version);
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(context_.get(), [](SSL* ssl, SSL_SESSION*) {
      ++*static_cast<int*>(SSL_get_app_data(ssl));
      return 0;
    });
    if (settings.files != nullptr) {
      SSL_CTX_use_certificate_file(context_.get(), settings.files->certificate.c_str(),
                                   SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(context_.get(), settings.files->key.c_str(), SSL_FILETYPE_PEM);
    }
    if (!settings.chain.empty()) {
      SSL_CTX_add1_chain_cert(context_.get(), ReadPemCertificate(settings.chain).get());
    }
    if (settings.refuses) {
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, [](int, X509_STORE_CTX* context) {
        X509_STORE_CTX_set_error(context, X509_V_ERR_CERT_HAS_EXPIRED);
        return 0;
      });
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_app_data(ssl_.get(), &tickets_);
    state_.descriptor = descriptor;
    BIO* const bio = MakeSocketBio(state_).release();
    SSL_set_bio(ssl_.get(), bio, bio);
    const int done = accepts ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get());
    if (done != 1) trouble_ = OpensslReason();
  }

  // Waits for one byte, or for what comes instead.
  std::string Trouble() {
    char byte = 0;
    if (trouble_.empty() && SSL_read(ssl_.get(), &byte, 1) != 1) trouble_ = OpensslReason();
    return trouble_;
  }
  int Tickets() const { return tickets_; }

 private:
  Socket socket_;
  SocketState state_;
  int tickets_ = 0;
  SslContextHandle context_;
  SslHandle ssl_;
  std::string trouble_;
};

using ClientOf = std::function<void(const std::string& address)>;

// What the accepting side says of a client.
std::string AcceptingSays(const TlsParty& party, const ClientOf& client, double seconds = kLong) {
  const Listener listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    const int descriptor = listener.Accept(After(kLong));
    return ErrorOf([&] { Listener::Handshake(party, descriptor, After(seconds)); });
  });
  client(listener.Address());
  return accepted.get();
}

// The same for a stranger who connects, and what the stranger is told.
std::string AcceptingSaysOf(const TlsParty& party, const Stranger::Settings& settings,
                            std::string& told) {
  return AcceptingSays(party, [&](const std::string& address) {
    told = Stranger(ConnectTo(address, After(kLong)), /*accepts=*/false, settings).Trouble();
  });
}

// What the connecting side says of a stranger who listens.
std::string ConnectingSaysOf(const TlsParty& party, const Stranger::Settings& settings,
                             std::string& told) {
  const Listener listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    return Stranger(Socket(listener.Accept(After(kLong))), /*accepts=*/true, settings).Trouble();
  });
  const std::string said =
      ErrorOf([&] { Channel::Connect(party, listener.Address(), After(kLong)); });
  told = accepted.get();
  return said;
}

// One deployment for all tests.
class ChannelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    pki = new TestPki(folder->Path());
  }
  static void TearDownTestSuite() {
    delete pki;
    delete folder;
  }

  static TemporaryFolder* folder;
  static TestPki* pki;
  TlsParty client_{pki->Files(Role::kClient)}, server_{pki->Files(Role::kFirstServer)};
};
TemporaryFolder* ChannelTest::folder = nullptr;
TestPki* ChannelTest::pki = nullptr;

TEST_F(ChannelTest, BothSidesKnowEachOther) {
  for (const Role role : testing::kAllRoles) {
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
  std::thread other([&] { run(*pair.accepted); });
  run(*pair.connected);
  other.join();
}

TEST_F(ChannelTest, KeysAreReplacedAndFramesGoOn) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const auto make = [&](std::size_t i, const TlsParty& party) {
    auto impl = std::make_unique<Channel::Impl>();
    impl->socket = Socket(ends[i]);
    impl->address = "a pair of sockets";
    impl->most_records_of_key = 3;
    impl->Handshake(party, i == 1, After(kLong));
    return std::make_unique<Channel>(std::move(impl));
  };
  auto accepted = std::async(std::launch::async, [&] { return make(1, server_); });
  const auto a = make(0, client_);
  const auto b = accepted.get();
  const auto run = [](Channel& channel) {
    auto sent = std::async(std::launch::async, [&] {
      for (std::size_t i = 0; i < 100; ++i) {
        channel.Send(RandomBytes(i * 997, i), After(kLong));
      }
    });
    for (std::size_t i = 0; i < 100; ++i) {
      ASSERT_EQ(channel.Receive(kLimit, After(kLong)), RandomBytes(i * 997, i)) << i;
    }
    sent.get();
  };
  std::thread other([&] { run(*b); });
  run(*a);
  other.join();
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

TEST_F(ChannelTest, OneKeyInTwoRolesIsRefusedByThePeer) {
  const KeyHandle key = ReadPrivateKey(pki->Files(Role::kFirstServer).key);
  const TlsParty twin(Forge(*pki, "twin", {.role = Role::kDealer, .not_after_s = 3600}, key.get()));
  EXPECT_SAYS(ErrorOf([&] { Connected(twin, server_); }), "one key has one role");
}

TEST_F(ChannelTest, ACertificateThatIsNotGoodNowIsRefusedOnBothSidesAndAtHome) {
  struct Case {
    const char* name;
    long from, to;
    const char *words, *alert;
  };
  for (const Case& c :
       {Case{"expired", -7200, -3600, "has expired", "certificate expired"},
        Case{"early", 3600, 7200, "is not valid yet (or a clock is wrong)", "bad certificate"}}) {
    const TlsFiles files =
        Forge(*pki, c.name, {.role = Role::kDealer, .not_before_s = c.from, .not_after_s = c.to});
    EXPECT_SAYS(ErrorOf([&] { const TlsParty own(files); }),
                "the certificate '" + files.certificate.string() + "' " + c.words);
    std::string told;
    EXPECT_SAYS(AcceptingSaysOf(server_, {.files = &files}, told),
                std::string("the peer's certificate ") + c.words);
    EXPECT_SAYS(told, c.alert);
    EXPECT_SAYS(ConnectingSaysOf(client_, {.files = &files}, told),
                std::string("the peer's certificate ") + c.words);
    EXPECT_SAYS(told, c.alert);
  }
}

TEST_F(ChannelTest, ForeignAuthoritiesAreRefusedAndTheOtherSideLearnsWhy) {
  const TemporaryFolder elsewhere;
  const TestPki foreign(elsewhere.Path());
  const TlsParty stranger(foreign.Files(Role::kClient));
  std::string told;
  EXPECT_SAYS(
      AcceptingSays(server_,
                    [&](const std::string& address) {
                      told = ErrorOf([&] { Channel::Connect(stranger, address, After(kLong)); });
                    }),
      "the peer refuses the connection: unknown ca");
  EXPECT_SAYS(told, "the peer's certificate is not signed by this authority");

  // Who trusts everybody is refused by the accepting side, and told at its first frame.
  TlsFiles mixed = foreign.Files(Role::kClient);
  EXPECT_SAYS(AcceptingSaysOf(server_, {.files = &mixed}, told),
              "the peer's certificate is not signed by this authority");
  EXPECT_SAYS(told, "unknown ca");
  EXPECT_SAYS(ConnectingSaysOf(client_, {.files = &mixed}, told),
              "the peer's certificate is not signed by this authority");
  EXPECT_SAYS(AcceptingSaysOf(
                  server_, {.files = &mixed, .chain = foreign.Authority() / "authority.pem"}, told),
              "the peer's certificate is not signed by this authority");
  mixed.authority = pki->Authority() / "authority.pem";
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(mixed); }), "is not signed by this authority");
}

TEST_F(ChannelTest, ARefusedClientLearnsWhyAtItsFirstFrame) {
  const TlsFiles files = pki->Files(Role::kFirstServer);
  const auto says = [&](const std::function<void(Channel&)>& use) {
    const Listener listener("127.0.0.1:0");
    auto accepted = std::async(std::launch::async, [&] {
      return Stranger(Socket(listener.Accept(After(kLong))), /*accepts=*/true,
                      {.files = &files, .refuses = true})
          .Trouble();
    });
    const auto channel = Channel::Connect(client_, listener.Address(), After(kLong));
    accepted.get();
    return ErrorOf([&] { use(*channel); });
  };
  EXPECT_SAYS(says([](Channel& channel) { channel.Receive(kLimit, After(kLong)); }),
              "the peer refuses the connection: certificate expired");
  EXPECT_SAYS(says([](Channel& channel) {
                for (int i = 0; i < 100; ++i) channel.Send(RandomBytes(100'000, 1), After(kLong));
              }),
              "the peer refuses the connection: certificate expired");
}

TEST_F(ChannelTest, CertificatesThatAreNoPartysAreRefused) {
  std::string told;
  // Signed by itself.
  const KeyHandle key = NewPrivateKey();
  const fs::path home = pki->folder / "selfish";
  fs::create_directory(home);
  const TlsFiles selfish{home / "party.pem", home / "party.key",
                         pki->Authority() / "authority.pem"};
  WriteCertificate(selfish.certificate, MakeCertificate({.role = Role::kClient,
                                                         .name = "selfish",
                                                         .key = key.get(),
                                                         .issuer_key = key.get(),
                                                         .not_after_s = 3600})
                                            .get());
  WritePrivateKey(selfish.key, key.get());
  EXPECT_SAYS(AcceptingSaysOf(server_, {.files = &selfish}, told),
              "the peer's certificate is signed by itself, not by this authority");
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(selfish); }), "is signed by itself");

  // Without a role: what the authority would sign for another authority, and its own.
  const TlsFiles authority = Forge(*pki, "sub", {.not_after_s = 3600});
  EXPECT_SAYS(AcceptingSaysOf(server_, {.files = &authority}, told), "the peer's certificate ");
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(authority); }),
              "the subject must have one role (organizational unit)");
  const TlsFiles root{pki->Authority() / "authority.pem", pki->Authority() / "authority.key",
                      pki->Authority() / "authority.pem"};
  EXPECT_SAYS(AcceptingSaysOf(server_, {.files = &root}, told), "the peer's certificate ");

  // Signed by a party, which is sent along.
  const TlsFiles party = pki->Files(Role::kClient);
  const CertificateHandle issuer = ReadPemCertificate(party.certificate);
  const KeyHandle issuer_key = ReadPrivateKey(party.key);
  const TlsFiles grandchild = Forge(*pki, "grandchild",
                                    {.role = Role::kDealer,
                                     .issuer = issuer.get(),
                                     .issuer_key = issuer_key.get(),
                                     .not_after_s = 3600});
  EXPECT_SAYS(AcceptingSaysOf(server_, {.files = &grandchild, .chain = party.certificate}, told),
              "the peer's certificate ");
  EXPECT_FALSE(told.empty());

  EXPECT_SAYS(AcceptingSaysOf(server_, {}, told), "the peer shows no certificate");
  EXPECT_SAYS(told, "certificate required");
}

TEST_F(ChannelTest, FilesOfAPartyMustFit) {
  const TlsFiles good = pki->Files(Role::kClient);
  TlsFiles files = good;
  files.key = pki->Files(Role::kDealer).key;
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(files); }),
              "'" + files.key.string() + "' is the key of another certificate than '");
  files = good;
  files.authority = good.certificate;
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(files); }), "is no authority's certificate");
  files = good;
  files.certificate = good.key;
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(files); }), "is no certificate in PEM");
  files = good;
  files.key = good.certificate;
  fs::permissions(files.key, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(files); }), "is no private key of Ed25519");

  files = pki->Files(Role::kClient, "careless");
  fs::permissions(files.key, fs::perms::group_read, fs::perm_options::add);
  EXPECT_SAYS(ErrorOf([&] { const TlsParty own(files); }), "has mode 640");
}

TEST_F(ChannelTest, OldVersionsAndGarbageAreRefused) {
  const TlsFiles files = pki->Files(Role::kClient);
  std::string told;
  EXPECT_SAYS(AcceptingSaysOf(server_, {.version = TLS1_2_VERSION, .files = &files}, told),
              "TLS 1.3 fails: unsupported protocol");
  EXPECT_SAYS(told, "protocol version");
  EXPECT_SAYS(ConnectingSaysOf(client_, {.version = TLS1_2_VERSION, .files = &files}, told),
              "the peer refuses the connection: protocol version");
  const auto plain = [](const std::string& text) {
    return [text](const std::string& address) {
      const Socket socket = ConnectTo(address, After(kLong));
      ASSERT_EQ(::send(socket.Descriptor(), text.data(), text.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(text.size()));
      WaitFor(socket.Descriptor(), POLLIN, After(kLong));
    };
  };
  EXPECT_SAYS(AcceptingSays(server_, plain(std::string(200, 'x'))), "TLS 1.3 fails: ");
  EXPECT_SAYS(AcceptingSays(server_, plain("GET / HTTP/1.1\r\n\r\n")), "http request");
}

TEST_F(ChannelTest, ThereIsNoTicketToComeBackWith) {
  const TlsFiles files = pki->Files(Role::kClient);
  const Listener listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    const auto channel = Listener::Handshake(server_, listener.Accept(After(kLong)), After(kLong));
    channel->Send(RandomBytes(1, 1), After(kLong));
  });
  Stranger stranger(ConnectTo(listener.Address(), After(kLong)), /*accepts=*/false,
                    {.files = &files});
  EXPECT_EQ(stranger.Trouble(), "");
  accepted.get();
  EXPECT_EQ(stranger.Tickets(), 0);
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
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(1000, After(kLong)); }), words);
  EXPECT_SAYS(ErrorOf([&] { pair.accepted->Receive(1000, After(kLong)); }), words);
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

TEST_F(ChannelTest, AConnectionThatBreaksIsClosedByThePeerToo) {
  const Listener listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    return Listener::Handshake(server_, listener.Accept(After(kLong)), After(kLong));
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

TEST_F(ChannelTest, AListenerThatIsShutAcceptsNoMore) {
  Listener listener("127.0.0.1:0");
  EXPECT_EQ(listener.Accept(After(0.02)), -1);
  auto waiting = std::async(std::launch::async, [&] { return listener.Accept(After(kLong)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  listener.Shut();
  EXPECT_EQ(waiting.get(), -1);
  const Socket late = ConnectTo(listener.Address(), After(kLong));
  EXPECT_EQ(listener.Accept(After(kLong)), -1);
}

TEST_F(ChannelTest, AddressesAreReadExactly) {
  for (const char* address : {"", ":", "localhost", "localhost:", ":5000", "127.0.0.1:65536",
                              "127.0.0.1:-1", "127.0.0.1:5x", "127.0.0.1: 5", "::1:5000", "[]:5",
                              "[::1]5000", "[::1]", "[127.0.0.1]:5000"}) {
    EXPECT_NE(ErrorOf([&] { const Listener listener(address); }), "") << address;
    EXPECT_NE(ErrorOf([&] { Channel::Connect(client_, address, After(kLong)); }), "") << address;
  }
  EXPECT_EQ(ErrorOf([&] { Channel::Connect(client_, "127.0.0.1:0", After(kLong)); }),
            "'127.0.0.1:0' is no address: host:port or [IPv6]:port with a port of 1 to 65535");
  EXPECT_NO_THROW(Connected(client_, server_, "localhost:0"));
}

TEST_F(ChannelTest, IPv6AddressesStandInBrackets) {
  try {
    const Listener listener("[::1]:0");
    EXPECT_TRUE(listener.Address().starts_with("[::1]:")) << listener.Address();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const ChannelPair pair = Connected(client_, server_, "[::1]:0");
  pair.connected->Send(RandomBytes(5, 1), After(kLong));
  EXPECT_EQ(pair.accepted->Receive(5, After(kLong)), RandomBytes(5, 1));
}

TEST_F(ChannelTest, APortInUseAndAPortOfNobodyAreSaidSo) {
  std::string address;
  {
    const Listener listener("127.0.0.1:0");
    address = listener.Address();
    EXPECT_EQ(ErrorOf([&] { const Listener second(address); }),
              "cannot listen on " + address + ": Address already in use");
  }
  EXPECT_EQ(ErrorOf([&] { Channel::Connect(client_, address, After(kLong)); }),
            "cannot connect to " + address + ": Connection refused");
  EXPECT_NO_THROW(const Listener again(address));
}

}  // namespace
}  // namespace sotto
