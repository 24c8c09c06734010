// The mechanisms pass attempts to break them; the mistakes that people make do not.
#include "dp/mechanisms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "dp/falsify_testing.h"
#include "dp/gaussian.h"

namespace sotto {
namespace {

using testing::FalsifyDp;
using testing::FalsifyOptions;
using testing::NeighbourPair;
using testing::SeededBits;

constexpr double kEps = 1.0;

// Textbook Laplace noise in doubles, kept here as the example of what leaks.
double TextbookLaplace(double value, double scale, BitSource& bits) {
  const double u = static_cast<double>((bits.Next64() >> 11) + 1) * 0x1p-53;
  const double noise = scale * std::log(u);
  return (bits.Next64() & 1) != 0 ? value + noise : value - noise;
}

// Replace-one neighbours of a vector clipped to L1 norm 1, inside and far outside the clip.
std::vector<NeighbourPair> L1Pairs(double eps) {
  return {{{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}, eps},
          {{0.0, 0.5, 0.5}, {0.0, -0.5, -0.5}, eps},
          {{1e6, 1e6, 1e6}, {-1e6, -1e6, -1e6}, eps},
          {{1e-9, 0.0, 0.0}, {0.0, 0.0, 0.0}, eps},
          {{0.577, 0.577, 0.577}, {-0.577, -0.577, -0.577}, eps},
          {{0.0, 1e12, 0.0}, {0.0, 0.0, 3.0}, eps}};
}

std::vector<double> ClipL2(std::vector<double> v, double bound) {
  const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  for (double& value : v) value *= std::min(1.0, bound / norm * (1.0 - 1e-12));
  return v;
}

std::vector<NeighbourPair> ScalarPairs(double eps) {
  return {{{0.0}, {1.0}, eps},
          {{0.3}, {-0.7}, eps},
          {{1e5}, {1e5 + 1.0}, eps},
          {{1.0 / 3.0}, {4.0 / 3.0}, eps},
          {{-1e-300}, {1e-300}, eps}};
}

TEST(FalsifyDp, PassesTheLaplaceMechanism) {
  const LaplaceMechanism laplace(kEps, 1.0);
  const auto result = FalsifyDp(
      [&](std::span<const double> x, BitSource& bits) {
        Budget budget;
        return laplace.Release(x, budget, bits);
      },
      ScalarPairs(kEps));
  EXPECT_FALSE(result.rejected) << result.event << " shows " << result.eps_lower;
  EXPECT_GT(result.eps_lower, 0.7);  // the harness is sharp enough to come near the claim
}

TEST(FalsifyDp, RejectsAScaleOffByTwo) {
  const LaplaceMechanism laplace(kEps, 0.5);
  EXPECT_TRUE(FalsifyDp(
                  [&](std::span<const double> x, BitSource& bits) {
                    Budget budget;
                    return laplace.Release(x, budget, bits);
                  },
                  ScalarPairs(kEps))
                  .rejected);
}

TEST(FalsifyDp, RejectsTextbookLaplaceByItsLowBits) {
  const auto result = FalsifyDp(
      [](std::span<const double> x, BitSource& bits) {
        return std::vector{TextbookLaplace(x[0], 1.0 / kEps, bits)};
      },
      ScalarPairs(kEps));
  EXPECT_TRUE(result.rejected);
  EXPECT_NE(result.event.find("lowest bit"), std::string::npos) << result.event;
}

// Clip to L1 norm 1, then noise for replace-one neighbours.
std::vector<double> ClippedLaplace(std::span<const double> x, double sensitivity, BitSource& bits) {
  Budget budget;
  return LaplaceMechanism(kEps, sensitivity, x.size()).Release(ClipL1(x, 1.0), budget, bits);
}

TEST(FalsifyDp, PassesAClippedVectorWithTheFactorTwoOfReplaceOne) {
  const double sensitivity = ClippedSensitivity(1.0, Neighbours::kReplaceOne);
  const auto result =
      FalsifyDp([&](std::span<const double> x,
                    BitSource& bits) { return ClippedLaplace(x, sensitivity, bits); },
                L1Pairs(kEps));
  EXPECT_FALSE(result.rejected) << result.event << " shows " << result.eps_lower;
}

TEST(FalsifyDp, RejectsAForgottenFactorTwo) {
  EXPECT_TRUE(FalsifyDp([](std::span<const double> x,
                           BitSource& bits) { return ClippedLaplace(x, 1.0, bits); },
                        L1Pairs(kEps))
                  .rejected);
}

TEST(FalsifyDp, RejectsAnL2ClipWhereL1IsMeant) {
  EXPECT_TRUE(FalsifyDp(
                  [](std::span<const double> x, BitSource& bits) {
                    Budget budget;
                    return LaplaceMechanism(kEps, 2.0, 3)
                        .Release(ClipL2({x.begin(), x.end()}, 1.0), budget, bits);
                  },
                  L1Pairs(kEps))
                  .rejected);
}

TEST(FalsifyDp, RejectsClippingAfterTheNoise) {
  EXPECT_TRUE(FalsifyDp(
                  [](std::span<const double> x, BitSource& bits) {
                    Budget budget;
                    const LaplaceMechanism laplace(kEps, 2.0, 3);
                    return ClipL1(laplace.Release(x, budget, bits), 1.0);
                  },
                  L1Pairs(kEps))
                  .rejected);
}

TEST(FalsifyDp, PassesTheGaussianMechanismAndRejectsHalfItsNoise) {
  const double delta = 1e-2;
  auto pairs = ScalarPairs(kEps);
  for (NeighbourPair& pair : pairs) pair.delta = delta;
  const auto with = [&](const GaussianMechanism& mechanism) {
    return FalsifyDp(
        [&](std::span<const double> x, BitSource& bits) {
          Budget budget;
          return mechanism.Release(x, budget, bits);
        },
        pairs);
  };
  EXPECT_FALSE(with(GaussianMechanism::ForEpsilon(kEps, delta, 1.0)).rejected);
  EXPECT_TRUE(with(GaussianMechanism::ForEpsilon(kEps, delta, 0.5)).rejected);
}

TEST(FalsifyDp, PassesL2ClippedGaussianVectors) {
  auto pairs = L1Pairs(kEps);
  for (NeighbourPair& pair : pairs) pair.delta = 1e-2;
  const auto mechanism = GaussianMechanism::ForEpsilon(
      kEps, 1e-2, ClippedSensitivity(1.0, Neighbours::kReplaceOne), 3);
  EXPECT_FALSE(FalsifyDp(
                   [&](std::span<const double> x, BitSource& bits) {
                     Budget budget;
                     return mechanism.Release(ClipL2({x.begin(), x.end()}, 1.0), budget, bits);
                   },
                   pairs)
                   .rejected);
}

// The input is the list of utilities; neighbours move each by at most 1. The pair that reaches the
// bound raises one and lowers all others.
std::vector<NeighbourPair> UtilityPairs() {
  std::vector<double> up(12, -1.0);
  std::vector<double> down(12, 0.0);
  up[0] = 1.0;
  return {{up, down, kEps}, {{5.0, 4.0, 3.0}, {4.0, 5.0, 4.0}, kEps}};
}

testing::Falsification FalsifySelection(double eps) {
  const ExponentialMechanism mechanism(eps, 1.0);
  return FalsifyDp(
      [&](std::span<const double> x, BitSource& bits) {
        Budget budget;
        return std::vector{static_cast<double>(mechanism.Release(x, budget, bits))};
      },
      UtilityPairs());
}

TEST(FalsifyDp, PassesTheExponentialMechanismAndRejectsAnExponentNotHalved) {
  EXPECT_FALSE(FalsifySelection(kEps).rejected);
  EXPECT_TRUE(FalsifySelection(2.0 * kEps).rejected);
}

TEST(FalsifyDp, PassesRandomisedResponseAndRejectsTwiceItsEpsilon) {
  for (const std::size_t k : {2, 7}) {
    for (const double factor : {1.0, 2.0}) {
      const RandomisedResponse mechanism(factor * kEps, k);
      const std::vector<NeighbourPair> pairs = {{{0.0}, {1.0}, kEps}};
      const auto result = FalsifyDp(
          [&](std::span<const double> x, BitSource& bits) {
            Budget budget;
            return std::vector{static_cast<double>(
                mechanism.Release(static_cast<std::size_t>(x[0]), budget, bits))};
          },
          pairs);
      EXPECT_EQ(result.rejected, factor == 2.0) << k << " categories: " << result.eps_lower;
    }
  }
}

// Mironov 2012: can y = fl(x ± s·ln u) come from x for some u on the 2^−53 grid?
bool TextbookReaches(double y, double x, double scale) {
  const double noise = y - x;
  const double u = std::exp(-std::abs(noise) / scale);
  const double k0 = std::nearbyint(std::ldexp(u, 53));
  for (double k = k0 - 64.0; k <= k0 + 64.0; k += 1.0) {
    if (k < 1.0 || k > 0x1p53) continue;
    const double draw = scale * std::log(std::ldexp(k, -53));
    if (x + draw == y || x - draw == y) return true;
  }
  return false;
}

TEST(MironovAttack, ExcludesTheNeighbourInMostTextbookDrawsAndNeverInOurs) {
  SeededBits bits(7);
  constexpr int kDraws = 4000;
  int excluded = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double y = TextbookLaplace(0.0, 1.0, bits);
    ASSERT_TRUE(TextbookReaches(y, 0.0, 1.0));  // the attack never excludes the truth
    excluded += TextbookReaches(y, 1.0, 1.0) ? 0 : 1;
  }
  EXPECT_GT(excluded, kDraws / 2);
  RecordProperty("textbook_excluded_percent", 100 * excluded / kDraws);

