// What secure computations of two servers are built from: shares in Z_2^64, a linear layer whose
// matrix and input are both secret, and a gate that compares with 0. A dealer who sees no share
// deals random material for each use ahead of time; the servers then exchange one message for each
// gate. examples/03_secure_speaker_comparison.cc is a whole protocol in these terms.
//
// Semi-honest, and safe only while the two servers and the dealer do not collude. Material serves
// once: used twice it reveals the difference of two secrets (docs/mpc.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpc/aes.h"
#include "mpc/dcf.h"
#include "mpc/ring.h"
#include "mpc/secret.h"

namespace sotto {

using Shares = std::array<RingVector, 2>;  // one for each server; the secret is their sum

// Fresh shares: each of them alone is uniformly random.
Shares Split(std::span<const std::uint64_t> secret);
RingVector Open(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second);

// --- A linear layer W·x (Beaver 1991, with the mask of W kept for many x) ---

// A server's part of a matrix: F = W − B, which both know, and a share of W. The dealer knows B
// alone.
struct SharedMatrix {
  RingMatrix opened;
  RingMatrix share;
};

// Once for a matrix: each server hides its share of W behind its share of B, expanded from the
// dealer's seed, and sends what comes out; both together are F.
RingMatrix ExpandMatrix(const Seed& seed, std::size_t rows, std::size_t columns);
RingMatrix HideMatrix(RingMatrix share, const Seed& mask);
SharedMatrix FinishMatrix(bool second, RingMatrix own_hidden, const RingMatrix& peer_hidden,
                          const Seed& mask);

// Once for an input x: seeds of the shares of its mask A, and shares of B·A.
struct LinearHalf {
  Seed input_mask;
  RingVector product;
};
std::array<LinearHalf, 2> DealLinear(const std::array<Seed, 2>& matrix_masks, std::size_t rows,
                                     std::size_t columns);

// E = x − A, by whom the servers sent their seeds to; both servers get it.
RingVector HideInput(std::span<const std::uint64_t> x, const std::array<Seed, 2>& masks);
// G_p = F·A_p + (B·A)_p, before E is there; then the server's share of W·x = W_p·E + G_p.
RingVector PrepareLinear(const SharedMatrix& matrix, const LinearHalf& half);
RingVector ApplyLinear(const SharedMatrix& matrix, std::span<const std::uint64_t> hidden_input,
                       std::span<const std::uint64_t> prepared);

// --- A gate on 1{z ≥ 0} ---

// What comes out beside each comparison d = 1{z ≥ 0}, as shares of its values: with r the mask of
// z, kSign: d; kRelu: d, d·r; kWeightedRelu, b a secret weight of the dealer's: d, d·r, d·b, d·b·r.
enum class Gate : std::uint8_t { kSign = 1, kRelu = 2, kWeightedRelu = 4 };
inline unsigned ValuesOf(Gate gate) { return static_cast<unsigned>(gate); }

// One server's material for `count` numbers with |z| < 2^bits. The mask r is uniform on all of
// Z_2^64: a mask just longer than z would show its distribution.
struct GateHalf {
  Gate gate = Gate::kSign;
  RingVector mask;     // a share of r
  RingVector payload;  // shares of p = 1, r, b, b·r: values × count
  RingVector flipped;  // shares of s·p, where s = 1 ⊕ bit `bits` of r
  DcfKeys keys;        // for 1{u' < r'}·(1 − 2s)·p
};
std::array<GateHalf, 2> DealGate(Gate gate, unsigned bits, std::size_t count,
                                 std::span<const std::uint64_t> weights = {});

// The message of a gate: the share of z behind that of r. Both servers' messages together, by Open,
// are ẑ = z + r, which tells nothing about z.
RingVector HideShare(const GateHalf& half, std::span<const std::uint64_t> share);
// Shares of the gate's values (values × count) from ẑ. No message.
RingVector SelectShares(const GateHalf& half, std::span<const std::uint64_t> opened);
// Shares of max(z, 0) = ẑ·d − d·r of a kRelu gate.
RingVector ReluShares(const GateHalf& half, std::span<const std::uint64_t> opened);

}  // namespace sotto
