#include "dsp/vector_math.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dsp/vector_math.cc"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

// Calls `body(d, offset)` over whole vectors, then lane by lane over the rest.
template <class Body>
HWY_INLINE void ForEach(std::size_t n, const Body& body) {
  const D d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) body(d, i);
  for (; i < n; ++i) body(hn::CappedTag<float, 1>(), i);
}

void LogArray(const float* x, float floor, std::size_t n, float* y) {
  ForEach(n, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Log(d, hn::Max(hn::LoadU(d, x + i), hn::Set(d, floor))), d, y + i);
  });
}

void ExpArray(const float* x, std::size_t n, float* y) {
  ForEach(n, [=](auto d, std::size_t i)
                 HWY_ATTR { hn::StoreU(hn::Exp(d, hn::LoadU(d, x + i)), d, y + i); });
}

// sin and cos of angles of a few turns: x − kπ lies within ±π/2, where Taylor's series to x¹¹ and
// x¹² is exact to 6e-8; odd k change both signs. Three times as fast as the general functions.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE void SinCos(DF d, V x, V& sine, V& cosine) {
  const V k = hn::Round(hn::Mul(x, hn::Set(d, 0.318309886F)));
  // π in two parts, so that k·π is subtracted without rounding.
  const V r =
      hn::NegMulAdd(k, hn::Set(d, -8.7422777e-8F), hn::NegMulAdd(k, hn::Set(d, 3.14159274F), x));
  const V r2 = hn::Mul(r, r);
  V s = hn::Set(d, -2.50521084e-8F);
  for (const float c : {2.75573192e-6F, -1.98412698e-4F, 8.33333333e-3F, -1.66666667e-1F}) {
    s = hn::MulAdd(s, r2, hn::Set(d, c));
  }
  s = hn::MulAdd(hn::Mul(s, r2), r, r);
  V c0 = hn::Set(d, 2.08767570e-9F);
  for (const float c :
       {-2.75573192e-7F, 2.48015873e-5F, -1.38888889e-3F, 4.16666667e-2F, -0.5F, 1.0F}) {
    c0 = hn::MulAdd(c0, r2, hn::Set(d, c));
  }
  // 1 − 2·(k mod 2): k/2 has a fraction exactly when k is odd.
  const V half = hn::Mul(k, hn::Set(d, 0.5F));
  const V odd = hn::Sub(half, hn::Floor(half));
  const V sign = hn::NegMulAdd(hn::Set(d, 4.0F), odd, hn::Set(d, 1.0F));
  sine = hn::Mul(s, sign);
  cosine = hn::Mul(c0, sign);
}

void ExpPolarArray(const float* log_magnitude, const float* phase, std::size_t n, float* re,
                   float* im) {
  ForEach(n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto magnitude = hn::Exp(d, hn::LoadU(d, log_magnitude + i));
    auto sine = magnitude, cosine = magnitude;
    SinCos(d, hn::LoadU(d, phase + i), sine, cosine);
    hn::StoreU(hn::Mul(magnitude, cosine), d, re + i);
    hn::StoreU(hn::Mul(magnitude, sine), d, im + i);
  });
}

float DotArray(const float* a, const float* b, std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), s1);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void CorrelateArray(const float* x, const float* taps, std::size_t count, std::size_t n, float* y) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  // Four outputs vectors at a time keep the multiply-add pipes busy (4 cycles latency, 2 ports).
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto tap = hn::Set(d, taps[k]);
      const float* at = x + i + k;
      s0 = hn::MulAdd(tap, hn::LoadU(d, at), s0);
      s1 = hn::MulAdd(tap, hn::LoadU(d, at + lanes), s1);
      s2 = hn::MulAdd(tap, hn::LoadU(d, at + 2 * lanes), s2);
      s3 = hn::MulAdd(tap, hn::LoadU(d, at + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, y + i);
    hn::StoreU(s1, d, y + i + lanes);
    hn::StoreU(s2, d, y + i + 2 * lanes);
    hn::StoreU(s3, d, y + i + 3 * lanes);
  }
  for (; i < n; ++i) {
    float sum = 0.0F;
    for (std::size_t k = 0; k < count; ++k) sum += taps[k] * x[i + k];
    y[i] = sum;
  }
}

