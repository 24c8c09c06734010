#include "privasp/certificates.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <fstream>
#include <future>
#include <set>
#include <vector>

#include "base/digest.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"
#include "privasp/certificates_internal.h"
#include "privasp/tls_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::ErrorOf;
using testing::TemporaryFolder;

class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() { MakeAuthority(Authority(), "authority", 3650); }

  fs::path Authority() const { return folder_ / "authority"; }
  fs::path Home(const std::string& name) const { return folder_ / name; }
  std::string Issued() const { return ReadTextFile(Authority() / "issued.tsv"); }

  PartyIdentity Sign(const fs::path& home, Role role, int days = 365) const {
    return SignRequest(Authority(), home / "party.csr", role, days, home / "party.pem");
  }

  // As `home`/party.csr: what asks for `role` with a key that is there already.
  static void Ask(const fs::path& home, Role role, const std::string& name, EVP_PKEY* key) {
    fs::create_directories(home);
    WriteRequest(home, MakeSigningRequest(role, name, key).get());
  }
  static void WriteRequest(const fs::path& home, X509_REQ* request) {
    const BioHandle bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509_REQ(bio.get(), request);
    WriteFileAtomically(home / "party.csr", TextOf(bio.get()));
  }

  TemporaryFolder folder_;
};

mode_t ModeOf(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777U;
}

