#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <filesystem>
#include <future>
#include <string>

#include "privasp/tls_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::AcceptingSays;
using testing::AcceptingSaysOf;
using testing::Connected;
using testing::ConnectingSaysOf;
using testing::ErrorOf;
using testing::Forge;
using testing::kLimit;
using testing::kLong;
using testing::RandomBytes;
using testing::Stranger;
using testing::TemporaryFolder;
using testing::TestPki;

class TlsPartyTest : public testing::ChannelTest {};

TEST_F(TlsPartyTest, OneKeyInTwoRolesIsRefusedByThePeer) {
  const KeyHandle key = ReadPrivateKey(pki->Files(Role::kFirstServer).key);
  const TlsParty twin(Forge(*pki, "twin", {.role = Role::kDealer, .not_after_s = 3600}, key.get()));
  EXPECT_SAYS(ErrorOf([&] { Connected(twin, server_); }), "one key has one role");
}

TEST_F(TlsPartyTest, ACertificateThatIsNotGoodNowIsRefusedOnBothSidesAndAtHome) {
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

TEST_F(TlsPartyTest, ForeignAuthoritiesAreRefusedAndTheOtherSideLearnsWhy) {
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

TEST_F(TlsPartyTest, ARefusedClientLearnsWhyAtItsFirstFrame) {
  const TlsFiles files = pki->Files(Role::kFirstServer);
  const auto says = [&](const std::function<void(Channel&)>& use) {
    const ListeningPort listener("127.0.0.1:0");
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

TEST_F(TlsPartyTest, CertificatesThatAreNoPartysAreRefused) {
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

TEST_F(TlsPartyTest, FilesOfAPartyMustFit) {
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

TEST_F(TlsPartyTest, OldVersionsAndGarbageAreRefused) {
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

TEST_F(TlsPartyTest, ThereIsNoTicketToComeBackWith) {
  const TlsFiles files = pki->Files(Role::kClient);
  const ListeningPort listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    const auto channel =
        ListeningPort::Handshake(server_, listener.Accept(After(kLong)), After(kLong));
    channel->Send(RandomBytes(1, 1), After(kLong));
  });
  Stranger stranger(ConnectTo(listener.Address(), After(kLong)), /*accepts=*/false,
                    {.files = &files});
  EXPECT_EQ(stranger.Trouble(), "");
  accepted.get();
  EXPECT_EQ(stranger.Tickets(), 0);
}

}  // namespace
}  // namespace sotto
