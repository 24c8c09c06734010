// Vectors of 512 bits with AES instructions on them.
#define HWY_WANT_AVX3_DL

#include "mpc/aes.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "mpc/aes_portable.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/aes.cc"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "mpc/aes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {

#if SOTTO_AES_TARGET
void EncryptMany(const AesKey& key, const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const AesTag d;
  const std::size_t bytes = 16 * n, lanes = hn::Lanes(d);
  std::size_t at = 0;
  for (; at + 8 * lanes <= bytes; at += 8 * lanes) {
    AesVec x[8];
    for (std::size_t i = 0; i < 8; ++i) x[i] = hn::LoadU(d, in + at + i * lanes);
    EncryptVectors(key.rounds.data(), x);
    for (std::size_t i = 0; i < 8; ++i) hn::StoreU(x[i], d, out + at + i * lanes);
  }
  for (; at < bytes; at += lanes) {
    std::uint8_t rest[64] = {};
    const std::size_t count = HWY_MIN(lanes, bytes - at);
    std::memcpy(rest, in + at, count);
    AesVec x[1] = {hn::LoadU(d, rest)};
    EncryptVectors(key.rounds.data(), x);
    hn::StoreU(x[0], d, rest);
    std::memcpy(out + at, rest, count);
  }
}
#else
void EncryptMany(const AesKey& key, const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  BitslicedAes(key).Encrypt(in, n, out);
}
#endif

bool TargetHasAes() { return SOTTO_AES_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {

HWY_EXPORT(EncryptMany);
HWY_EXPORT(TargetHasAes);

bool HasAesInstructions() { return HWY_DYNAMIC_DISPATCH(TargetHasAes)(); }

Seed::~Seed() { sodium_memzero(data(), size()); }

// FIPS 197, 5.2; words are read in the machine's little-endian order.
AesKey::AesKey(const AesBlock& key) {
  std::memcpy(rounds.data(), key.data(), key.size());
  std::uint32_t round_constant = 1;
  for (std::size_t i = 16; i < rounds.size(); i += 4) {
    std::uint32_t word = 0, before = 0;
    std::memcpy(&word, &rounds[i - 4], 4);
    std::memcpy(&before, &rounds[i - 16], 4);
    if (i % 16 == 0) {
      word = SubWord((word >> 8U) | (word << 24U)) ^ round_constant;
      round_constant = (round_constant << 1U) ^ (round_constant == 0x80 ? 0x11BU : 0U);
    }
    word ^= before;
    std::memcpy(&rounds[i], &word, 4);
  }
}

AesKey::~AesKey() { sodium_memzero(rounds.data(), rounds.size()); }

void EncryptBlocks(const AesKey& key, const std::uint8_t* in, std::size_t n, std::uint8_t* out,
                   AesPath path) {
  if (path == AesPath::kAuto) {
    HWY_DYNAMIC_DISPATCH(EncryptMany)(key, in, n, out);
  } else {
    BitslicedAes(key).Encrypt(in, n, out);
  }
}

void AesCounterStream(const AesKey& key, const AesBlock& counter, std::span<std::uint8_t> out,
                      AesPath path) {
  std::uint64_t low = 0;
  std::memcpy(&low, counter.data() + 8, 8);
  low = __builtin_bswap64(low);
  std::array<std::uint8_t, 128 * 16> blocks;
  for (std::size_t done = 0; done < out.size(); done += blocks.size()) {
    const std::size_t bytes = std::min(blocks.size(), out.size() - done);
    const std::size_t n = (bytes + 15) / 16;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t count = __builtin_bswap64(low++);
      std::memcpy(&blocks[16 * i], counter.data(), 8);
      std::memcpy(&blocks[16 * i + 8], &count, 8);
    }
    EncryptBlocks(key, blocks.data(), n, blocks.data(), path);
    std::memcpy(out.data() + done, blocks.data(), bytes);
  }
  sodium_memzero(blocks.data(), blocks.size());
}

Seed FreshSeed() {
  Seed seed{};
  SecureRandomBytes(seed);
  return seed;
}

void ExpandSeed(const Seed& seed, std::uint64_t stream, std::span<std::uint64_t> out,
                AesPath path) {
  AesBlock counter{};
  std::memcpy(counter.data(), &stream, 8);
  AesCounterStream(AesKey(seed), counter,
                   {reinterpret_cast<std::uint8_t*>(out.data()), out.size_bytes()}, path);
}

}  // namespace sotto
#endif  // HWY_ONCE
