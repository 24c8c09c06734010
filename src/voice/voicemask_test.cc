#include "voice/voicemask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "dsp/warp.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

TargetDraws Draws(std::uint64_t seed, Strategy strategy = Strategy::kPerm) {
  return TargetDraws(Key::ForExperiment(ExperimentKey(seed)), strategy, "voicemask");
}

// ∫ |h(ω) − ω| dω by the midpoint rule, from the warp itself.
double Distortion(double alpha, double beta) {
  constexpr int kPoints = 5000;
  double sum = 0.0;
  for (int i = 0; i < kPoints; ++i) {
    const double omega = kPi * (i + 0.5) / kPoints;
    sum += std::abs(VoiceMaskWarp(omega, alpha, beta) - omega);
  }
  return sum * kPi / kPoints;
}
double Distortion(const VoiceMaskWarpParameters& p) { return Distortion(p.alpha, p.beta); }

TEST(VoiceMaskDistortion, TheOracleMatchesItsClosedFormsWhereOneWarpIsOff) {
  // ∫ (g − ω) = βπ/6 and ∫ (f − ω) = 4·Σ α^n/n² over odd n.
  EXPECT_NEAR(Distortion(0.0, 1.2), 1.2 * kPi / 6.0, 1e-6);
  EXPECT_NEAR(Distortion(0.0, -0.3), 0.3 * kPi / 6.0, 1e-6);
  double series = 0.0;
  for (int n = 1; n < 40; n += 2) series += 4.0 * std::pow(0.1, n) / (n * n);
  EXPECT_NEAR(Distortion(0.1, 0.0), series, 1e-6);
  EXPECT_NEAR(Distortion(-0.1, 0.0), series, 1e-6);
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
        const double d = Distortion(alpha, beta);
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

}  // namespace
}  // namespace sotto
