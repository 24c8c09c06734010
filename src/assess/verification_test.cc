#include "assess/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "assess/linkability.h"
#include "assess/numeric.h"
#include "assess/zebra.h"
#include "base/random.h"

namespace sotto {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> Draw(SeededRng& rng, std::size_t n, double mean, double deviation) {
  std::vector<double> scores(n);
  for (double& score : scores) score = mean + deviation * rng.Gaussian();
  return scores;
}

double Phi(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2.0; }

// x with Phi(x) = p, by bisection.
double PhiInverse(double p) {
  double low = -40.0;
  double high = 40.0;
  while (high - low > 1e-13) {
    const double middle = (low + high) / 2.0;
    (Phi(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

// n scores that fill a normal distribution evenly: quantiles at (i + 1/2)/n.
std::vector<double> GaussianScores(double mean, double deviation, std::size_t n) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < n; ++i) {
    scores.push_back(
        mean + deviation * PhiInverse((static_cast<double>(i) + 0.5) / static_cast<double>(n)));
  }
  return scores;
}

// Two Gaussians of unit deviation at distance d.
ScoreLevels TwoGaussians(double d, std::size_t n) {
  return MakeLevels(GaussianScores(d / 2.0, 1.0, n), GaussianScores(-d / 2.0, 1.0, n));
}

struct RandomScores {
  std::vector<double> tar;
  std::vector<double> non;
};

RandomScores WithTies(std::uint64_t seed) {
  SeededRng rng(seed);
  RandomScores scores;
  const std::size_t n_tar = 1 + rng.Below(30);
  const std::size_t n_non = 1 + rng.Below(60);
  const double shift = rng.Gaussian();
  for (std::size_t i = 0; i < n_tar; ++i) {
    scores.tar.push_back(std::nearbyint(2.0 * (rng.Gaussian() + shift)));
  }
  for (std::size_t i = 0; i < n_non; ++i) {
    scores.non.push_back(std::nearbyint(2.0 * rng.Gaussian()));
  }
  return scores;
}

TEST(TwoGaussians, HaveEqualErrorRatePhiOfMinusHalfTheirDistance) {
  for (const double d : {0.0, 0.5, 1.0, 2.0, 4.0}) {
    const ScoreLevels data = TwoGaussians(d, 20000);
    EXPECT_NEAR(EerInterpolated(data), Phi(-d / 2.0), 1e-4);
    EXPECT_NEAR(EerRocch(FitPav(data)), Phi(-d / 2.0), 1e-4);
    EXPECT_NEAR(EerKaldi(data), Phi(-d / 2.0), 1e-4);
    EXPECT_NEAR(EerArgmin(data), Phi(-d / 2.0), 1e-4);
    EXPECT_NEAR(Auc(data), Phi(d / std::numbers::sqrt2), 1e-4);
  }
}

TEST(TwoGaussians, HaveTheCllrOfANumericalIntegral) {
  // For LLRs l = d·x the target density is N(d²/2, d²); Cllr is ∫ softplus(−l) of it, in bit.
  for (const double d : {0.5, 1.0, 2.0, 3.0}) {
    double integral = 0.0;
    constexpr double kStep = 1e-3;
    for (double z = -12.0; z <= 12.0; z += kStep) {
      const double density = std::exp(-z * z / 2.0) / std::sqrt(2.0 * std::numbers::pi);
      integral += density * std::log1p(std::exp(-(d * d / 2.0 + d * z))) * kStep;
    }
    const double expected = integral / std::numbers::ln2;
    const ScoreLevels data =
        MakeLevels(GaussianScores(d * d / 2.0, d, 20000), GaussianScores(-d * d / 2.0, d, 20000));
    EXPECT_NEAR(Cllr(data), expected, 1e-4);
    EXPECT_NEAR(CllrMin(FitPav(data)), expected, 2e-3);  // PAV fits the sample too
    EXPECT_LE(CllrMin(FitPav(data)), Cllr(data));
  }
}

// Kaldi's loop over two sorted lists, as the rule is worded.
double KaldiByTheBook(RandomScores s) {
  std::sort(s.tar.begin(), s.tar.end());
  std::sort(s.non.begin(), s.non.end());
  const std::size_t n_tar = s.tar.size();
  const std::size_t n_non = s.non.size();
  std::size_t position = 0;
  for (; position + 1 < n_tar; ++position) {
    const std::size_t from_top = n_non * position / n_tar;
    const std::size_t opposite = from_top + 1 > n_non ? 0 : n_non - 1 - from_top;
    if (s.non[opposite] < s.tar[position]) break;
  }
  return static_cast<double>(position) / static_cast<double>(n_tar);
}

// All thresholds, one by one.
double MinDcfByTheBook(const RandomScores& s, const OperatingPoint& point) {
  std::vector<double> thresholds = s.tar;
  thresholds.insert(thresholds.end(), s.non.begin(), s.non.end());
  thresholds.push_back(kInf);
  double best = kInf;
  for (const double t : thresholds) {
    const auto miss = static_cast<double>(
        std::count_if(s.tar.begin(), s.tar.end(), [t](double x) { return x < t; }));
    const auto accepted = static_cast<double>(
        std::count_if(s.non.begin(), s.non.end(), [t](double x) { return x >= t; }));
    const double a = point.prior * point.cost_miss;
    const double b = (1.0 - point.prior) * point.cost_false_alarm;
    best = std::min(best, (a * miss / static_cast<double>(s.tar.size()) +
                           b * accepted / static_cast<double>(s.non.size())) /
                              std::min(a, b));
  }
  return best;
}

double AucByTheBook(const RandomScores& s) {
  double wins = 0.0;
  for (const double t : s.tar) {
    for (const double n : s.non) wins += t > n ? 1.0 : t == n ? 0.5 : 0.0;
  }
  return wins / static_cast<double>(s.tar.size() * s.non.size());
}

// Sort with targets before non-targets among ties, step through one score at a time.
double ArgminByTheBook(const RandomScores& s) {
  std::vector<std::pair<double, int>> all;
  for (const double t : s.tar) all.emplace_back(t, 0);
  for (const double n : s.non) all.emplace_back(n, 1);
  std::sort(all.begin(), all.end());
  double missed = 0.0;
  auto accepted = static_cast<double>(s.non.size());
  double smallest = kInf;
  double eer = 0.0;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    const double frr = missed / static_cast<double>(s.tar.size());
    const double far = accepted / static_cast<double>(s.non.size());
    if (std::abs(frr - far) < smallest) {
      smallest = std::abs(frr - far);
      eer = (frr + far) / 2.0;
    }
    if (i < all.size()) (all[i].second == 0 ? missed += 1.0 : accepted -= 1.0);
  }
  return eer;
}

TEST(ErrorRates, EqualBruteForceOnRandomScoresWithTies) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomScores s = WithTies(seed);
    const ScoreLevels data = MakeLevels(s.tar, s.non);
    const Pav pav = FitPav(data);
    EXPECT_NEAR(EerKaldi(data), KaldiByTheBook(s), 1e-12) << seed;
    EXPECT_NEAR(EerArgmin(data), ArgminByTheBook(s), 1e-12) << seed;
    EXPECT_NEAR(Auc(data), AucByTheBook(s), 1e-12) << seed;
    for (const OperatingPoint& point :
         {OperatingPoint{0.5, 1, 1}, {0.01, 1, 1}, {0.01, 10, 1}, {0.9, 1, 3}}) {
      EXPECT_NEAR(MinDcf(pav, point), MinDcfByTheBook(s, point), 1e-12) << seed;
      EXPECT_GE(ActDcf(data, std::span(&point, 1)).front(), MinDcf(pav, point) - 1e-12) << seed;
    }
    EXPECT_LE(EerRocch(pav), 0.5 + 1e-12);
    EXPECT_LE(EerRocch(pav), EerInterpolated(data) + 1e-12);
    EXPECT_LE(1.0 - RocchAreaError(pav), 1.0);
    EXPECT_GE(1.0 - RocchAreaError(pav), Auc(data) - 1e-12);  // the hull lies above the curve
  }
}

