// Distributed comparison functions (Boyle, Chandran, Gilboa, Gupta, Ishai, Kumar & Rathee 2020,
// "Function Secret Sharing for Mixed-Mode and Fixed-Point Secure Computation", eprint 2020/1392,
// fig. 1 with signs moved to the end). A dealer who knows α and β makes two keys; from one of them
// and a public x each server computes its share of β·1{x < α}, and neither learns α or β.
//
// The pseudo-random generator is AES-128 under a public key in Matyas–Meyer–Oseas mode,
// H_j(s) = AES(s ⊕ j) ⊕ s ⊕ j, on seeds of 127 bits whose last bit is the control bit t; its
// security is that of an ideal cipher. The key is fixed for one set of comparisons and drawn anew
// for the next: under one key for ever, work done once would serve against every seed ever dealt
// (Guo, Katz, Wang, Weng & Yu 2020, "Better concrete security for half-gates garbling", eprint
// 2019/1168).
//
// Speed: comparisons go in groups of 8, whose words of one level lie together, so that a level is
// one stretch of memory and 8 to 24 independent AES blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpc/aes.h"
#include "mpc/secret.h"

namespace sotto {

// What `count` comparisons of numbers below 2^bits give: `values` ring elements each (1 to 4).
struct DcfShape {
  unsigned bits = 0;
  unsigned values = 0;
  std::size_t count = 0;

  std::size_t Groups() const { return (count + 7) / 8; }
  unsigned Blocks() const { return (values + 1) / 2; }  // of the payload
  std::size_t KeyWords() const { return Groups() * (32 + (bits + 1) * 16 * (1 + Blocks()) - 16); }
  // AES blocks of one evaluation.
  std::size_t AesBlocks() const { return Groups() * 8 * (bits * (1 + Blocks()) + Blocks()); }
  bool operator==(const DcfShape&) const = default;
};

// One server's keys. `roots` of the two servers come from two seeds; all that follows them is the
// same for both.
struct DcfKeys {
  bool second = false;  // the server whose shares carry the minus sign
  AesBlock cipher{};    // the public key of the generator
  DcfShape shape;
  RingVector words;
};

// Keys for α[i] and β[v·count + i]. Takes the same steps for all of them. `cipher` is random and
// public.
std::array<DcfKeys, 2> MakeDcfKeys(const DcfShape& shape, std::span<const std::uint64_t> alpha,
                                   std::span<const std::uint64_t> beta,
                                   const std::array<Seed, 2>& roots, const AesBlock& cipher,
                                   AesPath path = AesPath::kAuto);

// out[v·count + i]: this server's share of β_v·1{x[i] < α[i]}; x[i] below 2^bits.
void EvaluateDcf(const DcfKeys& keys, std::span<const std::uint64_t> x,
                 std::span<std::uint64_t> out, AesPath path = AesPath::kAuto);

}  // namespace sotto