  // Ours: whatever the input, the output lies on one grid, on which the noise reaches every point.
  const LaplaceMechanism laplace(1.0, 1.0);
  const NoiseGrid grid = NoiseGrid::ForScale(1.0);
  Budget budget;
  for (const double input : {0.0, 1.0, 1.0 / 3.0, -1e-5}) {
    for (int i = 0; i < kDraws; ++i) {
      const double y = laplace.Release(std::span(&input, 1), budget, bits).front();
      const double units = std::ldexp(y, -grid.exponent);
      ASSERT_EQ(units, std::nearbyint(units)) << y;
    }
  }
}

// Pearson's statistic of draws against exact probabilities, cells with less than 10 expected
// merged.
template <typename Draw, typename Mass>
double ChiSquarePerDegree(int reach, const Draw& draw, const Mass& mass) {
  constexpr int kDraws = 200000;
  std::vector<double> counts(2 * static_cast<std::size_t>(reach) + 1, 0.0);
  double outside = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const auto z = static_cast<long>(draw());
    if (std::abs(z) > reach) {
      outside += 1.0;
    } else {
      counts[static_cast<std::size_t>(z) + static_cast<std::size_t>(reach)] += 1.0;
    }
  }
  double total = 0.0;
  for (int z = -40 * reach; z <= 40 * reach; ++z) total += mass(z);
  double statistic = 0.0;
  double rest = kDraws;
  for (int z = -reach; z <= reach; ++z) {
    const double expected = kDraws * mass(z) / total;
    const int cell = z + reach;
    const double found = counts[static_cast<std::size_t>(cell)];
    statistic += (found - expected) * (found - expected) / expected;
    rest -= expected;
  }
  statistic += (outside - rest) * (outside - rest) / std::max(rest, 1.0);
  return statistic / (2 * reach + 1);
}

