// Where the samplers of this room get their random bits. Two sources exist in the library, both
// cryptographic: the operating system's, and a keyed hash whose key is secret. Seeded bits are in
// dp/seeded_bits_testing.h and belong to tests alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/random.h"

namespace sotto {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

class BitSource {
 public:
  BitSource() = default;
  BitSource(const BitSource&) = delete;
  BitSource& operator=(const BitSource&) = delete;
  virtual ~BitSource() = default;
  virtual std::uint64_t Next64() = 0;

  // Uniform on 0 … n−1, exactly (rejection, no modulo bias); n ≥ 1.
  std::uint64_t Below(std::uint64_t n);
  Uint128 Below128(Uint128 n);
};

// The operating system's CSPRNG (libsodium), fetched in blocks; used words are wiped.
class SecureBits final : public BitSource {
 public:
  ~SecureBits() override;
  std::uint64_t Next64() override;

 private:
  std::array<std::uint64_t, 128> words_{};
  std::size_t next_ = 128;
};

// The words BLAKE2b(BLAKE2b(key, fields), counter): the same key and fields give the same words
// whatever the number of threads, and nobody without the key can tell them from random. Fields must
// name everything the draw depends on: two draws with equal fields are one draw, not two.
class KeyedBits final : public BitSource {
 public:
  KeyedBits(const Key& key, std::initializer_list<std::string_view> fields);
  std::uint64_t Next64() override;

 private:
  Key stream_;
  std::uint64_t counter_ = 0;
  std::array<std::uint8_t, 32> block_{};
  std::size_t next_ = 4;  // words of block_ already used
};

}  // namespace sotto
