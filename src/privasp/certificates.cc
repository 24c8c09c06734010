#include "privasp/certificates.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/pem.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/files.h"
#include "base/tsv.h"
#include "privasp/certificates_internal.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestPem = 65536;
constexpr const char* kCertificateFile = "authority.pem";
constexpr const char* kKeyFile = "authority.key";
constexpr const char* kIssuedFile = "issued.tsv";
constexpr long kDay = 86400;
// The parties' clocks may be behind the authority's by so much.
constexpr long kClockSlack = 300;

long SecondsOf(int days) {
  constexpr int kMost = 36500;
  if (days > kMost || days < -kMost) {
    throw Error(fmt::format("days is {}: at most {} are allowed", days, kMost));
  }
  return days * kDay;
}

void RefuseExistingKey(const fs::path& path) {
  std::error_code code;
  if (!fs::exists(fs::symlink_status(path, code))) return;
  throw Error(fmt::format("'{}' exists already: a private key is never replaced", path.string()));
}

// One signs at a time, so that no line of issued.tsv is lost.
class AuthorityLock {
 public:
  explicit AuthorityLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      throw Error(fmt::format("cannot open '{}': {}", folder.string(), SystemReason()));
    }
    while (::flock(descriptor_, LOCK_EX) != 0) {
      if (errno != EINTR) break;  // a file system without locks
    }
  }
  AuthorityLock(const AuthorityLock&) = delete;
  AuthorityLock& operator=(const AuthorityLock&) = delete;
  ~AuthorityLock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

// Throws Error where the key has another role already.
void CheckIssued(const std::string& issued, const fs::path& file, const PartyIdentity& identity,
                 const fs::path& request) {
  const Tsv table = ParseTsv(issued, file.string());
  const std::size_t pin = table.Column("pin"), role = table.Column("role"),
                    name = table.Column("name");
  if (pin == Tsv::kNone || role == Tsv::kNone || name == Tsv::kNone) {
    throw Error(fmt::format("{}: columns pin, role and name are wanted", file.string()));
  }
  for (const auto& row : table.rows) {
    if (row[pin] != identity.pin || row[role] == RoleName(identity.role)) continue;
    throw Error(
        fmt::format("'{}' asks for the role {}: its key was signed as {} '{}' before, and one key "
                    "has one role",
                    request.string(), RoleName(identity.role), row[role], row[name]));
  }
}

}  // namespace

void MakeAuthority(const fs::path& folder, const std::string& name, int days) {
  const long life = SecondsOf(days);
  MakeFolder(folder);
  RefuseExistingKey(folder / kKeyFile);
  RefuseExisting(folder / kCertificateFile, IfExists::kRefuse);
  RefuseExisting(folder / kIssuedFile, IfExists::kRefuse);
  const KeyHandle key = NewPrivateKey();
  const CertificateHandle certificate =
      MakeCertificate({.role = std::nullopt,
                       .name = name,
                       .key = key.get(),
                       .issuer = nullptr,
                       .issuer_key = key.get(),
                       .not_before_s = std::min(0L, life) - kClockSlack,
                       .not_after_s = life});
  WritePrivateKey(folder / kKeyFile, key.get());
  WriteFileAtomically(folder / kIssuedFile, "pin\trole\tname\tnot_after\n");
  WriteCertificate(folder / kCertificateFile, certificate.get());
}

void MakeRequest(const fs::path& folder, Role role, const std::string& name) {
  MakeFolder(folder);
  RefuseExistingKey(folder / "party.key");
  const KeyHandle key = NewPrivateKey();
  const RequestHandle request = MakeSigningRequest(role, name, key.get());
  WritePrivateKey(folder / "party.key", key.get());
  const BioHandle bio(Succeeded(BIO_new(BIO_s_mem()), "give memory"));
  Succeeded(PEM_write_bio_X509_REQ(bio.get(), request.get()), "write the request");
  WriteFileAtomically(folder / "party.csr", TextOf(bio.get()));
}

PartyIdentity SignRequest(const fs::path& authority, const fs::path& request, Role role, int days,
                          const fs::path& certificate) {
  const long life = SecondsOf(days);
  RequireDistinct(
      {certificate, authority / kCertificateFile, authority / kKeyFile, authority / kIssuedFile},
      request);
  const AuthorityLock lock(authority);
  const CertificateHandle issuer = ReadPemCertificate(authority / kCertificateFile);
  const KeyHandle issuer_key = ReadPrivateKey(authority / kKeyFile);
  if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    throw Error(fmt::format("'{}' is the key of another certificate than '{}'",
                            (authority / kKeyFile).string(),
                            (authority / kCertificateFile).string()));
  }
  const std::string where = fmt::format("'{}'", request.string());
  const RequestHandle asked = ParsePemRequest(ReadTextFile(request, kLargestPem), where);
  EVP_PKEY* key = X509_REQ_get0_pubkey(asked.get());
  PartyIdentity identity = IdentityOfSubject(X509_REQ_get_subject_name(asked.get()), key, where);
  if (X509_REQ_verify(asked.get(), key) != 1) {
    ERR_clear_error();
    throw Error(fmt::format("{} is not signed by its own key: damaged or changed", where));
  }
  if (identity.role != role) {
    throw Error(fmt::format("{} asks for the role {}, not {}", where, RoleName(identity.role),
                            RoleName(role)));
  }
  if (identity.pin == PinOf(issuer_key.get())) {
    throw Error(
        fmt::format("{} asks for the authority's own key: a party has one of its own", where));
  }
  const fs::path issued_file = authority / kIssuedFile;
  std::string issued = ReadTextFile(issued_file);
  CheckIssued(issued, issued_file, identity, request);
  const CertificateHandle made = MakeCertificate({.role = role,
                                                  .name = identity.name,
                                                  .key = key,
                                                  .issuer = issuer.get(),
                                                  .issuer_key = issuer_key.get(),
                                                  .not_before_s = std::min(0L, life) - kClockSlack,
                                                  .not_after_s = life});
  const std::string not_after = UtcText(X509_get0_notAfter(made.get()));
  const std::string last = UtcText(X509_get0_notAfter(issuer.get()));
  if (not_after > last) {
    throw Error(
        fmt::format("days is {}: the certificate would end on {}, later than the "
                    "authority's own on {}",
                    days, not_after, last));
  }
  // Listed before it exists: what the list does not know was never handed out.
  issued += fmt::format("{}\t{}\t{}\t{}\n", identity.pin, RoleName(role), identity.name, not_after);
  WriteFileAtomically(issued_file, issued);
  WriteCertificate(certificate, made.get());
  return identity;
}

CertificateFacts ReadCertificate(const fs::path& certificate) {
  const CertificateHandle read = ReadPemCertificate(certificate);
  return {.identity = IdentityOf(read.get(), fmt::format("'{}'", certificate.string())),
          .not_before = UtcText(X509_get0_notBefore(read.get())),
          .not_after = UtcText(X509_get0_notAfter(read.get()))};
}

}  // namespace sotto
