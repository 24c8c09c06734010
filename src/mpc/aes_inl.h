// AES rounds on Highway vectors, for the files that are compiled once for every target.
#if defined(SOTTO_MPC_AES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SOTTO_MPC_AES_INL_H
#undef SOTTO_MPC_AES_INL_H
#else
#define SOTTO_MPC_AES_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

// Whether this target's AES rounds are instructions; elsewhere the bit-sliced code serves.
#undef SOTTO_AES_TARGET
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || \
    HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
#define SOTTO_AES_TARGET 1
#else
#define SOTTO_AES_TARGET 0
#endif

#if SOTTO_AES_TARGET
HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As wide as the CPU's AES instructions: with AVX2 and plain AVX-512 they take one block.
#if HWY_TARGET == HWY_AVX3_DL
using AesTag = hn::ScalableTag<std::uint8_t>;
#else
using AesTag = hn::FixedTag<std::uint8_t, 16>;
#endif
using AesVec = hn::Vec<AesTag>;

// N vectors side by side: an instruction takes 3 to 4 cycles, of which two start in each.
template <std::size_t N>
HWY_INLINE void EncryptVectors(const std::uint8_t* rounds, AesVec (&x)[N]) {
  const AesTag d;
  AesVec key = hn::LoadDup128(d, rounds);
  for (std::size_t i = 0; i < N; ++i) x[i] = hn::Xor(x[i], key);
  for (int r = 1; r < 10; ++r) {
    key = hn::LoadDup128(d, rounds + 16 * r);
    for (std::size_t i = 0; i < N; ++i) x[i] = hn::AESRound(x[i], key);
  }
  key = hn::LoadDup128(d, rounds + 160);
  for (std::size_t i = 0; i < N; ++i) x[i] = hn::AESLastRound(x[i], key);
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();
#endif  // SOTTO_AES_TARGET
#endif
