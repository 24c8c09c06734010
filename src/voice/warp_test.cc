#include "voice/warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

TargetDraws Draws(std::uint64_t seed, Strategy strategy = Strategy::kPerm) {
  return TargetDraws(Key::FromExperimentSeed(seed), strategy, "voicemask");
}

double Distortion(const VoiceMaskWarpParameters& p) { return VoiceMaskDistortion(p.alpha, p.beta); }

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

TEST(VoiceMaskDistortion, MatchesItsClosedFormsWhereOneWarpIsOff) {
  // ∫ (g − ω) = βπ/6 and ∫ (f − ω) = 4·Σ α^n/n² over odd n.
  EXPECT_NEAR(VoiceMaskDistortion(0.0, 1.2), 1.2 * kPi / 6.0, 1e-6);
  EXPECT_NEAR(VoiceMaskDistortion(0.0, -0.3), 0.3 * kPi / 6.0, 1e-6);
  double series = 0.0;
  for (int n = 1; n < 40; n += 2) series += 4.0 * std::pow(0.1, n) / (n * n);
  EXPECT_NEAR(VoiceMaskDistortion(0.1, 0.0), series, 1e-6);
  EXPECT_NEAR(VoiceMaskDistortion(-0.1, 0.0), series, 1e-6);
}

TEST(AllowedBetas, AreExactlyThoseThatABruteForceSearchFinds) {
  VoiceMaskOptions narrow;
  narrow.min_distortion = 0.0;
  narrow.max_distortion = 0.2;
  for (const VoiceMaskOptions& options : {VoiceMaskOptions{}, narrow}) {
    for (const double alpha : {-0.1, -0.09, 0.08, 0.095}) {
      const auto allowed = AllowedBetas(alpha, options);
      ASSERT_FALSE(allowed.empty());
      for (double beta = -1.9995; beta < 2.0; beta += 0.01) {
        const double d = VoiceMaskDistortion(alpha, beta);
        const bool fits = d >= options.min_distortion && d <= options.max_distortion;
        const bool inside = std::any_of(allowed.begin(), allowed.end(), [&](const BetaInterval& i) {
          return beta >= i.lo && beta <= i.hi;
        });
        EXPECT_EQ(fits, inside) << alpha << ' ' << beta << ' ' << d;
      }
    }
  }
}

TEST(DrawVoiceMask, StaysInTheStatedRangesAndUsesAllOfThem) {
  const auto draws = Draws(1);
  int negative = 0, low_alpha = 0, opposite = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto p = DrawVoiceMask(draws, {}, std::to_string(i), "u");
    ASSERT_GE(std::abs(p.alpha), 0.08);
    ASSERT_LE(std::abs(p.alpha), 0.10);
    ASSERT_LT(std::abs(p.beta), 2.0);
    ASSERT_GE(Distortion(p), 0.32 - 1e-9);
    ASSERT_LE(Distortion(p), 0.40 + 1e-9);
    negative += p.alpha < 0.0 ? 1 : 0;
    low_alpha += std::abs(p.alpha) < 0.09 ? 1 : 0;
    opposite += std::abs(p.beta) > 1.0 ? 1 : 0;  // the branch where β outdoes α
  }
  EXPECT_NEAR(negative, 500, 80);  // five standard deviations
  EXPECT_NEAR(low_alpha, 500, 80);
  EXPECT_GT(opposite, 100);
  EXPECT_LT(opposite, 900);
}

TEST(DrawVoiceMask, FollowsTheKeyAndTheStrategy) {
  const auto draw = [](const TargetDraws& draws, const char* speaker, const char* utterance) {
    return DrawVoiceMask(draws, {}, speaker, utterance).beta;
  };
  EXPECT_EQ(draw(Draws(1), "a", "1"), draw(Draws(1), "a", "2"));
  EXPECT_NE(draw(Draws(1), "a", "1"), draw(Draws(2), "a", "1"));
  EXPECT_NE(draw(Draws(1), "a", "1"), draw(Draws(1), "b", "1"));
  EXPECT_EQ(draw(Draws(1, Strategy::kConst), "a", "1"), draw(Draws(1, Strategy::kConst), "b", "2"));
  EXPECT_NE(draw(Draws(1, Strategy::kRandom), "a", "1"),
            draw(Draws(1, Strategy::kRandom), "a", "2"));
}

TEST(DrawVoiceMask, IsAnErrorWhenNoBetaFits) {
  VoiceMaskOptions options;
  options.min_distortion = 2.0;
  options.max_distortion = 2.1;
  EXPECT_THROW(DrawVoiceMask(Draws(1), options, "a", "u"), Error);
  options = {};
  options.min_distortion = 0.0;
  options.max_distortion = 0.001;  // α alone bends more than that, and β cannot undo it
  EXPECT_THROW(DrawVoiceMask(Draws(1), options, "a", "u"), Error);
  options = {};
  options.max_beta = 4.0;  // not monotone
  EXPECT_THROW(DrawVoiceMask(Draws(1), options, "a", "u"), Error);
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
