// What a machine sets as the limit of the secure comparison, measured where the benchmarks run: how
// fast a core reads memory and encrypts blocks by AES. Times are by the clock of the thread, so
// that other programs on the machine disturb little.
#pragma once

#include <time.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpc/aes.h"
#include "mpc/secret.h"

namespace sotto {

inline double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class F>
double SecondsOf(const F& f) {
  const double start = ThreadSeconds();
  f();
  return ThreadSeconds() - start;
}

inline double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The median of several runs.
template <class F>
double MedianSeconds(int runs, const F& f) {
  std::vector<double> seconds(static_cast<std::size_t>(runs));
  for (double& one : seconds) one = SecondsOf(f);
  return MedianOf(std::move(seconds));
}

// Reads all of it. The sum is of no use but keeps the compiler from leaving it out.
inline std::uint64_t ReadAll(const RingVector& buffer) {
  std::uint64_t sum[8] = {};
  for (std::size_t i = 0; i + 8 <= buffer.size(); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sum[k] += buffer[i + k];
    __builtin_prefetch(buffer.data() + i + 256);
  }
  std::uint64_t all = 0;
  for (const std::uint64_t one : sum) all += one;
  return all;
}

// Blocks a second that stay in the first cache. `encrypt` takes a key, the blocks and their number.
template <class F>
double BlocksPerSecond(const F& encrypt) {
  constexpr std::size_t kBlocks = 1024;
  std::vector<std::uint8_t> bytes(16 * kBlocks);
  const AesKey key(FreshSeed());
  constexpr int kRounds = 500;
  const double seconds = MedianSeconds(7, [&] {
    for (int i = 0; i < kRounds; ++i) encrypt(key, bytes.data(), kBlocks);
  });
  return kBlocks * kRounds / seconds;
}

#ifdef __x86_64__
// AES-NI as it has been since 2010: one block an instruction, eight in flight.
__attribute__((target("aes,sse4.1"))) inline void EncryptByAesNi(const AesKey& key,
                                                                 std::uint8_t* bytes,
                                                                 std::size_t blocks) {
  const auto* rounds = reinterpret_cast<const __m128i*>(key.rounds.data());
  auto* at = reinterpret_cast<__m128i*>(bytes);
  for (std::size_t b = 0; b < blocks; b += 8) {
    __m128i x[8];
    for (int i = 0; i < 8; ++i) x[i] = _mm_xor_si128(_mm_loadu_si128(at + b + i), rounds[0]);
    for (int r = 1; r < 10; ++r) {
      for (__m128i& one : x) one = _mm_aesenc_si128(one, rounds[r]);
    }
    for (int i = 0; i < 8; ++i) {
      _mm_storeu_si128(at + b + i, _mm_aesenclast_si128(x[i], rounds[10]));
    }
  }
}
#endif

struct AesRates {
  double plain, best;  // AES-NI, and the widest instructions of this CPU
};

// Measured once.
inline const AesRates& Rates() {
  static const AesRates rates = [] {
    const double best = BlocksPerSecond([](const AesKey& key, std::uint8_t* bytes, std::size_t n) {
      EncryptBlocks(key, bytes, n, bytes);
    });
#ifdef __x86_64__
    if (HasAesInstructions()) return AesRates{BlocksPerSecond(EncryptByAesNi), best};
#endif
    return AesRates{best, best};
  }();
  return rates;
}

}  // namespace sotto
