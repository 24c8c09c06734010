// Where the samplers of this room get their random bits. The sources of the library are all
// cryptographic: keys of the operating system, or a key that is kept secret. Seeded bits are in
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

// Bits that nobody can draw again. Every block is the ChaCha20 stream (libsodium) of a key of its
// own, 256 bits from the operating system's CSPRNG, which is wiped as soon as the block is there.
// Used words are wiped. A word costs 6 ns; asking the system for each block would make it 36.
class SecureBits final : public BitSource {
 public:
  ~SecureBits() override;
  std::uint64_t Next64() override;

 private:
  std::array<std::uint64_t, 256> words_{};
  std::size_t next_ = 256;
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

// What KeyedBits is, for those who draw much: the ChaCha20 stream of a key hashed from (key,
// fields). The words are others than those of KeyedBits, for the same fields too. A word costs 5 ns
// instead of 100, and an object 2 us instead of the 50 that locked memory takes: its own key lies
// in plain memory for as long as it lives, and is wiped then.
class KeyedStreamBits final : public BitSource {
 public:
  KeyedStreamBits(const Key& key, std::initializer_list<std::string_view> fields);
  ~KeyedStreamBits() override;
  std::uint64_t Next64() override;

 private:
  std::array<std::uint8_t, 32> stream_{};
  std::uint64_t block_ = 0;  // the nonce of the next block
  std::array<std::uint64_t, 64> words_{};
  std::size_t next_ = 64;
};

}  // namespace sotto
