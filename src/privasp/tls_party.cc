#include "privasp/tls_party.h"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include <initializer_list>

#include "privasp/certificates_internal.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Whoever this authority signed may talk to us only as somebody: a certificate without role and
// name ends the handshake, so that the peer learns of it too.
int CheckPeer(int good, X509_STORE_CTX* context) {
  if (good != 1 || X509_STORE_CTX_get_error_depth(context) > 0) return good;
  try {
    IdentityOf(X509_STORE_CTX_get_current_cert(context), "");
    return 1;
  } catch (const std::exception&) {
    X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }
}

SslContextHandle MakeContext() {
  SslContextHandle made(Succeeded(SSL_CTX_new(TLS_method()), "start"));
  SSL_CTX* const context = made.get();
  // Nothing here is left to a configuration of the system: both ends are this program.
  Succeeded(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION), "take the version");
  Succeeded(SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION), "take the version");
  Succeeded(
      SSL_CTX_set_ciphersuites(
          context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"),
      "take the ciphers");
  Succeeded(SSL_CTX_set1_groups_list(context, "X25519"), "take the groups");
  Succeeded(SSL_CTX_set1_sigalgs_list(context, "ed25519"), "take the signatures");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, CheckPeer);
  SSL_CTX_set_verify_depth(context, 0);  // none between a party and the authority
  // A session that is resumed would not show its certificate again.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  Succeeded(SSL_CTX_set_num_tickets(context, 0), "do without tickets");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CLEANSE_PLAINTEXT);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_NO_AUTO_CHAIN);
  // A system call for each 64 KiB that are there, not two for each record of 16.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, 65536);
  return made;
}

// By the authority alone, now, and for both ends of a connection.
void CheckOwn(X509_STORE* store, X509* certificate, const TlsFiles& files) {
  for (const int purpose : {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER}) {
    const StoreContextHandle context(Succeeded(X509_STORE_CTX_new(), "give memory"));
    Succeeded(X509_STORE_CTX_init(context.get(), store, certificate, nullptr), "start to verify");
    Succeeded(X509_STORE_CTX_set_purpose(context.get(), purpose), "take the purpose");
    if (X509_verify_cert(context.get()) == 1) continue;
    const int code = X509_STORE_CTX_get_error(context.get());
    const bool own = X509_STORE_CTX_get_error_depth(context.get()) == 0;
    ERR_clear_error();
    throw Error(
        fmt::format("the certificate '{}' {}{}",
                    (own ? files.certificate : files.authority).string(), VerifyReason(code),
                    own ? fmt::format(" (authority: '{}')", files.authority.string()) : ""));
  }
}

}  // namespace

TlsParty::TlsParty(const TlsFiles& files) : impl_(std::make_unique<Impl>()) {
  const CertificateHandle authority = ReadPemCertificate(files.authority);
  const CertificateHandle certificate = ReadPemCertificate(files.certificate);
  const KeyHandle key = ReadPrivateKey(files.key);
  if (X509_check_ca(authority.get()) != 1) {
    throw Error(fmt::format("'{}' is no authority's certificate", files.authority.string()));
  }
  impl_->own = IdentityOf(certificate.get(), fmt::format("'{}'", files.certificate.string()));
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    throw Error(fmt::format("'{}' is the key of another certificate than '{}'", files.key.string(),
                            files.certificate.string()));
  }
  impl_->context = MakeContext();
  SSL_CTX* const context = impl_->context.get();
  X509_STORE* const store = SSL_CTX_get_cert_store(context);  // empty so far
  Succeeded(X509_STORE_add_cert(store, authority.get()), "take the authority");
  CheckOwn(store, certificate.get(), files);
  Succeeded(SSL_CTX_use_certificate(context, certificate.get()), "take the certificate");
  Succeeded(SSL_CTX_use_PrivateKey(context, key.get()), "take the key");
}

TlsParty::~TlsParty() = default;

const PartyIdentity& TlsParty::Own() const { return impl_->own; }

}  // namespace sotto
