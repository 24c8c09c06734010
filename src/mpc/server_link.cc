#include "mpc/server_link.h"

#include <sodium.h>

#include <cstring>
#include <initializer_list>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

// BLAKE2b-256 of parts of which all but the last have a fixed length for each purpose.
Digest HashOf(const char* purpose, std::initializer_list<std::span<const std::uint8_t>> parts,
              std::span<const std::uint8_t> key = {}) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, key.empty() ? nullptr : key.data(), key.size(), 32);
  // With its zero, so that no purpose begins another.
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(purpose),
                            std::strlen(purpose) + 1);
  for (const auto part : parts) crypto_generichash_update(&state, part.data(), part.size());
  Digest digest{};
  crypto_generichash_final(&state, digest.data(), digest.size());
  sodium_memzero(&state, sizeof(state));
  return digest;
}

}  // namespace

std::span<const std::uint8_t> BytesOf(std::span<const std::uint64_t> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

ServerLink::ServerLink(bool second) : second_(second) {
  SecureRandomBytes(secret_key_);
  crypto_scalarmult_base(hello_.public_key.data(), secret_key_.data());
}

ServerLink::~ServerLink() {
  sodium_memzero(secret_key_.data(), secret_key_.size());
  sodium_memzero(key_.data(), key_.size());
}

void ServerLink::Meet(const HelloMessage& peer) {
  if (peer.public_key == hello_.public_key) throw Error("mpc: a server met its own key");
  std::array<std::uint8_t, 32> agreed{};
  if (crypto_scalarmult(agreed.data(), secret_key_.data(), peer.public_key.data()) != 0) {
    throw Error("mpc: the other server's public key is no point of the curve");
  }
  const auto& first_key = second_ ? peer.public_key : hello_.public_key;
  const auto& second_key = second_ ? hello_.public_key : peer.public_key;
  key_ = HashOf("sotto mpc key", {agreed, first_key, second_key});
  epoch_ = HashOf("sotto mpc epoch", {first_key, second_key});
  met_ = true;
  sodium_memzero(agreed.data(), agreed.size());
}

Digest ServerLink::Bind(const ModelCard& card, const std::vector<QueryId>& ids,
                        std::span<const std::uint8_t> input) const {
  if (!met_) throw Error("mpc: the two servers have not met");
  const SecretBytes about = card.Serialise();
  const std::span<const std::uint8_t> id_bytes(ids.data()->data(), ids.size() * sizeof(QueryId));
  const Digest ids_digest = HashOf("sotto mpc ids", {id_bytes});
  return HashOf("sotto mpc query", {epoch_, about, ids_digest, input});
}

std::uint64_t ServerLink::ZeroShare(const QueryId& id, bool decision) const {
  const std::uint8_t gate[] = {decision};
  const Digest random = HashOf("sotto mpc zero", {id, gate}, key_);
  std::uint64_t share = 0;
  std::memcpy(&share, random.data(), 8);
  return second_ ? 0 - share : share;
}

Digest Commit(const Digest& salt, bool second, std::span<const std::uint8_t> share) {
  const std::uint8_t role[] = {second};
  return HashOf("sotto mpc commitment", {salt, role, share});
}

}  // namespace sotto