TEST(ErrorRates, InfinitiesAreOrderable) {
  const std::vector<double> tar{1.0, kInf};
  const std::vector<double> non{-kInf, 0.0};
  const ScoreLevels data = MakeLevels(tar, non);
  EXPECT_EQ(EerInterpolated(data), 0.0);
  EXPECT_EQ(Auc(data), 1.0);
  EXPECT_TRUE(std::isfinite(Cllr(data)));
  EXPECT_EQ(Cllr(MakeLevels(non, tar)), kInf);  // infinitely sure, and wrong
}

TEST(Roc, PointsStartAtAcceptAllEndAtRejectAllAndHoldTheCrossing) {
  const ScoreLevels data = TwoGaussians(1.0, 5000);
  const auto points = RocPoints(data, 200);
  EXPECT_LE(points.size(), 210U);
  EXPECT_EQ(points.front().miss, 0.0);
  EXPECT_EQ(points.front().false_alarm, 1.0);
  EXPECT_EQ(points.back().miss, 1.0);
  EXPECT_EQ(points.back().false_alarm, 0.0);
  double nearest = kInf;
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GE(points[i].miss, points[i - 1].miss);
    EXPECT_LE(points[i].false_alarm, points[i - 1].false_alarm);
    nearest = std::min(nearest, std::abs(points[i].miss - points[i].false_alarm));
  }
  EXPECT_LE(nearest, 1.0 / 5000.0);
}

