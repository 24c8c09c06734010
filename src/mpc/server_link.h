// What the two servers share with each other alone, and the bindings of a query.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "mpc/messages.h"

namespace sotto {

// The key k_AB of two servers, agreed by X25519 when they meet and never dealt, and its epoch: a
// server that has started again has another, so that no query is finished under two keys.
class ServerLink {
 public:
  explicit ServerLink(bool second);
  ~ServerLink();  // wipes
  ServerLink(const ServerLink&) = delete;
  ServerLink& operator=(const ServerLink&) = delete;

  HelloMessage Hello() const { return hello_; }
  // Error for a key that is no point, or this server's own.
  void Meet(const HelloMessage& peer);

  // What a query is, for both servers to compare before any share of a result leaves: ids, model,
  // the public input (E, or both commitments) and the epoch.
  Digest Bind(const ModelCard& card, const std::vector<QueryId>& ids,
              std::span<const std::uint8_t> input) const;
  // PRF(k_AB, id, gate), with the minus sign at the second server: added to a share of a result,
  // which then tells nothing but the result.
  std::uint64_t ZeroShare(const QueryId& id, bool decision) const;

 private:
  bool second_;
  std::array<std::uint8_t, 32> secret_key_{}, key_{};
  Digest epoch_{};
  HelloMessage hello_;
  bool met_ = false;
};

// H(salt ‖ role ‖ share). Without the salt the first server, which can expand the seed, could test
// any x it guesses against the commitment to the other share.
Digest Commit(const Digest& salt, bool second, std::span<const std::uint8_t> share);

// A vector's memory.
std::span<const std::uint8_t> BytesOf(std::span<const std::uint64_t> values);

}  // namespace sotto
