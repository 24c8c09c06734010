#include "base/digest.h"

#include <sodium.h>

#include <array>

#include "base/error.h"

namespace sotto {

std::string ContentDigest(std::string_view bytes) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  std::array<unsigned char, 32> digest{};
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                     0);
  std::array<char, 65> hex{};
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return hex.data();
}

std::string Sha256(std::string_view bytes) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return hex.data();
}

}  // namespace sotto
