#include "dsp/warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(BilinearWarp, IsTheComplexFormulaOfThePaper) {
  using namespace std::complex_literals;
  for (const double alpha : {-0.4, -0.1, 0.0, 0.08, 0.1, 0.6}) {
    for (double omega = 0.01; omega < kPi; omega += 0.1) {
      const std::complex<double> z = std::exp(1i * omega);
      EXPECT_NEAR(BilinearWarp(omega, alpha),
                  std::abs(-1i * std::log((z - alpha) / (1.0 - alpha * z))), 1e-12);
    }
  }
}

TEST(Warps, KeepBothEndsAndAreTheIdentityAtZero) {
  for (double omega = 0.0; omega <= kPi; omega += kPi / 16) {
    EXPECT_NEAR(VoiceMaskWarp(omega, 0.0, 0.0), omega, 1e-15);
    EXPECT_NEAR(PowerWarp(omega, 0.0), omega, 1e-15);
  }
  for (const double end : {0.0, kPi}) {
    EXPECT_NEAR(VoiceMaskWarp(end, 0.1, -1.5), end, 1e-15);
    EXPECT_NEAR(PowerWarp(end, 0.1), end, 1e-15);
  }
}

TEST(Warps, AreMonotoneOverTheirWholeRanges) {
  for (const double alpha : {-0.1, -0.08, 0.08, 0.1}) {
    for (double beta = -2.0; beta <= 2.0; beta += 0.25) {
      double last = -1.0;
      for (double omega = 0.0; omega <= kPi; omega += 1e-3) {
        const double now = VoiceMaskWarp(omega, alpha, beta);
        ASSERT_GT(now, last);
        last = now;
      }
    }
  }
}

// A bump at `hz` on a spectrum of `bins` up to `top_hz`.
std::vector<float> Bump(std::size_t bins, double top_hz, double hz) {
  std::vector<float> x(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    const double d = static_cast<double>(i) * top_hz / static_cast<double>(bins - 1) - hz;
    x[i] = static_cast<float>(std::exp(-d * d / (2.0 * 100.0 * 100.0)));
  }
  return x;
}

double Peak(const std::vector<float>& x, double top_hz) {
  const auto at = std::max_element(x.begin(), x.end()) - x.begin();
  return static_cast<double>(at) * top_hz / static_cast<double>(x.size() - 1);
}

TEST(SpectrumWarp, MovesAPeakToWhereTheWarpSaysAtEveryRate) {
  const auto h = [](double omega) { return VoiceMaskWarp(omega, 0.1, 0.2); };
  for (const double top_hz : {8000.0, 11025.0, 24000.0}) {
    const std::size_t bins = 2049;
    std::vector<float> out(bins);
    SpectrumWarp(bins, top_hz, h).Apply(Bump(bins, top_hz, 1500.0), out);
    EXPECT_NEAR(Peak(out, top_hz), h(1500.0 / 8000.0 * kPi) / kPi * 8000.0, 20.0) << top_hz;
    if (top_hz > 9500.0) {
      const auto high = Bump(bins, top_hz, 9500.0);
      SpectrumWarp(bins, top_hz, h).Apply(high, out);
      EXPECT_NEAR(Peak(out, top_hz), 9500.0, 10.0);
    }
  }
}

TEST(SpectrumWarp, RefusesWhatIsNoWarp) {
  EXPECT_THROW(SpectrumWarp(513, 8000.0, [](double w) { return 1.1 * w; }), Error);
  EXPECT_THROW(SpectrumWarp(513, 8000.0, [](double w) { return QuadraticWarp(w, 6.0); }), Error);
}

TEST(PowerSpectrumWarp, AgreesWithTheGeneralWarp) {
  for (const double top_hz : {8000.0, 24000.0}) {
    const std::size_t bins = 1025;
    const auto in = Bump(bins, top_hz, 1200.0);
    std::vector<float> fast(bins), general(bins);
    for (const double a : {-0.12, 0.0, 0.1}) {
      PowerSpectrumWarp(bins, top_hz).Apply(a, in, fast);
      SpectrumWarp(bins, top_hz, [&](double w) { return PowerWarp(w, a); }).Apply(in, general);
      for (std::size_t i = 0; i < bins; ++i)
        EXPECT_NEAR(fast[i], general[i], 3e-3) << a << ' ' << i;
      EXPECT_NEAR(Peak(fast, top_hz), PowerWarp(1200.0 / 8000.0 * kPi, a) / kPi * 8000.0, 25.0);
    }
  }
}

}  // namespace
}  // namespace sotto