TEST(Samplers, DrawTheDiscreteLaplaceAndGaussian) {
  SeededBits bits(3);
  for (const std::uint64_t scale : {1, 3, 20}) {
    const auto s = static_cast<double>(scale);
    const int reach = static_cast<int>(4 * scale + 2);
    EXPECT_LT(ChiSquarePerDegree(
                  reach, [&] { return DiscreteLaplace(scale, bits); },
                  [&](int z) { return std::exp(-std::abs(z) / s); }),
              2.2)
        << scale;
    EXPECT_LT(ChiSquarePerDegree(
                  static_cast<int>(3 * scale + 1), [&] { return DiscreteGaussian(scale, bits); },
                  [&](int z) { return std::exp(-0.5 * z * z / (s * s)); }),
              2.2)
        << scale;
  }
}

TEST(Samplers, BernoulliOfAnExponentialHasThatProbability) {
  SeededBits bits(5);
  for (const auto& [n, d] : std::vector<std::pair<int, int>>{{0, 1}, {1, 3}, {1, 1}, {7, 2}}) {
    int hits = 0;
    for (int i = 0; i < 100000; ++i) {
      hits += BernoulliExpMinus(static_cast<Uint128>(n), static_cast<Uint128>(d), bits) ? 1 : 0;
    }
    EXPECT_NEAR(hits / 1e5, std::exp(-static_cast<double>(n) / d), 0.008) << n << '/' << d;
  }
}