// ISO 8601, so many days from now.
std::string Day(int days) {
  const std::time_t then = std::time(nullptr) + days * 86400;
  std::tm parts{};
  ::gmtime_r(&then, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

TEST(Roles, HaveNamesThatAreReadBack) {
  for (const Role role : kRoles) EXPECT_EQ(ParseRole(RoleName(role)), role);
  EXPECT_EQ(ErrorOf([] { ParseRole("server"); }),
            "'server' is no role: client, provider, dealer, server1, server2 are");
}

TEST_F(CertificatesTest, APartyIsSignedAndReadBack) {
  MakeRequest(Home("a"), Role::kFirstServer, "alpha");
  const PartyIdentity signed_as = Sign(Home("a"), Role::kFirstServer, 30);
  EXPECT_EQ(signed_as.role, Role::kFirstServer);
  EXPECT_EQ(signed_as.name, "alpha");
  const CertificateFacts facts = ReadCertificate(Home("a") / "party.pem");
  EXPECT_EQ(facts.identity, signed_as);
  EXPECT_LE(facts.not_before.substr(0, 10), Day(0));
  EXPECT_GE(facts.not_before.substr(0, 10), Day(-1));
  EXPECT_EQ(facts.not_after.substr(0, 10), Day(30)) << "or it is midnight";
  EXPECT_EQ(facts.not_after.size(), 20U);
  EXPECT_EQ(Issued(), "pin\trole\tname\tnot_after\n" + signed_as.pin + "\tserver1\talpha\t" +
                          facts.not_after + "\n");
  EXPECT_EQ(ModeOf(Home("a") / "party.key"), 0600U);
  EXPECT_EQ(ModeOf(Authority() / "authority.key"), 0600U);
}

TEST_F(CertificatesTest, ThePinIsTheSha256OfTheSubjectPublicKeyInfo) {
  MakeRequest(Home("a"), Role::kClient, "a");
  const PartyIdentity identity = Sign(Home("a"), Role::kClient);
  // RFC 8410, 4: the prefix of every Ed25519 SubjectPublicKeyInfo, then the key.
  std::string info = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
  std::array<unsigned char, 32> key{};
  std::size_t size = key.size();
  const KeyHandle read = ReadPrivateKey(Home("a") / "party.key");
  ASSERT_EQ(EVP_PKEY_get_raw_public_key(read.get(), key.data(), &size), 1);
  info.append(key.begin(), key.end());
  EXPECT_EQ(identity.pin, Sha256(info));
}

TEST_F(CertificatesTest, ExtensionsAndSerialsAreWhatTheyShouldBe) {
  const CertificateHandle authority = ReadPemCertificate(Authority() / "authority.pem");
  EXPECT_EQ(X509_check_ca(authority.get()), 1);
  EXPECT_EQ(X509_get_pathlen(authority.get()), 0);
  EXPECT_EQ(X509_get_key_usage(authority.get()), static_cast<unsigned>(KU_KEY_CERT_SIGN));
  std::set<std::string> serials;
  for (const char* name : {"a", "b", "c", "d"}) {
    MakeRequest(Home(name), Role::kClient, name);
    Sign(Home(name), Role::kClient);
    const CertificateHandle leaf = ReadPemCertificate(Home(name) / "party.pem");
    EXPECT_EQ(X509_get_version(leaf.get()), X509_VERSION_3);
    EXPECT_EQ(X509_check_ca(leaf.get()), 0);
    EXPECT_EQ(X509_get_key_usage(leaf.get()), static_cast<unsigned>(KU_DIGITAL_SIGNATURE));
    EXPECT_EQ(X509_get_extended_key_usage(leaf.get()),
              static_cast<unsigned>(XKU_SSL_CLIENT | XKU_SSL_SERVER));
    EXPECT_EQ(X509_verify(leaf.get(), X509_get0_pubkey(authority.get())), 1);
    const BigNumberHandle serial(ASN1_INTEGER_to_BN(X509_get0_serialNumber(leaf.get()), nullptr));
    EXPECT_GT(BN_num_bits(serial.get()), 64);
    EXPECT_LE(BN_num_bits(serial.get()), 128);
    EXPECT_EQ(BN_is_negative(serial.get()), 0);
    char* text = BN_bn2hex(serial.get());
    serials.insert(text);
    OPENSSL_free(text);
  }
  EXPECT_EQ(serials.size(), 4U);
}

TEST_F(CertificatesTest, PrivateKeysAreNeverReplaced) {
  EXPECT_EQ(ErrorOf([&] { MakeAuthority(Authority(), "authority", 10); }),
            "'" + (Authority() / "authority.key").string() +
                "' exists already: a private key is never replaced");
  MakeRequest(Home("a"), Role::kClient, "a");
  const std::string key = ReadTextFile(Home("a") / "party.key");
  EXPECT_SAYS(ErrorOf([&] { MakeRequest(Home("a"), Role::kClient, "a"); }), "is never replaced");
  EXPECT_EQ(ReadTextFile(Home("a") / "party.key"), key);
}

TEST_F(CertificatesTest, NamesAreOfFewLetters) {
  for (const std::string name : {"", "a b", "ä", "a/b", "a\nb", "a=b"}) {
    EXPECT_SAYS(ErrorOf([&] { MakeRequest(Home("a"), Role::kClient, name); }),
                "is not allowed: 1 to 64 letters, digits and . _ -");
  }
  EXPECT_THROW(MakeRequest(Home("a"), Role::kClient, std::string(65, 'a')), Error);
  EXPECT_FALSE(fs::exists(Home("a") / "party.key"));
  MakeRequest(Home("a"), Role::kClient, "Aa0._-" + std::string(58, 'z'));
  EXPECT_NO_THROW(Sign(Home("a"), Role::kClient));
}

TEST_F(CertificatesTest, OneKeyInTwoRolesIsRefused) {
  MakeRequest(Home("a"), Role::kFirstServer, "alpha");
  Sign(Home("a"), Role::kFirstServer);
  const KeyHandle key = ReadPrivateKey(Home("a") / "party.key");
  Ask(Home("b"), Role::kSecondServer, "beta", key.get());
  const std::string before = Issued();
  EXPECT_EQ(ErrorOf([&] { Sign(Home("b"), Role::kSecondServer); }),
            "'" + (Home("b") / "party.csr").string() +
                "' asks for the role server2: its key was signed as server1 'alpha' before, and "
                "one key has one role");
  EXPECT_FALSE(fs::exists(Home("b") / "party.pem"));
  EXPECT_EQ(Issued(), before);
  EXPECT_NO_THROW(Sign(Home("a"), Role::kFirstServer)) << "the same once more";
  const KeyHandle own = ReadPrivateKey(Authority() / "authority.key");
  Ask(Home("c"), Role::kClient, "c", own.get());
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("c"), Role::kClient); }), "the authority's own key");
}

TEST_F(CertificatesTest, ARequestForAnotherRoleIsNotSigned) {
  MakeRequest(Home("a"), Role::kClient, "a");
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kDealer); }),
              "asks for the role client, not dealer");
  const KeyHandle key = NewPrivateKey();
  const RequestHandle request = MakeSigningRequest(Role::kClient, "a", key.get());
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  X509_NAME_add_entry_by_NID(subject, NID_organizationalUnitName, MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("dealer"), -1, -1, 0);
  X509_REQ_sign(request.get(), key.get(), nullptr);
  WriteRequest(Home("a"), request.get());
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient); }),
              "the subject must have one role (organizational unit)");
}

