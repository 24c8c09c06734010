// AES-128 (FIPS 197) and its counter mode (NIST SP 800-38A, 6.5): how a 16-byte seed becomes a long
// random vector. By the CPU's instructions where it has them, otherwise by bit-slicing; no step of
// either depends on a secret in its branches or addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sotto {

using AesBlock = std::array<std::uint8_t, 16>;

// Secret, from the CSPRNG; wiped.
struct Seed : AesBlock {
  ~Seed();
};

// Both give the same bytes. kAuto: the CPU's instructions if it has them.
enum class AesPath { kAuto, kPortable };
bool HasAesInstructions();

// The eleven round keys.
struct AesKey {
  alignas(64) std::array<std::uint8_t, 176> rounds;

  explicit AesKey(const AesBlock& key);
  AesKey(const AesKey&) = default;
  AesKey& operator=(const AesKey&) = default;
  ~AesKey();  // wipes
};

// Encrypts n blocks of 16 bytes; `in` may be `out`.
void EncryptBlocks(const AesKey& key, const std::uint8_t* in, std::size_t n, std::uint8_t* out,
                   AesPath path = AesPath::kAuto);

// The key stream that starts at `counter`, whose last 8 bytes count in big-endian order.
void AesCounterStream(const AesKey& key, const AesBlock& counter, std::span<std::uint8_t> out,
                      AesPath path = AesPath::kAuto);

// A fresh seed from the operating system.
Seed FreshSeed();

// Ring elements that none but who has the seed can tell from random ones. Different `stream`s of
// one seed are independent.
void ExpandSeed(const Seed& seed, std::uint64_t stream, std::span<std::uint64_t> out,
                AesPath path = AesPath::kAuto);

}  // namespace sotto
