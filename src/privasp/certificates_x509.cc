// Certificates, requests and keys as OpenSSL has them.
#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/digest.h"
#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "mpc/secret.h"
#include "privasp/certificates_internal.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestPem = 65536;
constexpr std::array<const char*, 5> kRoleNames = {"client", "provider", "dealer", "server1",
                                                   "server2"};

// They stand in tables, messages and file names.
void CheckName(std::string_view name, const std::string& where) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (!name.empty() && name.size() <= 64 && name.find_first_not_of(kAllowed) == name.npos) return;
  throw Error(fmt::format("{}: the name '{}' is not allowed: 1 to 64 letters, digits and . _ -",
                          where, Printable(name)));
}

void AddSubject(X509_NAME* subject, const std::optional<Role>& role, const std::string& name) {
  CheckName(name, role ? RoleName(*role) : "authority");
  const auto add = [&](int field, const char* value) {
    Succeeded(X509_NAME_add_entry_by_NID(subject, field, MBSTRING_UTF8,
                                         reinterpret_cast<const unsigned char*>(value), -1, -1, 0),
              "take the subject");
  };
  if (role) add(NID_organizationalUnitName, RoleName(*role));
  add(NID_commonName, name.c_str());
}

std::string SubjectField(const X509_NAME* subject, int field, const char* field_name,
                         const std::string& where) {
  const int at = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), field, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), field, at) >= 0) {
    throw Error(fmt::format("{}: the subject must have one {}", where, field_name));
  }
  unsigned char* text = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (length < 0) throw Error(fmt::format("{}: {} is no text", where, field_name));
  std::string value(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  return value;
}

void AddExtension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionHandle extension(
      Succeeded(X509V3_EXT_conf_nid(nullptr, &context, kind, value), "make an extension"));
  Succeeded(X509_add_ext(certificate, extension.get(), -1), "take an extension");
}

void SetSerial(X509* certificate) {
  std::array<std::uint8_t, 16> bytes{};
  SecureRandomBytes(bytes);
  const BigNumberHandle serial(
      Succeeded(BN_bin2bn(bytes.data(), bytes.size(), nullptr), "give memory"));
  Succeeded(BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)),
            "take the serial number");
}

bool IsEd25519(EVP_PKEY* key) { return key != nullptr && EVP_PKEY_is_a(key, "ED25519") == 1; }

}  // namespace

const char* RoleName(Role role) { return kRoleNames.at(static_cast<std::size_t>(role)); }

Role ParseRole(const std::string& name) {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (name == kRoleNames[i]) return static_cast<Role>(i);
  }
  throw Error(fmt::format("'{}' is no role: {} are", Printable(name), fmt::join(kRoleNames, ", ")));
}

std::string PinOf(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int length = Succeeded(i2d_PUBKEY(key, &der), "write the public key");
  std::string pin = Sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)});
  OPENSSL_free(der);
  return pin;
}

PartyIdentity IdentityOfSubject(const X509_NAME* subject, EVP_PKEY* key, const std::string& where) {
  if (!IsEd25519(key)) throw Error(fmt::format("{}: its key is not of Ed25519", where));
  const std::string role =
      SubjectField(subject, NID_organizationalUnitName, "role (organizational unit)", where);
  PartyIdentity identity;
  try {
    identity.role = ParseRole(role);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
  identity.name = SubjectField(subject, NID_commonName, "name (common name)", where);
  CheckName(identity.name, where);
  identity.pin = PinOf(key);
  return identity;
}

PartyIdentity IdentityOf(X509* certificate, const std::string& where) {
  return IdentityOfSubject(X509_get_subject_name(certificate), X509_get0_pubkey(certificate),
                           where);
}

std::string UtcText(const ASN1_TIME* time) {
  std::tm parts{};
  Succeeded(ASN1_TIME_to_tm(time, &parts), "read a time");
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string VerifyReason(long code) {
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "is not valid yet (or a clock is wrong)";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "is signed by itself, not by this authority";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_CHAIN_TOO_LONG:  // by somebody in between
      return "is not signed by this authority";
    case X509_V_ERR_INVALID_PURPOSE:
      return "is not one of a party (extended key usage)";
    case X509_V_ERR_APPLICATION_VERIFICATION:
      return "does not say who it is for: a role (organizational unit) and a name (common name)";
    default:
      return fmt::format("is refused: {}", X509_verify_cert_error_string(code));
  }
}

CertificateHandle MakeCertificate(const CertificateFields& fields) {
  CertificateHandle made(Succeeded(X509_new(), "give memory"));
  X509* const certificate = made.get();
  X509* const issuer = fields.issuer != nullptr ? fields.issuer : certificate;
  Succeeded(X509_set_version(certificate, X509_VERSION_3), "take the version");
  SetSerial(certificate);
  AddSubject(X509_get_subject_name(certificate), fields.role, fields.name);
  Succeeded(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)), "take the issuer");
  Succeeded(X509_time_adj_ex(X509_getm_notBefore(certificate), 0, fields.not_before_s, nullptr),
            "take the time");
  Succeeded(X509_time_adj_ex(X509_getm_notAfter(certificate), 0, fields.not_after_s, nullptr),
            "take the time");
  Succeeded(X509_set_pubkey(certificate, fields.key), "take the key");
  AddExtension(certificate, issuer, NID_subject_key_identifier, "hash");
  AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  if (fields.role) {
    AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
    AddExtension(certificate, issuer, NID_key_usage, "critical,digitalSignature");
    AddExtension(certificate, issuer, NID_ext_key_usage, "clientAuth,serverAuth");
  } else {
    AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    AddExtension(certificate, issuer, NID_key_usage, "critical,keyCertSign");
  }
  // Ed25519 has its own hash: none is named.
  Succeeded(X509_sign(certificate, fields.issuer_key, nullptr), "sign");
  return made;
}