TEST_F(CertificatesTest, ADamagedRequestIsNotSigned) {
  MakeRequest(Home("a"), Role::kClient, "a");
  std::string der;
  {
    const std::string pem = ReadTextFile(Home("a") / "party.csr");
    const BioHandle bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    char *kind = nullptr, *header = nullptr;
    unsigned char* data = nullptr;
    long length = 0;
    ASSERT_EQ(PEM_read_bio(bio.get(), &kind, &header, &data, &length), 1);
    der.assign(reinterpret_cast<char*>(data), static_cast<std::size_t>(length));
    OPENSSL_free(kind);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  fs::create_directory(Home("b"));
  const std::string before = Issued();
  for (std::size_t i = 0; i < der.size(); ++i) {
    std::string changed = der;
    changed[i] = static_cast<char>(changed[i] ^ 0x01);
    const BioHandle bio(BIO_new(BIO_s_mem()));
    PEM_write_bio(bio.get(), "CERTIFICATE REQUEST", "",
                  reinterpret_cast<const unsigned char*>(changed.data()),
                  static_cast<long>(changed.size()));
    std::ofstream(Home("b") / "party.csr") << TextOf(bio.get());  // without a sync each
    EXPECT_NE(ErrorOf([&] { Sign(Home("b"), Role::kClient); }), "") << i;
  }
  EXPECT_EQ(Issued(), before);
  WriteFileAtomically(Home("b") / "party.csr", "-----BEGIN");
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("b"), Role::kClient); }), "is no certificate request in PEM");
}

TEST_F(CertificatesTest, KeysOfOtherKindsAreRefused) {
  const KeyHandle key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  ASSERT_TRUE(key);
  const RequestHandle request(X509_REQ_new());
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  const auto add = [&](const char* field, const char* value) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(value), -1, -1, 0);
  };
  add("OU", "client");
  add("CN", "a");
  X509_REQ_set_pubkey(request.get(), key.get());
  X509_REQ_sign(request.get(), key.get(), EVP_sha256());
  fs::create_directory(Home("a"));
  WriteRequest(Home("a"), request.get());
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient); }), "its key is not of Ed25519");
}

TEST_F(CertificatesTest, NoCertificateOutlivesItsAuthority) {
  MakeRequest(Home("a"), Role::kClient, "a");
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient, 3651); }),
              "days is 3651: the certificate would end on ");
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient, 1'000'000); }),
              "days is 1000000: at most 36500 are allowed");
  EXPECT_FALSE(fs::exists(Home("a") / "party.pem"));
  EXPECT_NO_THROW(Sign(Home("a"), Role::kClient, -1));
  EXPECT_LT(ReadCertificate(Home("a") / "party.pem").not_after.substr(0, 10), Day(0));
}

TEST_F(CertificatesTest, SeveralSignAtOnceAndNoLineIsLost) {
  constexpr int kParties = 8;
  std::vector<std::future<void>> signing;
  signing.reserve(kParties);
  for (int i = 0; i < kParties; ++i) {
    signing.push_back(std::async(std::launch::async, [&, i] {
      const std::string name = "p" + std::to_string(i);
      MakeRequest(Home(name), Role::kClient, name);
      Sign(Home(name), Role::kClient);
    }));
  }
  for (auto& one : signing) one.get();
  EXPECT_EQ(SplitLines(Issued()).size(), 1U + kParties);
}

TEST_F(CertificatesTest, AnAuthorityWithoutItsListOrWithAnotherKeySignsNothing) {
  MakeRequest(Home("a"), Role::kClient, "a");
  fs::rename(Authority() / "issued.tsv", Home("list"));
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient); }), "issued.tsv");
  WriteFileAtomically(Authority() / "issued.tsv", "pin\tname\n");
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient); }),
              "columns pin, role and name are wanted");
  fs::rename(Home("list"), Authority() / "issued.tsv");
  fs::copy_file(Home("a") / "party.key", Authority() / "authority.key",
                fs::copy_options::overwrite_existing);
  EXPECT_SAYS(ErrorOf([&] { Sign(Home("a"), Role::kClient); }),
              "is the key of another certificate than '");
}

TEST_F(CertificatesTest, FilesThatAreNoCertificatesAreNamed) {
  const fs::path file = Home("x.pem");
  EXPECT_SAYS(ErrorOf([&] { ReadCertificate(file); }), file.string());
  WriteFileAtomically(file, "not a certificate\n");
  EXPECT_SAYS(ErrorOf([&] { ReadCertificate(file); }),
              "'" + file.string() + "' is no certificate in PEM");
  const std::string good = ReadTextFile(Authority() / "authority.pem");
  EXPECT_SAYS(ErrorOf([&] { ReadCertificate(Authority() / "authority.pem"); }),
              "the subject must have one role (organizational unit)");
  WriteFileAtomically(file, good + good);
  EXPECT_SAYS(ErrorOf([&] { ReadCertificate(file); }), "holds several certificates");
}

}  // namespace
}  // namespace sotto
