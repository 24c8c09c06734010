#include "dsp/lpc.h"

#include <algorithm>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dsp/lpc.cc"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four lags at a time share the load of x[n]: 5 loads for 4 multiply-adds instead of 8.
void AutocorrelateSimd(const double* x, std::size_t n, double* r, std::size_t lags) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t lag = 0;
  for (; lag + 4 <= lags && lag + 4 <= n; lag += 4) {
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    const std::size_t common = n - lag - 3;  // products that all four lags have
    std::size_t i = 0;
    for (; i + lanes <= common; i += lanes) {
      const auto v = hn::LoadU(d, x + i);
      sum0 = hn::MulAdd(v, hn::LoadU(d, x + i + lag), sum0);
      sum1 = hn::MulAdd(v, hn::LoadU(d, x + i + lag + 1), sum1);
      sum2 = hn::MulAdd(v, hn::LoadU(d, x + i + lag + 2), sum2);
      sum3 = hn::MulAdd(v, hn::LoadU(d, x + i + lag + 3), sum3);
    }
    double rest[4] = {hn::GetLane(hn::SumOfLanes(d, sum0)), hn::GetLane(hn::SumOfLanes(d, sum1)),
                      hn::GetLane(hn::SumOfLanes(d, sum2)), hn::GetLane(hn::SumOfLanes(d, sum3))};
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t j = i; j + lag + k < n; ++j) rest[k] += x[j] * x[j + lag + k];
      r[lag + k] = rest[k];
    }
  }
  for (; lag < lags; ++lag) {
    double sum = 0.0;
    for (std::size_t j = 0; j + lag < n; ++j) sum += x[j] * x[j + lag];
    r[lag] = sum;
  }
}

void FilterFirSimd(const double* a, std::size_t taps, const double* x, std::size_t n, double* y) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i < std::min(taps - 1, n); ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k <= i; ++k) sum += a[k] * x[i - k];
    y[i] = sum;
  }
  // Four independent sums hide the latency of the multiply-add (4 cycles, 2 a cycle).
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    for (std::size_t k = 0; k < taps; ++k) {
      const auto c = hn::Set(d, a[k]);
      const double* p = x + i - k;
      sum0 = hn::MulAdd(c, hn::LoadU(d, p), sum0);
      sum1 = hn::MulAdd(c, hn::LoadU(d, p + lanes), sum1);
      sum2 = hn::MulAdd(c, hn::LoadU(d, p + 2 * lanes), sum2);
      sum3 = hn::MulAdd(c, hn::LoadU(d, p + 3 * lanes), sum3);
    }
    hn::StoreU(sum0, d, y + i);
    hn::StoreU(sum1, d, y + i + lanes);
    hn::StoreU(sum2, d, y + i + 2 * lanes);
    hn::StoreU(sum3, d, y + i + 3 * lanes);
  }
  for (; i < n; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < taps; ++k) sum += a[k] * x[i - k];
    y[i] = sum;
  }
}

// The recursion is a chain, but only y[n−1] is on it: the other taps are summed beforehand in
// independent chains, so a sample costs about one multiply-add latency, not `taps` of them.
void FilterAllPoleSimd(const double* a, std::size_t taps, const double* x, std::size_t n,
                       double* y) {
  constexpr std::size_t kMaxTaps = 65;
  // A zero history in front of the frame, so that the inner loop has no border case.
  double history[2 * kMaxTaps] = {};
  const std::size_t order = taps - 1;
  double last = 0.0;  // y[n−1], kept out of memory
  const auto step = [&](const double* past, double in) {
    double sum0 = in, sum1 = 0.0, sum2 = 0.0, sum3 = 0.0;
    const double* p = past - order;
    std::size_t k = order;
    for (; k >= 5; k -= 4, p += 4) {
      sum0 -= a[k] * p[0];
      sum1 -= a[k - 1] * p[1];
      sum2 -= a[k - 2] * p[2];
      sum3 -= a[k - 3] * p[3];
    }
    if (k >= 4) sum0 -= a[4] * past[-4];
    if (k >= 3) sum1 -= a[3] * past[-3];
    if (k >= 2) sum2 -= a[2] * past[-2];
    if (k >= 1) sum3 -= a[1] * last;
    return last = ((sum0 + sum1) + sum2) + sum3;
  };
  const std::size_t head = std::min(order, n);
  for (std::size_t i = 0; i < head; ++i) {
    history[order + i] = step(history + order + i, x[i]);
    y[i] = history[order + i];
  }
  for (std::size_t i = head; i < n; ++i) y[i] = step(y + i, x[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sotto {

HWY_EXPORT(AutocorrelateSimd);
HWY_EXPORT(FilterFirSimd);
HWY_EXPORT(FilterAllPoleSimd);

void Autocorrelate(std::span<const double> x, std::span<double> r) {
  HWY_DYNAMIC_DISPATCH(AutocorrelateSimd)(x.data(), x.size(), r.data(), r.size());
}

LpcResult LevinsonDurbin(std::span<const double> r, double noise_correction) {
  if (r.empty() || !(r[0] > 0.0)) throw Error("LPC of a frame without energy");
  const std::size_t order = r.size() - 1;
  LpcResult result;
  std::vector<double>& a = result.a;
  a.assign(order + 1, 0.0);
  a[0] = 1.0;
  double error = r[0] * (1.0 + noise_correction);
  for (std::size_t i = 1; i <= order; ++i) {
    double sum = r[i];
    for (std::size_t j = 1; j < i; ++j) sum += a[j] * r[i - j];
    const double reflection = -sum / error;
    for (std::size_t j = 1; j <= i / 2; ++j) {
      const double left = a[j] + reflection * a[i - j];
      a[i - j] += reflection * a[j];
      a[j] = left;
    }
    a[i] = reflection;
    error *= 1.0 - reflection * reflection;
    // Rounding has used up the prediction error: higher orders would be noise.
    if (!(error > 0.0)) throw Error("LPC recursion lost its precision");
  }
  result.error_energy = error;
  return result;
}

void FilterFir(std::span<const double> a, std::span<const double> x, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(FilterFirSimd)(a.data(), a.size(), x.data(), x.size(), y.data());
}

void FilterAllPole(std::span<const double> a, std::span<const double> x, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(FilterAllPoleSimd)(a.data(), a.size(), x.data(), x.size(), y.data());
}

}  // namespace sotto
#endif  // HWY_ONCE
