// OpenSSL's objects with an owner, and its failures in words.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <type_traits>

#include "base/error.h"

namespace sotto {

template <auto F>
struct FreeBy {
  template <class T>
  void operator()(T* object) const {
    F(object);
  }
};

using BioHandle = std::unique_ptr<BIO, FreeBy<BIO_free>>;
using BigNumberHandle = std::unique_ptr<BIGNUM, FreeBy<BN_free>>;
using CertificateHandle = std::unique_ptr<X509, FreeBy<X509_free>>;
using ExtensionHandle = std::unique_ptr<X509_EXTENSION, FreeBy<X509_EXTENSION_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using RequestHandle = std::unique_ptr<X509_REQ, FreeBy<X509_REQ_free>>;
using SslHandle = std::unique_ptr<SSL, FreeBy<SSL_free>>;
using SslContextHandle = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using StoreContextHandle = std::unique_ptr<X509_STORE_CTX, FreeBy<X509_STORE_CTX_free>>;

// The last error of this thread, in OpenSSL's words; the others are forgotten.
inline std::string OpensslReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string text = reason == nullptr ? "no reason given" : reason;
  ERR_clear_error();
  return text;
}

// For what fails only without memory or with a broken installation: Error unless `result` is good.
template <class T>
T Succeeded(T result, const char* what) {
  bool good = false;
  if constexpr (std::is_pointer_v<T>) {
    good = result != nullptr;
  } else {
    good = result > 0;
  }
  if (good) return result;
  throw Error(std::string("OpenSSL does not ") + what + ": " + OpensslReason());
}

}  // namespace sotto
