#include "assess/legal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

TEST(SingleOut, UninformativePredicateSinglesOutWithProbabilityOfChance) {
  for (const std::size_t n : {2U, 5U, 20U, 100U}) {
    const auto count = static_cast<double>(n);
    const std::vector<double> others(2 * n, 1.0 / count);
    EXPECT_NEAR(SingleOutProbability(1.0 / count, others, n - 1),
                std::pow(1.0 - 1.0 / count, count - 1.0), 1e-12);
  }
  EXPECT_NEAR(SinglingOutChance(20), 0.377, 5e-4);
  EXPECT_NEAR(SinglingOutChance(1000000), std::exp(-1.0), 1e-6);
}

TEST(SingleOut, EqualsTheMeanOverAllDraws) {
  const double own = 0.7;
  const std::vector<double> others = {0.1, 0.5, 0.0, 1.0, 0.3};
  for (std::size_t drawn = 1; drawn <= others.size(); ++drawn) {
    double sum = 0.0;
    int sets = 0;
    for (unsigned mask = 0; mask < 32; ++mask) {
      if (static_cast<std::size_t>(__builtin_popcount(mask)) != drawn) continue;
      std::vector<double> fires = {own};
      for (std::size_t t = 0; t < 5; ++t) {
        if ((mask >> t & 1U) != 0) fires.push_back(others[t]);
      }
      for (std::size_t a = 0; a < fires.size(); ++a) {
        double product = fires[a];
        for (std::size_t b = 0; b < fires.size(); ++b) product *= a == b ? 1.0 : 1.0 - fires[b];
        sum += product;
      }
      ++sets;
    }
    EXPECT_NEAR(SingleOutProbability(own, others, drawn), sum / sets, 1e-13);
  }
}

TEST(Link, IsTheHypergeometricProbabilityThatNobodyHigherIsDrawn) {
  // n − 1 = 9 rivals, 3 above: C(6, 4)/C(9, 4) = 15/126.
  EXPECT_NEAR(LinkProbability(9, 3, 0, 4), 15.0 / 126.0, 1e-12);
  EXPECT_NEAR(LinkProbability(9, 0, 0, 9), 1.0, 1e-12);
  EXPECT_EQ(LinkProbability(9, 6, 0, 4), 0.0);
}

TEST(Link, ConstantScoreLinksByChance) {
  for (const std::size_t n : {2U, 5U, 10U}) {
    EXPECT_NEAR(LinkProbability(9, 0, 9, n - 1), 1.0 / static_cast<double>(n), 1e-12);
  }
}

// Every test utterance against every enrolment; targets score `gap` higher.
Trials Simulate(std::size_t speakers, std::size_t utterances, double gap, std::uint64_t seed) {
  SeededRng rng(seed);
  std::string text = "enrol\ttest\ttest_spk\tlabel\tscore\n";
  for (std::size_t s = 0; s < speakers; ++s) {
    for (std::size_t u = 0; u < utterances; ++u) {
      for (std::size_t e = 0; e < speakers; ++e) {
        text += fmt::format("s{}\tu{}-{}\ts{}\t{}\t{}\n", e, s, u, s,
                            e == s ? "target" : "nontarget", rng.Gaussian() + (e == s ? gap : 0.0));
      }
    }
  }
  return ParseTrialTsv(text, "simulated");
}

TEST(Legal, ScoresWithoutInformationStayAtChance) {
  const LegalMeter meter(Simulate(40, 40, 0.0, 1));
  const LegalResult result = meter.Measure({{5, 20}, {1}});
  ASSERT_EQ(result.linkability.size(), 2U);
  ASSERT_EQ(result.singling_out.size(), 2U);
  for (const LegalPoint& point : result.linkability) {
    EXPECT_NEAR(point.value, point.chance, 0.03) << point.n;
  }
  for (const LegalPoint& point : result.singling_out) {
    EXPECT_NEAR(point.value, point.chance, 0.03) << point.n;
  }
  EXPECT_EQ(result.linkability[0].n_tried, 1600U);
  EXPECT_EQ(result.singling_out[0].n_tried, 80U);
}

TEST(Legal, PerfectScoresLinkAndSingleOutEverybody) {
  const LegalResult result = LegalMeter(Simulate(12, 6, 100.0, 2)).Measure({{2, 12}, {1, 3}});
  ASSERT_EQ(result.linkability.size(), 4U);
  for (const LegalPoint& point : result.linkability) EXPECT_DOUBLE_EQ(point.value, 1.0);
  for (const LegalPoint& point : result.singling_out) EXPECT_NEAR(point.value, 1.0, 1e-12);
}

TEST(Legal, MoreUtterancesAndFewerRivalsMakeLinkingEasier) {
  const LegalResult result = LegalMeter(Simulate(20, 12, 1.0, 3)).Measure({{5, 20}, {1, 4}});
  const auto value = [&](std::size_t n, std::size_t l) {
    for (const LegalPoint& point : result.linkability) {
      if (point.n == n && point.l == l) return point.value;
    }
    return -1.0;
  };
  EXPECT_GT(value(5, 1), value(20, 1) + 0.05);
  EXPECT_GT(value(20, 4), value(20, 1) + 0.05);
}

TEST(Legal, LeavesOutWhatTheDataCannotAnswer) {
  const LegalResult result = LegalMeter(Simulate(5, 3, 1.0, 4)).Measure({{5, 6}, {3, 4}});
  ASSERT_EQ(result.linkability.size(), 1U);  // N = 6 and L = 4 are too many
  EXPECT_EQ(result.linkability[0].n, 5U);
  EXPECT_TRUE(result.singling_out.empty());  // one conversation each: nothing to calibrate on
}

TEST(Legal, FindsTestSpeakersFromTargetTrials) {
  const Trials trials = ParseTrialTsv(
      "enrol\ttest\tlabel\tscore\n"
      "a\tx\ttarget\t2\nb\tx\tnontarget\t1\na\ty\tnontarget\t3\nb\ty\ttarget\t2\n",
      "t");
  const LegalResult result = LegalMeter(trials).Measure({{2}, {1}});
  ASSERT_EQ(result.linkability.size(), 1U);
  EXPECT_DOUBLE_EQ(result.linkability[0].value, 0.5);
}

TEST(Legal, RefusesTrialsWithoutIdsOrWithoutACommonSpeaker) {
  EXPECT_THROW(LegalMeter(ParseTrialTsv("label\tscore\ntarget\t1\nnontarget\t0\n", "t")), Error);
  EXPECT_THROW(LegalMeter(ParseTrialTsv("enrol\ttest\ttest_spk\tlabel\tscore\n"
                                        "a\tx\tz\ttarget\t1\na\ty\tw\tnontarget\t0\n",
                                        "t")),
               Error);
  EXPECT_THROW(LegalMeter(Simulate(3, 2, 0, 1)).Measure({{1}, {1}}), Error);
}

}  // namespace
}  // namespace sotto
