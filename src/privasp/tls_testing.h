// For tests of this room: certificates that no authority should sign, and other programs at the
// other end.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/testing.h"
#include "privasp/certificates_internal.h"
#include "privasp/channel.h"
#include "privasp/testing.h"
#include "privasp/tls_socket.h"

namespace sotto::testing {

inline constexpr double kLong = 20.0;  // seconds that are never reached
inline constexpr std::size_t kLimit = std::size_t{1} << 26;

inline std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// One line that holds these words.
inline bool Says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos && text.find('\n') == std::string::npos;
}

#define EXPECT_SAYS(text, words) EXPECT_PRED2(::sotto::testing::Says, text, words)

inline SecretBytes RandomBytes(std::size_t size, std::uint64_t seed) {
  SeededRng rng(seed);
  SecretBytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(rng());
  return bytes;
}

// What the authority of `pki` would sign if it did not look.
inline TlsFiles Forge(const TestPki& pki, const std::string& name, CertificateFields fields,
                      EVP_PKEY* key = nullptr) {
  const std::filesystem::path home = pki.folder / ("forged-" + name);
  std::filesystem::create_directory(home);
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
    std::filesystem::path chain{};    // sent along
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
inline std::string AcceptingSays(const TlsParty& party, const ClientOf& client,
                                 double seconds = kLong) {
  const ListeningPort listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    const int descriptor = listener.Accept(After(kLong));
    return ErrorOf([&] { ListeningPort::Handshake(party, descriptor, After(seconds)); });
  });
  client(listener.Address());
  return accepted.get();
}

// The same for a stranger who connects, and what the stranger is told.
inline std::string AcceptingSaysOf(const TlsParty& party, const Stranger::Settings& settings,
                                   std::string& told) {
  return AcceptingSays(party, [&](const std::string& address) {
    told = Stranger(ConnectTo(address, After(kLong)), /*accepts=*/false, settings).Trouble();
  });
}

// What the connecting side says of a stranger who listens.
inline std::string ConnectingSaysOf(const TlsParty& party, const Stranger::Settings& settings,
                                    std::string& told) {
  const ListeningPort listener("127.0.0.1:0");
  auto accepted = std::async(std::launch::async, [&] {
    return Stranger(Socket(listener.Accept(After(kLong))), /*accepts=*/true, settings).Trouble();
  });
  std::string said = ErrorOf([&] { Channel::Connect(party, listener.Address(), After(kLong)); });
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

  static inline TemporaryFolder* folder = nullptr;
  static inline TestPki* pki = nullptr;
  TlsParty client_{pki->Files(Role::kClient)}, server_{pki->Files(Role::kFirstServer)};
};

}  // namespace sotto::testing
