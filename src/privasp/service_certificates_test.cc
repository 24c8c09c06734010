// Who may connect to a server, and as what.
#include <gtest/gtest.h>

#include "privasp/service_testing.h"
#include "privasp/tls_testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::Eventually;
using testing::ExpectPlainAnswers;
using testing::LocalParties;
using testing::ReasonOf;
using testing::SmallSpoofModel;
using testing::SomeInputs;
using testing::Stranger;
using testing::TestPki;

class Certificates : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    parties = new LocalParties;
    model = new SpoofModel(SmallSpoofModel());
    parties->Load(*model, "small", Scenario::kPublicModel);
  }
  static void TearDownTestSuite() {
    delete model;
    delete parties;
  }
  void TearDown() override {
    SecureClient client = parties->ClientOf("small");
    ExpectPlainAnswers(client, *model, SomeInputs(*model, 1, 5));
  }

  // Whatever this deployment's authority would sign if it did not look.
  static TlsFiles Sign(const std::string& name, CertificateFields fields, EVP_PKEY* key = nullptr) {
    const std::filesystem::path authority = parties->Folder() / "authority";
    const std::filesystem::path home = parties->Folder() / ("forged-" + name);
    std::filesystem::create_directory(home);
    const CertificateHandle issuer = ReadPemCertificate(authority / "authority.pem");
    const KeyHandle issuer_key = ReadPrivateKey(authority / "authority.key");
    const KeyHandle fresh = NewPrivateKey();
    fields.name = name;
    fields.key = key != nullptr ? key : fresh.get();
    fields.issuer = issuer.get();
    fields.issuer_key = issuer_key.get();
    TlsFiles files{home / "party.pem", home / "party.key", authority / "authority.pem"};
    WriteCertificate(files.certificate, MakeCertificate(fields).get());
    WritePrivateKey(files.key, fields.key);
    return files;
  }
  static CertificateFields Now(Role role) { return {.role = role, .not_after_s = 3600}; }

  // Asks a server under these papers for what everybody may ask for.
  static void Ask(std::size_t p, const TlsFiles& files) {
    const PartyConfig config = parties->Config(Role::kClient);
    const TlsParty party(files);
    Conversation line(party, config, LocalParties::RoleOf(p));
    line.Ask<StatusMessage>(AskStatusMessage{});
  }
  static void ExpectWrongRole(std::size_t p, const TlsFiles& files) {
    const std::uint64_t before = parties->Count(p, "role");
    EXPECT_EQ(ReasonOf([&] { Ask(p, files); }), "role");
    EXPECT_EQ(parties->Count(p, "role"), before + 1);
  }
  // A handshake that fails, by who takes every server for good, is counted; what it was told.
  static std::string Told(std::size_t p, const TlsFiles* files) {
    const std::uint64_t before = parties->Count(p, "failed_handshakes");
    Stranger stranger(ConnectTo(parties->At(p).Address(), After(20.0)), /*accepts=*/false,
                      {.files = files});
    std::string told = stranger.Trouble();
    EXPECT_TRUE(Eventually([&] { return parties->Count(p, "failed_handshakes") == before + 1; }));
    return told;
  }

  static inline LocalParties* parties = nullptr;
  static inline SpoofModel* model = nullptr;
};

TEST_F(Certificates, ThatHaveExpired) {
  for (const Role role : {Role::kClient, Role::kDealer, Role::kProvider, Role::kSecondServer}) {
    const TlsFiles files = Sign(std::string("expired-") + RoleName(role),
                                {.role = role, .not_before_s = -7200, .not_after_s = -3600});
    EXPECT_SAYS(Told(0, &files), "expired");
    EXPECT_THROW(TlsParty{files}, Error);  // nor does such a party begin
  }
}

TEST_F(Certificates, OfAnotherAuthority) {
  const testing::TemporaryFolder elsewhere;
  const TestPki pki(elsewhere.Path());
  for (const Role role : {Role::kClient, Role::kDealer, Role::kProvider, Role::kSecondServer}) {
    const TlsFiles files = pki.Files(role);
    EXPECT_NE(Told(0, &files), "");
    EXPECT_NE(Told(1, &files), "");
  }
  EXPECT_NE(Told(0, nullptr), "");  // none at all
}

TEST_F(Certificates, OfAPartyThatIsPinnedWithAnotherKey) {
  for (const Role role : {Role::kDealer, Role::kProvider}) {
    const TlsFiles files = Sign(std::string("other-") + RoleName(role), Now(role));
    for (const std::size_t p : {0, 1}) ExpectWrongRole(p, files);
  }
  ExpectWrongRole(0, Sign("other-second", Now(Role::kSecondServer)));
}

TEST_F(Certificates, OfAServersOwnRole) {
  ExpectWrongRole(0, Sign("first-at-first", Now(Role::kFirstServer)));
  ExpectWrongRole(1, Sign("second-at-second", Now(Role::kSecondServer)));
  ExpectWrongRole(1, Sign("first-at-second", Now(Role::kFirstServer)));
}

TEST_F(Certificates, OneKeyInTwoRoles) {
  for (const Role owner : {Role::kDealer, Role::kProvider, Role::kSecondServer}) {
    const KeyHandle key = ReadPrivateKey(parties->Config(owner).files.key);
    const TlsFiles files =
        Sign(std::string("client-of-") + RoleName(owner), Now(Role::kClient), key.get());
    ExpectWrongRole(0, files);
  }
  // The server's own key: the handshake itself ends.
  const KeyHandle key = ReadPrivateKey(parties->Config(Role::kFirstServer).files.key);
  const TlsFiles files = Sign("client-of-first", Now(Role::kClient), key.get());
  const std::uint64_t before = parties->Count(0, "failed_handshakes");
  EXPECT_THROW(Ask(0, files), Error);
  EXPECT_TRUE(Eventually([&] { return parties->Count(0, "failed_handshakes") == before + 1; }));
}

TEST_F(Certificates, OfAServerWhoseKeyIsAnother) {
  // A client that is sent to the wrong server does not ask it.
  PartyConfig config = parties->Config(Role::kClient);
  std::swap(config.peers[Role::kFirstServer].address, config.peers[Role::kSecondServer].address);
  EXPECT_SAYS(testing::ErrorOf([&] { SecureClient client(config, "small"); }),
              "server1 is wanted here");
  config = parties->Config(Role::kClient);
  config.peers[Role::kFirstServer].pin = std::string(64, 'a');
  EXPECT_SAYS(testing::ErrorOf([&] { SecureClient client(config, "small"); }), "is pinned");
}

TEST_F(Certificates, OfOtherRolesStartNoParty) {
  PartyConfig config = parties->Config(Role::kClient);
  config.listen = "127.0.0.1:0";
  config.state = parties->Folder() / "nowhere";
  const EventLog log("x", true);
  EXPECT_SAYS(testing::ErrorOf([&] { ServerService(config, log); }), "role server1 or server2");
  EXPECT_SAYS(testing::ErrorOf([&] { DealerService(config, log); }), "role dealer");
  EXPECT_SAYS(testing::ErrorOf([&] { RetireModelAtServers(config, "small"); }), "role provider");
  EXPECT_SAYS(testing::ErrorOf([&] { SecureClient(parties->Config(Role::kProvider)); }),
              "role client");
}

}  // namespace
}  // namespace sotto
