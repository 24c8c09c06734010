// AES-128 in plain 64-bit words, four blocks at a time, each bit of a byte in a word of its own
// (bit-slicing: Biham 1997; Könighofer 2008). The S-box is the circuit of 113 gates of Boyar &
// Peralta (2010, "A new combinational logic minimization technique with applications to
// cryptology", fig. 5–8). No tables: nothing secret reaches an address or a branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpc/aes.h"

namespace sotto {

class BitslicedAes {
 public:
  explicit BitslicedAes(const AesKey& key);
  ~BitslicedAes();  // wipes
  BitslicedAes(const BitslicedAes&) = delete;
  BitslicedAes& operator=(const BitslicedAes&) = delete;

  void Encrypt(const std::uint8_t* in, std::size_t n, std::uint8_t* out) const;

 private:
  using Planes = std::array<std::uint64_t, 8>;  // bit b of all 64 bytes
  std::array<Planes, 11> rounds_;
};

// The S-box on each byte of a word.
std::uint32_t SubWord(std::uint32_t word);

}  // namespace sotto