TEST(Zebra, DisclosureIsTheAreaBetweenTheEceOfNoEvidenceAndOfTheScores) {
  const std::vector<double> tar{2.0, 1.0, 0.5, -0.5, 3.0, 0.0};
  const std::vector<double> non{-2.0, -1.0, 0.5, -0.5, -3.0, 0.0, 0.2};
  const ScoreLevels data = MakeLevels(tar, non);
  double area = 0.0;
  constexpr int kSteps = 200000;
  for (int i = 0; i < kSteps; ++i) {
    const double prior = (i + 0.5) / kSteps;
    const double odds = std::log(prior) - std::log1p(-prior);
    double mean_tar = 0.0;
    double mean_non = 0.0;
    for (const double l : tar) mean_tar += Softplus(-l - odds) / 6.0;
    for (const double l : non) mean_non += Softplus(l + odds) / 7.0;
    const double without = prior * Softplus(-odds) + (1.0 - prior) * Softplus(odds);
    area += (without - prior * mean_tar - (1.0 - prior) * mean_non) / kSteps;
  }
  EXPECT_NEAR(ExpectedDisclosure(data), area / std::numbers::ln2, 1e-8);
}

TEST(Zebra, ZHasItsLimitsAndNoJumpWhereTheSeriesEnds) {
  EXPECT_EQ(DisclosureZ(0.0), 0.0);
  EXPECT_EQ(DisclosureZ(kInf), 0.5);
  EXPECT_EQ(DisclosureZ(-kInf), -kInf);
  EXPECT_NEAR(DisclosureZ(1e-9), 1e-9 / 3.0, 1e-15);
  EXPECT_NEAR(DisclosureZ(800.0), 0.5, 1e-15);
  EXPECT_NEAR(DisclosureZ(-800.0), -798.5, 1e-9);
  for (const double edge : {-0.5, 0.5}) {
    EXPECT_NEAR(DisclosureZ(std::nextafter(edge, -1.0)), DisclosureZ(std::nextafter(edge, 1.0)),
                1e-14);
  }
}

TEST(Zebra, PerfectSeparationDisclosesOneOverLn4AndEqualScoresNothing) {
  const std::vector<double> low{0.0, 1.0};
  const std::vector<double> high{2.0, 3.0};
  EXPECT_NEAR(MeasureZebra(MakeLevels(high, low)).d_ece_bits, 1.0 / std::log(4.0), 1e-15);
  const Zebra none = MeasureZebra(MakeLevels(low, low));
  EXPECT_EQ(none.d_ece_bits, 0.0);
  EXPECT_EQ(none.worst_case_log10, 0.0);
  EXPECT_EQ(none.tag, '0');
}

TEST(EceProfile, OfActualScoresEqualsItsDefinition) {
  SeededRng rng(8);
  std::vector<double> tar = Draw(rng, 400, 3.0, 20.0);
  std::vector<double> non = Draw(rng, 700, -3.0, 20.0);
  const ScoreLevels data = MakeLevels(tar, non);
  const EceProfile profile = MakeEceProfile(data, FitPav(data));
  for (std::size_t i = 0; i < profile.prior_log_odds.size(); i += 10) {
    const double odds = profile.prior_log_odds[i];
    double mean_tar = 0.0;
    double mean_non = 0.0;
    for (const double l : tar) mean_tar += Softplus(-l - odds) / 400.0;
    for (const double l : non) mean_non += Softplus(l + odds) / 700.0;
    const double expected =
        (Sigmoid(odds) * mean_tar + Sigmoid(-odds) * mean_non) / std::numbers::ln2;
    EXPECT_NEAR(profile.ece_act[i], expected, 1e-12 * expected);
    EXPECT_LE(profile.ece_min[i], profile.ece_act[i]);
    EXPECT_LE(profile.ece_min[i], profile.ece_default[i] + 1e-15);
  }
}

TEST(Linkability, OfSeparatedScoresIsOneWithoutTheLossAtTheEdges) {
  const std::vector<double> tar(200, 1.0);
  const std::vector<double> non(300, 0.0);
  const Linkability linkability = MeasureLinkability(MakeLevels(tar, non));
  EXPECT_EQ(linkability.bins, 20);
  EXPECT_NEAR(linkability.d_sys, 0.5, 1e-12);
  EXPECT_NEAR(linkability.d_sys_unbiased, 1.0, 1e-12);
}

TEST(Linkability, BelowTwentyTargetsThePublishedFigureIsZeroAndOursIsNot) {
  const std::vector<double> tar{2.0, 3.0, 4.0};
  const std::vector<double> non{-1.0, 0.0, 1.0};
  const Linkability linkability = MeasureLinkability(MakeLevels(tar, non));
  EXPECT_EQ(linkability.d_sys, 0.0);
  EXPECT_NEAR(linkability.d_sys_unbiased, 1.0, 1e-12);
}

