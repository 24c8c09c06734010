// Who the parties of the secure comparison are to each other: X.509 certificates (RFC 5280) on
// Ed25519 keys (RFC 8410), signed by one authority of the deployment, with the role of their holder
// as the subject's organizational unit and its name as the common name.
//
// The authority alone could make a second "first server", so the parties that must not collude
// (dealer, servers, provider) are pinned as well: whoever connects to one of them names the SHA-256
// of its public key. One public key in two roles is refused, by the authority that signs and by
// whoever sees it.
#pragma once

#include <array>
#include <filesystem>
#include <string>

namespace sotto {

enum class Role { kClient, kProvider, kDealer, kFirstServer, kSecondServer };
inline constexpr std::array kRoles = {Role::kClient, Role::kProvider, Role::kDealer,
                                      Role::kFirstServer, Role::kSecondServer};

// "client", "provider", "dealer", "server1", "server2".
const char* RoleName(Role role);
// Throws Error that lists the names.
Role ParseRole(const std::string& name);

struct PartyIdentity {
  Role role = Role::kClient;
  std::string name;
  std::string pin;  // SHA-256 of the SubjectPublicKeyInfo, 64 hexadecimal digits

  bool operator==(const PartyIdentity&) const = default;
};

// A new authority in `folder`: authority.pem, authority.key (mode 0600) and issued.tsv, the list of
// what it has signed.
void MakeAuthority(const std::filesystem::path& folder, const std::string& name, int days);

// What a party makes at home: `folder`/party.key (mode 0600, it never leaves) and
// `folder`/party.csr, which goes to the authority.
void MakeRequest(const std::filesystem::path& folder, Role role, const std::string& name);

// Signs the request (its own signature is checked) for `role`, which it must ask for. Error where
// the public key was signed in another role before, or the certificate would outlive the
// authority's. A certificate that is there already is replaced. `days`: from now on; may be
// negative in tests.
PartyIdentity SignRequest(const std::filesystem::path& authority,
                          const std::filesystem::path& request, Role role, int days,
                          const std::filesystem::path& certificate);

// What a certificate file says; nothing is checked but that it is one of ours in form.
struct CertificateFacts {
  PartyIdentity identity;
  std::string not_before, not_after;  // ISO 8601, UTC
};
CertificateFacts ReadCertificate(const std::filesystem::path& certificate);

}  // namespace sotto
