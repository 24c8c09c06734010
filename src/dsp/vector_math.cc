#include "dsp/vector_math.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dsp/vector_math.cc"
#include <hwy/contrib/math/math-inl.h>
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

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

void ExpPolarArray(const float* log_magnitude, const float* phase, std::size_t n, float* re,
                   float* im) {
  ForEach(n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto magnitude = hn::Exp(d, hn::LoadU(d, log_magnitude + i));
    const auto angle = hn::LoadU(d, phase + i);
    hn::StoreU(hn::Mul(magnitude, hn::Cos(d, angle)), d, re + i);
    hn::StoreU(hn::Mul(magnitude, hn::Sin(d, angle)), d, im + i);
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

}  // namespace sotto
#endif  // HWY_ONCE