// Bits of whole vectors; n is a multiple of 16 here.
void PositiveArray(const float* x, std::size_t n, std::uint64_t* bits) {
  const hn::CappedTag<float, 16> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += lanes) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Gt(hn::LoadU(d, x + i), hn::Zero(d)), bytes);
    const std::uint64_t word = bytes[0] | (static_cast<std::uint64_t>(bytes[1]) << 8U);
    bits[i / 64] |= word << (i % 64);
  }
}

FourSums SumArrays(const float* a, const float* b, const float* c, const float* s, std::size_t n) {
  const hn::CappedTag<float, 16> d;
  auto ac = hn::Zero(d), as = ac, bc = ac, bs = ac;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto av = hn::LoadU(d, a + i), bv = hn::LoadU(d, b + i);
    const auto cv = hn::LoadU(d, c + i), sv = hn::LoadU(d, s + i);
    ac = hn::MulAdd(av, cv, ac);
    as = hn::MulAdd(av, sv, as);
    bc = hn::MulAdd(bv, cv, bc);
    bs = hn::MulAdd(bv, sv, bs);
  }
  return {hn::GetLane(hn::SumOfLanes(d, ac)), hn::GetLane(hn::SumOfLanes(d, as)),
          hn::GetLane(hn::SumOfLanes(d, bc)), hn::GetLane(hn::SumOfLanes(d, bs))};
}

void RotateArrays(const float* step_c, const float* step_s, std::size_t n, float* c, float* s) {
  const hn::CappedTag<float, 16> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto uc = hn::LoadU(d, step_c + i), us = hn::LoadU(d, step_s + i);
    const auto cv = hn::LoadU(d, c + i), sv = hn::LoadU(d, s + i);
    hn::StoreU(hn::NegMulAdd(sv, us, hn::Mul(cv, uc)), d, c + i);
    hn::StoreU(hn::MulAdd(cv, us, hn::Mul(sv, uc)), d, s + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {

HWY_EXPORT(LogArray);
HWY_EXPORT(ExpArray);
HWY_EXPORT(ExpPolarArray);
HWY_EXPORT(DotArray);
HWY_EXPORT(CorrelateArray);
HWY_EXPORT(PositiveArray);
HWY_EXPORT(SumArrays);
HWY_EXPORT(RotateArrays);

void LogInto(std::span<const float> x, float floor, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(LogArray)(x.data(), floor, x.size(), y.data());
}

void ExpInto(std::span<const float> x, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(ExpArray)(x.data(), x.size(), y.data());
}

void ExpPolarInto(std::span<const float> log_magnitude, std::span<const float> phase,
                  std::span<float> re, std::span<float> im) {
  HWY_DYNAMIC_DISPATCH(ExpPolarArray)
  (log_magnitude.data(), phase.data(), log_magnitude.size(), re.data(), im.data());
}

float Dot(std::span<const float> a, std::span<const float> b) {
  return HWY_DYNAMIC_DISPATCH(DotArray)(a.data(), b.data(), a.size());
}

void Correlate(std::span<const float> x, std::span<const float> taps, std::span<float> y) {
  HWY_DYNAMIC_DISPATCH(CorrelateArray)(x.data(), taps.data(), taps.size(), y.size(), y.data());
}

void PositiveBits(std::span<const float> x, std::vector<std::uint64_t>& bits) {
  bits.assign(x.size() / 64 + 1, 0);
  const std::size_t whole = x.size() / 16 * 16;
  HWY_DYNAMIC_DISPATCH(PositiveArray)(x.data(), whole, bits.data());
  for (std::size_t i = whole; i < x.size(); ++i) {
    if (x[i] > 0.0F) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

FourSums SumProducts(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                     std::span<const float> s) {
  return HWY_DYNAMIC_DISPATCH(SumArrays)(a.data(), b.data(), c.data(), s.data(), a.size());
}

void Rotate(std::span<const float> step_c, std::span<const float> step_s, std::span<float> c,
            std::span<float> s) {
  HWY_DYNAMIC_DISPATCH(RotateArrays)(step_c.data(), step_s.data(), c.size(), c.data(), s.data());
}

}  // namespace sotto
#endif  // HWY_ONCE
