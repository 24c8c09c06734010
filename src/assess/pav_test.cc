#include "assess/pav.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assess/calibration.h"
#include "assess/verification.h"
#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> Draw(SeededRng& rng, std::size_t n, double mean, double deviation) {
  std::vector<double> scores(n);
  for (double& score : scores) score = mean + deviation * rng.Gaussian();
  return scores;
}

// Few distinct scores, so that ties are many.
ScoreLevels RandomTies(std::uint64_t seed, std::size_t n, std::size_t values) {
  SeededRng rng(seed);
  std::vector<double> tar{0.0};
  std::vector<double> non{1.0};
  for (std::size_t i = 0; i < n; ++i) {
    const auto score = static_cast<double>(rng.Below(values));
    (rng.Uniform() * static_cast<double>(values) < score ? tar : non).push_back(score);
  }
  return MakeLevels(tar, non);
}

// Isotonic regression by its min-max formula: max over i ≤ k of min over j ≥ k of the mean of i …
// j.
std::vector<double> MinMaxPosteriors(const std::vector<Level>& levels) {
  std::vector<double> posteriors;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    double best = -kInf;
    for (std::size_t i = 0; i <= k; ++i) {
      double smallest = kInf;
      for (std::size_t j = k; j < levels.size(); ++j) {
        double tar = 0.0;
        double all = 0.0;
        for (std::size_t l = i; l <= j; ++l) {
          tar += levels[l].tar;
          all += levels[l].tar + levels[l].non;
        }
        smallest = std::min(smallest, tar / all);
      }
      best = std::max(best, smallest);
    }
    posteriors.push_back(best);
  }
  return posteriors;
}

double PosteriorAt(const Pav& pav, double score) {
  for (const PavBlock& block : pav.blocks) {
    if (block.low <= score && score <= block.high) return block.posterior;
  }
  return -1.0;
}

TEST(Pav, EqualsTheMinMaxFormulaOfIsotonicRegression) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ScoreLevels data = RandomTies(seed, 40, 12);
    const Pav pav = FitPav(data);
    const auto expected = MinMaxPosteriors(data.levels);
    for (std::size_t k = 0; k < data.levels.size(); ++k) {
      EXPECT_NEAR(PosteriorAt(pav, data.levels[k].score), expected[k], 1e-12) << seed;
    }
  }
}

TEST(Pav, LaplacesRuleAddsOneOfEachClassAtBothEnds) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ScoreLevels data = RandomTies(seed, 40, 12);
    std::vector<Level> more = data.levels;
    more.insert(more.begin(), {-kInf, 1.0, 1.0});
    more.push_back({kInf, 1.0, 1.0});
    const auto expected = MinMaxPosteriors(more);
    const Pav pav = FitPav(data, PavRule::kLaplace);
    double tar = 0.0;
    double non = 0.0;
    for (const PavBlock& block : pav.blocks) {
      tar += block.tar;
      non += block.non;
      EXPECT_TRUE(std::isfinite(block.llr));
    }
    EXPECT_EQ(tar, data.n_tar);
    EXPECT_EQ(non, data.n_non);
    for (std::size_t k = 0; k < data.levels.size(); ++k) {
      EXPECT_NEAR(PosteriorAt(pav, data.levels[k].score), expected[k + 1], 1e-12) << seed;
    }
  }
}

TEST(Pav, CalibratedLlrsHaveCllrEqualToCllrMin) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SeededRng rng(seed);
    std::vector<double> scores;
    std::vector<std::uint8_t> is_target;
    for (int i = 0; i < 500; ++i) {
      is_target.push_back(i % 5 == 0 ? 1 : 0);
      scores.push_back(std::nearbyint(10.0 * (rng.Gaussian() + 2.0 * is_target.back())) / 10.0);
    }
    const ScoreLevels data = MakeLevels(scores, is_target);
    const double minimum = CllrMin(FitPav(data));
    const auto llrs = PavLlrs(scores, is_target, PavRule::kPlain);
    const ScoreLevels calibrated = MakeLevels(llrs, is_target);
    EXPECT_NEAR(Cllr(calibrated), minimum, 1e-12);
    EXPECT_NEAR(CllrMin(FitPav(calibrated)), minimum, 1e-12);
    EXPECT_LT(minimum, Cllr(data));
  }
}

TEST(Pav, AppliedToNewScoresIsConstantInBlocksAndLinearBetween) {
  // Scores 0 and 1 pool to one target of four; score 3 has three of four.
  const std::vector<double> tar{0.0, 3.0, 3.0, 3.0};
  const std::vector<double> non{0.0, 1.0, 1.0, 3.0};
  const Pav pav = FitPav(MakeLevels(tar, non));
  ASSERT_EQ(pav.blocks.size(), 2U);
  const double low = std::log(1.0 / 3.0);
  const double high = std::log(3.0);
  const std::vector<double> scores{-9.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 9.0, -kInf, kInf};
  const std::vector<double> expected{low, low, low, low, 0.0, high / 2.0, high, high, low, high};
  const auto llrs = PavLlrs(pav, scores);
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(llrs[i], expected[i], 1e-12) << i;
}