RequestHandle MakeSigningRequest(Role role, const std::string& name, EVP_PKEY* key) {
  RequestHandle request(Succeeded(X509_REQ_new(), "give memory"));
  AddSubject(X509_REQ_get_subject_name(request.get()), role, name);
  Succeeded(X509_REQ_set_pubkey(request.get(), key), "take the key");
  Succeeded(X509_REQ_sign(request.get(), key, nullptr), "sign");
  return request;
}

KeyHandle NewPrivateKey() {
  return KeyHandle(Succeeded(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), "make a key"));
}

CertificateHandle ParsePemCertificate(std::string_view text, const std::string& where) {
  const BioHandle bio(
      Succeeded(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), "give memory"));
  CertificateHandle certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate) {
    throw Error(fmt::format("{} is no certificate in PEM: {}", where, OpensslReason()));
  }
  const CertificateHandle second(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (second) throw Error(fmt::format("{} holds several certificates: one is allowed", where));
  return certificate;
}

CertificateHandle ReadPemCertificate(const fs::path& path) {
  return ParsePemCertificate(ReadTextFile(path, kLargestPem), fmt::format("'{}'", path.string()));
}

RequestHandle ParsePemRequest(std::string_view text, const std::string& where) {
  const BioHandle bio(
      Succeeded(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), "give memory"));
  RequestHandle request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  if (!request) {
    throw Error(fmt::format("{} is no certificate request in PEM: {}", where, OpensslReason()));
  }
  return request;
}

KeyHandle ParsePemPrivateKey(std::span<const std::uint8_t> text, const std::string& where) {
  const BioHandle bio(
      Succeeded(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), "give memory"));
  // Without this OpenSSL would ask for a password at the terminal.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  KeyHandle key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!IsEd25519(key.get())) {
    throw Error(fmt::format("{} is no private key of Ed25519 in PEM without a password", where));
  }
  return key;
}

KeyHandle ReadPrivateKey(const fs::path& path) {
  InputFile file(path);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
  }
  if ((info.st_mode & 077U) != 0) {
    throw Error(
        fmt::format("'{}' has mode {:o}, so that others may use the private key: 600 is "
                    "allowed (and a key that others could read is best made anew)",
                    path.string(), info.st_mode & 0777U));
  }
  if (file.Size() > kLargestPem) {
    throw Error(
        fmt::format("'{}' is too large for a private key: {} bytes", path.string(), file.Size()));
  }
  SecretBytes text(static_cast<std::size_t>(file.Size()));
  std::size_t length = 0;
  while (length < text.size()) {
    const std::size_t n =
        file.Read(reinterpret_cast<char*>(text.data()) + length, text.size() - length);
    if (n == 0) break;
    length += n;
  }
  return ParsePemPrivateKey(std::span(text).first(length), fmt::format("'{}'", path.string()));
}

std::string_view TextOf(BIO* bio) {
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio, &text);
  return {text, static_cast<std::size_t>(std::max(0L, length))};
}

void WriteCertificate(const fs::path& path, X509* certificate) {
  const BioHandle bio(Succeeded(BIO_new(BIO_s_mem()), "give memory"));
  Succeeded(PEM_write_bio_X509(bio.get(), certificate), "write the certificate");
  WriteFileAtomically(path, TextOf(bio.get()));
}

void WritePrivateKey(const fs::path& path, EVP_PKEY* key) {
  const BioHandle bio(Succeeded(BIO_new(BIO_s_mem()), "give memory"));  // wipes what it held
  Succeeded(PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr),
            "write the key");
  WritePrivateFile(path, TextOf(bio.get()));
}

}  // namespace sotto