TEST(Linkability, OfSeparatedScoresIsOneForAnyNumberOfTargets) {
  for (const std::size_t n : {1U, 2U, 5U, 10U, 19U, 20U, 100U, 1000U}) {
    std::vector<double> tar, non;
    for (std::size_t i = 0; i < n; ++i) {
      tar.push_back(1.0 + 0.01 * static_cast<double>(i % 7));
      for (int k = 0; k < 3; ++k) non.push_back(-0.1 * static_cast<double>(i % 5) - k);
    }
    EXPECT_EQ(MeasureLinkability(MakeLevels(tar, non)).d_sys_unbiased, 1.0) << n;
    EXPECT_EQ(MeasureLinkability(MakeLevels(non, tar)).d_sys_unbiased, 1.0) << n;  // reversed
    // One outlier makes the bins so wide that both classes share one.
    non.push_back(-1e6);
    EXPECT_EQ(MeasureLinkability(MakeLevels(tar, non)).d_sys_unbiased, 1.0) << n;
    // One overlap, and it is no longer certain.
    tar.push_back(-2.0);
    EXPECT_LT(MeasureLinkability(MakeLevels(tar, non)).d_sys_unbiased, 1.0) << n;
  }
  // No bin has a width where at most one score is finite.
  for (const double tar : {kInf, 2.0}) {
    const std::vector<double> t(10, tar), n(10, -kInf);
    EXPECT_EQ(MeasureLinkability(MakeLevels(t, n)).d_sys_unbiased, 1.0);
  }
  const std::vector<double> t{kInf, kInf, kInf, 0.0}, n(4, 0.0);
  EXPECT_DOUBLE_EQ(MeasureLinkability(MakeLevels(t, n)).d_sys_unbiased, 0.75);
}

// Equal bins from the lowest to the highest score: one far score puts all others into one of them.
TEST(Linkability, NoOutlierHidesScoresThatAreNearlySeparated) {
  for (const std::size_t n : {12U, 25U, 200U}) {
    std::vector<double> tar, non;
    for (std::size_t i = 0; i < n; ++i) tar.push_back(20.0 + 0.01 * static_cast<double>(i));
    for (std::size_t i = 0; i < 10 * n; ++i) non.push_back(0.001 * static_cast<double>(i));
    non.push_back(tar.back() + 1.0);
    non.push_back(-1000.0);
    EXPECT_GT(MeasureLinkability(MakeLevels(tar, non)).d_sys_unbiased, 0.95) << n;
    EXPECT_GT(MeasureLinkability(MakeLevels(non, tar)).d_sys_unbiased, 0.9) << n;  // reversed
  }
}

// With LLR d·s − d²/2, D_sys is the mean of max(0, tanh(LLR/2)) over targets N(d, 1).
TEST(Linkability, OfTwoGaussiansIsTheIntegral) {
  SeededRng rng(3);
  for (const double d : {0.0, 1.0, 2.0, 3.0}) {
    double expected = 0.0;
    constexpr double kStep = 1e-3;
    for (double s = d - 9.0; s < d + 9.0; s += kStep) {
      const double density = std::exp(-0.5 * (s - d) * (s - d)) / std::sqrt(2.0 * M_PI);
      expected += kStep * density * std::max(0.0, std::tanh((d * s - 0.5 * d * d) / 2.0));
    }
    const auto tar = Draw(rng, 100000, d, 1.0), non = Draw(rng, 100000, 0.0, 1.0);
    const Linkability linkability = MeasureLinkability(MakeLevels(tar, non));
    EXPECT_NEAR(linkability.d_sys_unbiased, expected, 0.02) << d;
    EXPECT_NEAR(linkability.d_sys, expected, 0.02) << d;  // nothing lies at the edges
  }
}

TEST(Linkability, InfiniteScoresFallIntoTheEdgeBins) {
  std::vector<double> tar(100, kInf);
  std::vector<double> non(100, -kInf);
  tar.push_back(1.0);
  non.push_back(0.0);
  const Linkability linkability = MeasureLinkability(MakeLevels(tar, non));
  EXPECT_NEAR(linkability.d_sys_unbiased, 1.0, 1e-12);
}

TEST(Linkability, OfEqualScoresIsZero) {
  const std::vector<double> same(100, 2.0);
  const Linkability linkability = MeasureLinkability(MakeLevels(same, same));
  EXPECT_EQ(linkability.d_sys, 0.0);
  EXPECT_EQ(linkability.d_sys_unbiased, 0.0);
}

}  // namespace
}  // namespace sotto