TEST(Pav, AppliedBesideInfiniteLlrsStaysFinite) {
  const Pav separated = FitPav(MakeLevels(std::vector<double>{2.0}, std::vector<double>{0.0}));
  EXPECT_EQ(PavLlrs(separated, std::vector<double>{1.0}).front(), 0.0);
  const Pav overlapping =
      FitPav(MakeLevels(std::vector<double>{1.0, 3.0}, std::vector<double>{1.0, -1.0}));
  const auto llrs = PavLlrs(overlapping, std::vector<double>{0.0, 2.0, -5.0, 5.0});
  EXPECT_EQ(llrs, (std::vector<double>{0.0, 0.0, -kInf, kInf}));
}

TEST(Pav, OneValueForAllScoresIsNoEvidence) {
  const std::vector<double> tar(5, 1.5);
  const std::vector<double> non(7, 1.5);
  const Pav pav = FitPav(MakeLevels(tar, non));
  ASSERT_EQ(pav.blocks.size(), 1U);
  EXPECT_EQ(pav.blocks[0].llr, 0.0);
  EXPECT_EQ(CllrMin(pav), 1.0);
}

TEST(Levels, SortingByBitsEqualsStdSortWithInfinitiesAndNegativeZero) {
  SeededRng rng(3);
  std::vector<double> scores{kInf, -kInf, -0.0, 0.0, 5e-324, -5e-324, 1e308, -1e308};
  for (int i = 0; i < 20000; ++i) scores.push_back(rng.Gaussian() * std::pow(10.0, i % 40 - 20));
  std::vector<double> expected = scores;
  std::sort(expected.begin(), expected.end());
  SortScores(scores);
  EXPECT_EQ(scores, expected);  // −0 == +0
}

TEST(Levels, NegativeZeroTiesWithZero) {
  const std::vector<double> tar{-0.0};
  const std::vector<double> non{0.0};
  EXPECT_EQ(MakeLevels(tar, non).levels.size(), 1U);
}

TEST(Levels, NanAndEmptyClassesAreRefused) {
  const std::vector<double> one{1.0};
  const std::vector<double> nan{std::nan("")};
  EXPECT_THROW(MakeLevels(one, nan), Error);
  EXPECT_THROW(MakeLevels(one, std::vector<double>{}), Error);
  EXPECT_THROW(MakeLevels(std::vector<double>{}, one), Error);
}

TEST(LinearCalibration, MinimisesThePriorWeightedCost) {
  SeededRng rng(5);
  std::vector<double> tar = Draw(rng, 300, 100.0, 7.0);
  std::vector<double> non = Draw(rng, 900, 90.0, 7.0);
  const ScoreLevels data = MakeLevels(tar, non);
  for (const double prior : {0.001, 0.01, 0.5, 0.9}) {
    const LinearCalibration fit = FitLinearCalibration(data, prior);
    const double offset = std::log(prior / (1.0 - prior));
    const auto cost = [&](double a, double b) {
      double sum = 0.0;
      for (const double s : tar) {
        sum += prior / 300.0 * std::log1p(std::exp(-(a * s + b + offset)));
      }
      for (const double s : non) {
        sum += (1.0 - prior) / 900.0 * std::log1p(std::exp(a * s + b + offset));
      }
      return sum;
    };
    const double best = cost(fit.a, fit.b);
    for (const double step : {-1e-3, 1e-3}) {
      // Turning about the middle of the scores, and shifting.
      EXPECT_GT(cost(fit.a + step, fit.b - 95.0 * step), best);
      EXPECT_GT(cost(fit.a, fit.b + step), best);
    }
  }
}

TEST(LinearCalibration, UndoesAnAffineMapOfTheScores) {
  SeededRng rng(6);
  std::vector<double> tar = Draw(rng, 500, 1.0, 1.0);
  std::vector<double> non = Draw(rng, 500, -1.0, 1.0);
  const LinearCalibration plain = FitLinearCalibration(MakeLevels(tar, non));
  for (double& s : tar) s = 40.0 - 3.0 * s;
  for (double& s : non) s = 40.0 - 3.0 * s;
  const LinearCalibration mapped = FitLinearCalibration(MakeLevels(tar, non));
  EXPECT_NEAR(mapped.a, -plain.a / 3.0, 1e-10);
  EXPECT_NEAR(mapped.b, plain.b + 40.0 * plain.a / 3.0, 1e-8);
}

TEST(LinearCalibration, IsRefusedWhereNoFiniteOptimumExists) {
  const std::vector<double> low{0.0, 1.0};
  const std::vector<double> high{1.0, 2.0};  // touching is separation too
  const std::vector<double> equal{1.0, 1.0};
  const std::vector<double> infinite{0.5, kInf};
  EXPECT_THROW(FitLinearCalibration(MakeLevels(high, low)), Error);
  EXPECT_THROW(FitLinearCalibration(MakeLevels(low, high)), Error);
  EXPECT_THROW(FitLinearCalibration(MakeLevels(equal, equal)), Error);
  EXPECT_THROW(FitLinearCalibration(MakeLevels(infinite, low)), Error);
  EXPECT_THROW(FitLinearCalibration(MakeLevels(low, low), 1.0), Error);
}

}  // namespace
}  // namespace sotto
