// What certificates.cc offers to the rest of the room and to its tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "privasp/certificates.h"
#include "privasp/tls_handles.h"

namespace sotto {

// The one certificate in a PEM file; Error names the file.
CertificateHandle ReadPemCertificate(const std::filesystem::path& path);
// What such files hold; Error "<where> …".
CertificateHandle ParsePemCertificate(std::string_view text, const std::string& where);
RequestHandle ParsePemRequest(std::string_view text, const std::string& where);
KeyHandle ParsePemPrivateKey(std::span<const std::uint8_t> text, const std::string& where);
// A private key, which must be Ed25519, without a password and closed to others.
KeyHandle ReadPrivateKey(const std::filesystem::path& path);

std::string PinOf(EVP_PKEY* key);
// Error "<where> …" where subject or key are not as certificates.h says.
PartyIdentity IdentityOfSubject(const X509_NAME* subject, EVP_PKEY* key, const std::string& where);
PartyIdentity IdentityOf(X509* certificate, const std::string& where);
// ISO 8601.
std::string UtcText(const ASN1_TIME* time);

// What is wrong with a certificate, by the code of X509_verify_cert: "has expired".
std::string VerifyReason(long code);

struct CertificateFields {
  std::optional<Role> role{};  // none: an authority
  std::string name{};
  EVP_PKEY* key = nullptr;  // of its holder
  X509* issuer = nullptr;   // none: signed by itself
  EVP_PKEY* issuer_key = nullptr;
  long not_before_s = 0, not_after_s = 0;  // from now
};
CertificateHandle MakeCertificate(const CertificateFields& fields);

RequestHandle MakeSigningRequest(Role role, const std::string& name, EVP_PKEY* key);

KeyHandle NewPrivateKey();
// What was written into a memory BIO, as long as that lives.
std::string_view TextOf(BIO* bio);
void WriteCertificate(const std::filesystem::path& path, X509* certificate);
void WritePrivateKey(const std::filesystem::path& path, EVP_PKEY* key);

}  // namespace sotto