TEST(Mechanisms, NoiseHasTheScaleOfTheFormulaAndTheGridCostsNextToNothing) {
  EXPECT_NEAR(LaplaceMechanism(0.5, 3.0).Scale(), 6.0, 1e-10);
  EXPECT_GE(LaplaceMechanism(0.5, 3.0).Scale(), 6.0);
  EXPECT_NEAR(GaussianMechanism::ForEpsilon(1.0, 1e-5, 1.0).Sigma(), 3.730631634815942, 1e-9);
  SeededBits bits(11);
  Budget budget;
  const LaplaceMechanism laplace(0.5, 3.0);
  const GaussianMechanism gaussian = GaussianMechanism::ForNoise(2.0, 1.5);
  double absolute = 0.0;
  double squares = 0.0;
  constexpr int kDraws = 100000;
  const double input = 10.0;
  for (int i = 0; i < kDraws; ++i) {
    absolute += std::abs(laplace.Release(std::span(&input, 1), budget, bits)[0] - input);
    const double z = gaussian.Release(std::span(&input, 1), budget, bits)[0] - input;
    squares += z * z;
  }
  EXPECT_NEAR(absolute / kDraws, 6.0, 0.1);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 3.0, 0.04);
  EXPECT_EQ(budget.Events().size(), 2U);
  EXPECT_EQ(budget.Events()[0].count, static_cast<std::uint64_t>(kDraws));
}

TEST(Mechanisms, ExponentialProbabilitiesAreThoseOfTheFormula) {
  SeededBits bits(13);
  const std::vector<double> utilities = {0.0, 1.0, 2.5, -4.0};
  const ExponentialMechanism mechanism(1.0, 1.0);
  std::vector<double> counts(4, 0.0);
  Budget budget;
  for (int i = 0; i < 100000; ++i) counts[mechanism.Release(utilities, budget, bits)] += 1e-5;
  double total = 0.0;
  for (const double u : utilities) total += std::exp(0.5 * u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(counts[i], std::exp(0.5 * utilities[i]) / total, 0.007) << i;
  }
}

TEST(Mechanisms, RandomisedResponseEstimatesTheShares) {
  SeededBits bits(17);
  const RandomisedResponse mechanism(1.0, 3);
  std::vector<std::uint64_t> counts(3, 0);
  Budget budget;
  for (int i = 0; i < 60000; ++i) ++counts[mechanism.Release(i % 10 < 6 ? 0 : 2, budget, bits)];
  const auto shares = mechanism.EstimateShares(counts);
  EXPECT_NEAR(shares[0], 0.6, 0.02);
  EXPECT_NEAR(shares[1], 0.0, 0.02);
  EXPECT_NEAR(shares[2], 0.4, 0.02);
}

TEST(Mechanisms, ReleaseFromTheSystemsRandomnessDiffersEveryTime) {
  Budget budget;
  const LaplaceMechanism laplace(1.0, 1.0);
  const std::vector<double> zero = {0.0};
  SecureBits bits, others;
  EXPECT_NE(laplace.Release(zero, budget, bits), laplace.Release(zero, budget, others));
}

TEST(Mechanisms, RefuseParametersThatMeanNothing) {
  EXPECT_THROW(LaplaceMechanism(0.0, 1.0), Error);
  EXPECT_THROW(LaplaceMechanism(std::nan(""), 1.0), Error);
  EXPECT_THROW(LaplaceMechanism(1.0, -1.0), Error);
  EXPECT_THROW(GaussianMechanism::ForEpsilon(1.0, 0.0, 1.0), Error);
  EXPECT_THROW(RandomisedResponse(1.0, 1), Error);
  EXPECT_THROW(ExponentialMechanism(1.0, 0.0), Error);
  Budget budget;
  SeededBits bits(1);
  const std::vector<double> none = {std::nan("")}, two = {1.0, 2.0};
  EXPECT_THROW(LaplaceMechanism(1.0, 1.0).Release(none, budget, bits), Error);
  EXPECT_THROW(LaplaceMechanism(1.0, 1.0).Release(two, budget, bits), Error);
}

TEST(Mechanisms, ClippingKeepsTheNormWithinTheBoundAndShortVectorsAsTheyAre) {
  const std::vector<double> v = {3.0, -4.0, 1e-3};
  const auto l1 = ClipL1(v, 2.0);
  EXPECT_LE(std::abs(l1[0]) + std::abs(l1[1]) + std::abs(l1[2]), 2.0);
  EXPECT_NEAR(std::abs(l1[0]) + std::abs(l1[1]) + std::abs(l1[2]), 2.0, 1e-10);
  EXPECT_EQ(ClipL1(v, 100.0), v);
  EXPECT_EQ(ClipL1(std::vector<double>{0.0}, 1.0), std::vector<double>{0.0});
  EXPECT_LE(ClipL1(std::vector{1e308, 1e308}, 1.0)[0], 0.5);
  EXPECT_THROW(ClipL1(std::vector<double>{INFINITY}, 1.0), Error);
}

}  // namespace
}  // namespace sotto
