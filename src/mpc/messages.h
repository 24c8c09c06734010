// Every message of the protocol of docs/mpc.md, as a struct and as bytes. Parse throws Error for
// bytes that are not such a message; whether a message fits the query is its receiver's to check.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpc/gates.h"
#include "mpc/integer_net.h"

namespace sotto {

using QueryId = std::array<std::uint8_t, 16>;  // of one utterance, random, used once
using ModelId = std::array<std::uint8_t, 16>;
using Digest = std::array<std::uint8_t, 32>;

inline constexpr std::size_t kMaxBatch = 128;
inline constexpr std::size_t kMaxLayer = 65536;

enum class Scenario : std::uint8_t {
  kPublicModel = 1,  // both servers hold the model in clear
  kSharedModel = 2,  // they hold shares of it
};

// What everybody may know of a model.
struct ModelCard {
  ModelId id{};
  Scenario scenario = Scenario::kSharedModel;
  std::uint32_t inputs = 0, units = 0;
  std::int32_t x_max = 0;  // the client clips to ±x_max
  bool decision_only = false;

  SecretBytes Serialise() const;
  static ModelCard Parse(std::span<const std::uint8_t> bytes);
  bool operator==(const ModelCard&) const = default;
};

// Server ↔ server, when a connection begins: an X25519 key.
struct HelloMessage {
  std::array<std::uint8_t, 32> public_key{};

  SecretBytes Serialise() const;
  static HelloMessage Parse(std::span<const std::uint8_t> bytes);
};

// Provider → both servers, scenario 1. In decision mode b_out is less by the threshold, here and
// below.
struct PublicModelMessage {
  ModelCard card;
  std::vector<std::int16_t> w1;
  RingVector b1, w2;
  std::uint64_t b_out = 0;

  SecretBytes Serialise() const;
  static PublicModelMessage Parse(std::span<const std::uint8_t> bytes);
};

// Provider → one server, scenario 2: shares.
struct ModelShareMessage {
  ModelCard card;
  RingVector w1, b1, w2;
  std::uint64_t b_out = 0;

  SecretBytes Serialise() const;
  static ModelShareMessage Parse(std::span<const std::uint8_t> bytes);
};

// Dealer → one server, scenario 2: seeds of the shares of B and b2.
struct MaskShareMessage {
  ModelId model{};
  Seed matrix, weights;

  SecretBytes Serialise() const;
  static MaskShareMessage Parse(std::span<const std::uint8_t> bytes);
};

// Server ↔ server, once for a model: shares of F = W − B and f2 = w2 − b2.
struct OpenedMaskMessage {
  ModelId model{};
  RingVector matrix, weights;

  SecretBytes Serialise() const;
  static OpenedMaskMessage Parse(std::span<const std::uint8_t> bytes);
};

// Dealer → one server: what one utterance needs. `linear` in scenario 2, `decision` in decision
// mode.
struct MaterialMessage {
  QueryId id{};
  ModelId model{};
  bool second = false;
  std::optional<LinearHalf> linear;
  GateHalf relu;
  std::optional<GateHalf> decision;

  SecretBytes Serialise() const;
  static MaterialMessage Parse(std::span<const std::uint8_t> bytes);
};

// Server → client: the utterances' ids, now spent, and in scenario 2 this server's seeds of A.
struct ReservationMessage {
  ModelId model{};
  std::vector<QueryId> ids;
  std::vector<Seed> input_masks;

  SecretBytes Serialise() const;
  static ReservationMessage Parse(std::span<const std::uint8_t> bytes);
};

// The client's binding of an input to both servers' shares, scenario 1.
struct CommittedShare {
  Seed share_seed;  // the first server's share; zero for the second, which gets values
  Digest salt{};
  std::array<Digest, 2> commitments{};
};

// Client → server. Scenario 2: E, the same for both. Scenario 1: this server's share of x, for the
// first a seed, with the salt of its commitment and both commitments.
struct InputMessage {
  ModelId model{};
  std::vector<QueryId> ids;
  RingVector values;  // batch × inputs; empty where a seed stands for them
  std::optional<CommittedShare> committed;

  SecretBytes Serialise() const;
  static InputMessage Parse(std::span<const std::uint8_t> bytes);
};

// Server ↔ server: the hidden shares of a gate, and what the sender takes the query to be.
struct ExchangeMessage {
  std::vector<QueryId> ids;
  bool decision = false;  // the second gate, of decision mode
  Digest digest{};
  RingVector values;

  SecretBytes Serialise() const;
  static ExchangeMessage Parse(std::span<const std::uint8_t> bytes);
};

// Server → client: a share of each score, or in decision mode of each decision.
struct ResultMessage {
  std::vector<QueryId> ids;
  bool decision = false;
  RingVector values;

  SecretBytes Serialise() const;
  static ResultMessage Parse(std::span<const std::uint8_t> bytes);
};

}  // namespace sotto
