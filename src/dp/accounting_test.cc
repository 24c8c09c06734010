// The accountants against published and golden values, and against each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"
#include "dp/allows.h"
#include "dp/audit.h"
#include "dp/budget.h"
#include "dp/double_fft.h"
#include "dp/gaussian.h"
#include "dp/loss_model.h"
#include "dp/normal.h"
#include "dp/parameters.h"
#include "dp/pld.h"
#include "dp/rdp.h"

namespace sotto {
namespace {

using nlohmann::json;

json Golden() {
  return json::parse(
      ReadTextFile(testing::SharedFolder() / "data/golden/dp_accounting/expected.json"));
}

PrivacyEvent Steps(double q, double noise, std::uint64_t steps) {
  return PrivacyEvent::SubsampledGaussian(q, noise, steps);
}

RdpEpsilon Rdp(const PrivacyEvent& event, double delta) {
  const auto orders = DefaultRdpOrders();
  return RdpCompose({&event, 1}, delta, orders);
}

PldEpsilon Pld(const PrivacyEvent& event, double delta) { return PldCompose({&event, 1}, delta); }

TEST(Golden, RdpEqualsThirtyDigitQuadrature) {
  SOTTO_NEEDS_SHARED("data/golden/dp_accounting");
  const json golden = Golden();
  EXPECT_EQ(golden["parameters"]["rdp_orders"].get<std::vector<double>>(), DefaultRdpOrders());
  int compared = 0;
  for (const json& row : golden["values"]["rdp"]) {
    const PrivacyEvent event = Steps(row["q"], row["sigma"], row["steps"]);
    const RdpEpsilon found = Rdp(event, row["delta"]);
    const double expected = row["epsilon"]["mpmath quadrature over the same orders"];
    EXPECT_NEAR(found.eps / expected, 1.0, 1e-6) << row["q"] << ' ' << row["sigma"];
    EXPECT_EQ(found.order, row["optimal_order"]["mpmath"].get<double>());
    for (const auto& [order, values] : row["rdp_total"].items()) {
      const double total =
          RdpOfEvent(event, std::stod(order)) * static_cast<double>(row["steps"].get<int>());
      EXPECT_NEAR(total / values["mpmath 30 digits"].get<double>(), 1.0, 1e-9) << order;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(Golden, AnalyticGaussianEqualsFortyDigits) {
  SOTTO_NEEDS_SHARED("data/golden/dp_accounting");
  const json golden = Golden();
  for (const json& row : golden["values"]["analytic_gaussian_sigma"]) {
    EXPECT_NEAR(1.0 / GaussianMu(row["epsilon"], row["delta"]) /
                    row["sigma"]["mpmath 40 digits"].get<double>(),
                1.0, 1e-10);
  }
  for (const json& row : golden["values"]["analytic_gaussian_epsilon"]) {
    EXPECT_NEAR(GaussianEpsilon(1.0 / row["sigma"].get<double>(), row["delta"]) /
                    row["epsilon"]["mpmath 40 digits"].get<double>(),
                1.0, 1e-10);
  }
}

TEST(Golden, PldLiesInTheStatedBracketsAndIsNarrow) {
  SOTTO_NEEDS_SHARED("data/golden/dp_accounting");
  const json golden = Golden();
  for (const json& row : golden["values"]["pld"]) {
    const PldEpsilon found = Pld(Steps(row["q"], row["sigma"], row["steps"]), row["delta"]);
    const json& prv = row["epsilon"]["microsoft PRVAccountant (eps_error .01)"];
    EXPECT_LE(found.eps, prv["up"].get<double>());
    EXPECT_GE(found.eps_lower, prv["low"].get<double>());
    EXPECT_GE(found.eps, row["epsilon"]["google PLD optimistic"].get<double>());
    EXPECT_LE(found.eps_lower, row["epsilon"]["google PLD pessimistic"].get<double>());
    EXPECT_LE(found.eps_lower, found.eps);
    EXPECT_LT(found.eps - found.eps_lower, 3e-4);
    if (row["epsilon"].contains("exact Gaussian composition (mpmath)")) {
      const double exact = row["epsilon"]["exact Gaussian composition (mpmath)"];
      EXPECT_LE(found.eps_lower, exact);
      EXPECT_GE(found.eps, exact);
    }
  }
  for (const json& row : golden["values"]["laplace"]) {
    PrivacyEvent event =
        PrivacyEvent::Laplace(1.0 / row["laplace_scale_over_sensitivity"].get<double>());
    event.count = row["compositions"];
    const PldEpsilon found = Pld(event, row["delta"]);
    EXPECT_NEAR(found.eps, row["epsilon"]["google PLD pessimistic"].get<double>(), 1e-5);
    EXPECT_NEAR(found.eps_lower, found.eps, 1e-4);
    EXPECT_NEAR(Rdp(event, row["delta"]).eps, row["epsilon"]["google RDP"].get<double>(), 1e-6);
  }
}

TEST(MethodCard, ReferenceValuesOfDpSgd) {
  const PrivacyEvent mnist = Steps(256.0 / 60000.0, 1.1, 14062);
  EXPECT_NEAR(Rdp(mnist, 1e-5).eps, 2.596556, 2e-6);
  // By Mironov's older conversion, looser, as older papers have it.
  double classic = 1e9;
  for (const double order : DefaultRdpOrders()) {
    const double rdp = 14062.0 * RdpOfEvent(mnist, order);
    classic = std::min(classic, rdp - std::log(1e-5) / (order - 1.0));
  }
  EXPECT_NEAR(classic, 3.008272, 2e-6);
  const PldEpsilon pld = Pld(mnist, 1e-5);
  EXPECT_NEAR(pld.eps, 2.3816, 1e-4);
  EXPECT_GE(pld.eps_lower, 2.3715);
  EXPECT_LE(pld.eps, 2.3917);
  const PrivacyEvent shorter = Steps(256.0 / 60000.0, 1.3, 3515);
  EXPECT_NEAR(Rdp(shorter, 1e-5).eps, 0.954430, 2e-6);
  EXPECT_NEAR(Pld(shorter, 1e-5).eps, 0.864459, 1e-4);
  // A well-known accountant prints 5.190986 here: it drops a sign at fractional orders.
  const PrivacyEvent quiet = Steps(64.0 / 120000.0, 0.5, 5625);
  EXPECT_NEAR(Rdp(quiet, 1e-6).eps, 5.190787, 2e-6);
  EXPECT_NEAR(Pld(quiet, 1e-6).eps, 4.126931, 1e-4);
  EXPECT_NEAR(1.0 / GaussianMu(1.0, 1e-5), 3.730632, 1e-6);
}

// Training that adds a record K times and one draw of noise: what is claimed, and the truth.
TEST(MethodCard, AccumulatedParticipationsAgainstTheirClaim) {
  EXPECT_NEAR(GaussianEpsilon(std::sqrt(100.0) / 10.0, 1e-5), 4.38, 0.005);
  EXPECT_NEAR(GaussianEpsilon(100.0 / 10.0, 1e-5), 91.8, 0.05);
  const double q = 256.0 / 60000.0;
  EXPECT_NEAR(GaussianEpsilon(q * 14062 / 1.1, 1e-5), 1719.0, 1.0);
  EXPECT_NEAR(RepeatedParticipationEpsilon(q, 14062, 1.1, 1e-5), 3794.0, 1.0);
  EXPECT_NEAR(RepeatedParticipationEpsilon(1.0, 100, 10.0, 1e-5), GaussianEpsilon(10.0, 1e-5),
              1e-6);
}

TEST(MethodCard, OneRunAudits) {
  const auto eps = [](std::uint64_t m, std::uint64_t r, std::uint64_t v) {
    return OneRunEpsilon({m, r, v, 1e-5}, 0.05);
  };
  EXPECT_NEAR(eps(1000, 1000, 600), 0.297227, 1e-5);
  EXPECT_NEAR(eps(1000, 1000, 750), 0.976367, 1e-5);
  EXPECT_NEAR(eps(1000, 1000, 900), 2.020646, 1e-5);
  EXPECT_NEAR(eps(1000, 100, 95), 2.165176, 1e-5);
  EXPECT_NEAR(eps(5000, 500, 475), 2.590047, 1e-5);
  EXPECT_EQ(eps(1000, 1000, 500), 0.0);
  EXPECT_THROW(eps(10, 20, 5), Error);
}

TEST(Audit, ManyRunsStayBelowTheTruthAndComeNearIt) {
  // Randomised response with eps = 1 over 100,000 runs each: hits e/(1+e), alarms 1/(1+e).
  const double keep = 1.0 / (1.0 + std::exp(-1.0));
  const auto hits = static_cast<std::uint64_t>(std::lround(100000 * keep));
  const double eps = ManyRunEpsilon({100000, hits, 100000, 100000 - hits, 0.0}, 0.05);
  EXPECT_LT(eps, 1.0);
  EXPECT_GT(eps, 0.96);
  EXPECT_EQ(ManyRunEpsilon({100, 50, 100, 50, 0.0}, 0.05), 0.0);
  // Nothing but hits and no alarm in n runs: ln((1 − d)/d) with d = 1 − (error/2)^{1/n}.
  const double d = 1.0 - std::pow(0.025, 1.0 / 1000.0);
  EXPECT_NEAR(ManyRunEpsilon({1000, 1000, 1000, 0, 0.0}, 0.05), std::log((1.0 - d) / d), 1e-9);
}

TEST(Rdp, FractionalOrdersJoinTheWholeOnes) {
  for (const double q : {1e-6, 0.004, 0.3}) {
    for (const double z : {0.5, 1.1, 6.0}) {
      for (const double order : {2.0, 5.0, 9.0}) {
        const double whole = RdpOfEvent(Steps(q, z, 1), order);
        const double below = RdpOfEvent(Steps(q, z, 1), order - 1e-7);
        const double above = RdpOfEvent(Steps(q, z, 1), order + 1e-7);
        EXPECT_NEAR(0.5 * (below + above) / whole, 1.0, 1e-8) << q << ' ' << z << ' ' << order;
        EXPECT_LT(below, above);
      }
    }
  }
}

TEST(Pld, GaussianCompositionIsExactAtAnyDelta) {
  for (const double delta : {1e-2, 1e-5, 1e-15, 1e-40}) {
    const PldEpsilon found = Pld(Steps(1.0, 4.0, 10), delta);
    const double exact = GaussianEpsilon(std::sqrt(10.0) / 4.0, delta);
    EXPECT_LE(found.eps_lower, exact) << delta;
    EXPECT_GE(found.eps, exact) << delta;
    EXPECT_LT(found.eps - found.eps_lower, 3e-4) << delta;
  }
}

// Brute force: the delta of k-fold randomised response is a binomial sum.
TEST(Pld, PureCompositionEqualsTheBinomialSum) {
  const double eps = 0.3;
  const int k = 40;
  PrivacyEvent event = PrivacyEvent::Pure(eps, "randomised response");
  event.count = static_cast<std::uint64_t>(k);
  const double keep = 1.0 / (1.0 + std::exp(-eps));
  for (const double asked : {0.6, 2.1, 6.0}) {
    double exact = 0.0;
    for (int i = 0; i <= k; ++i) {
      const double loss = eps * (2 * i - k);
      if (loss > asked) {
        exact += std::exp(LogBinomialPmf(static_cast<std::uint64_t>(i),
                                         static_cast<std::uint64_t>(k), keep)) *
                 -std::expm1(asked - loss);
      }
    }
    const PldEpsilon found = Pld(event, exact);
    EXPECT_LE(found.eps_lower, asked + 1e-6);
    EXPECT_GE(found.eps, asked - 1e-6);
    EXPECT_LT(found.eps - found.eps_lower, 1e-4);
  }
}

TEST(Pld, ApproximateEventsAddTheirDelta) {
  PrivacyEvent event = PrivacyEvent::Approximate(0.1, 1e-6, "unknown");
  event.count = 5;
  EXPECT_TRUE(std::isinf(Pld(event, 4e-6).eps));
  EXPECT_LE(Pld(event, 1e-4).eps, 0.5 + 1e-6);
}

TEST(Pld, MixedCompositionLiesBelowTheSumOfItsParts) {
  const std::vector<PrivacyEvent> events = {Steps(0.01, 1.0, 200), PrivacyEvent::Laplace(0.5),
                                            PrivacyEvent::Pure(0.2, "rr")};
  const PldEpsilon all = PldCompose(events, 1e-5);
  EXPECT_LE(all.eps_lower, all.eps);
  EXPECT_LT(all.eps, Pld(events[0], 1e-5).eps + 0.7);
  EXPECT_GT(all.eps, Pld(events[0], 1e-5).eps);
}

// Almost every use loses ln(1 − q), far less than a step of the grid, and 20,000 of them add up.
TEST(Pld, BoundsStayTogetherWhereSamplingIsRare) {
  PldOptions coarse;
  coarse.tolerance = 1e-3;
  coarse.max_points = std::size_t{1} << 18;
  const PrivacyEvent event = Steps(1e-4, 0.3, 20000);
  const PldEpsilon found = PldCompose({&event, 1}, 1e-6, coarse);
  EXPECT_LE(found.eps_lower, found.eps);
  EXPECT_LT(found.eps - found.eps_lower, 0.05);
  EXPECT_LT(found.eps, Rdp(event, 1e-6).eps);
}

TEST(LossModel, GridsKeepTheMassesAndBoundTheLossFromBothSides) {
  for (const double q : {0.004, 0.3, 1.0}) {
    for (const LossModel& model : LossModels(Steps(q, 1.1, 1), 1e-18)) {
      for (const bool up : {true, false}) {
        const LossGrid grid = up ? DiscretiseUp(model, 1e-3) : DiscretiseDown(model, 1e-3);
        double p = grid.infinite;
        double q_mass = 0.0;
        for (std::size_t i = 0; i < grid.mass.size(); ++i) {
          p += grid.mass[i];
          const double loss =
              static_cast<double>(grid.first + static_cast<std::int64_t>(i)) * grid.step;
          q_mass += grid.mass[i] * std::exp(-loss);
        }
        EXPECT_NEAR(p, 1.0, 1e-11);
        // The last bucket from below is rounded down, which can only add to Q.
        EXPECT_GE(q_mass, 1.0 - 1e-9);
        EXPECT_LE(q_mass, 1.0 + (up ? 1e-9 : 1e-3));
      }
    }
  }
}

TEST(DoubleFft, InverseUndoesForwardAndMatchesTheSum) {
  const std::size_t n = 64;
  const DoubleFft fft(n);
  SeededRng rng(4);
  std::vector<std::complex<double>> x(n);
  for (auto& value : x) value = {rng.Gaussian(), rng.Gaussian()};
  auto y = x;
  fft.Forward(y);
  for (const std::size_t k : {0UL, 1UL, 17UL, 63UL}) {
    std::complex<double> sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[i] * std::polar(1.0, -2.0 * M_PI * static_cast<double>(i * k) / 64.0);
    }
    EXPECT_LT(std::abs(sum - y[k]), 1e-12);
  }
  fft.Inverse(y);
  for (std::size_t i = 0; i < n; ++i) EXPECT_LT(std::abs(y[i] / 64.0 - x[i]), 1e-14);
}

TEST(Budget, CompositionRulesAgreeOnWhatTheyMust) {
  Budget budget;
  for (int i = 0; i < 100; ++i) budget.Spend(PrivacyEvent::Laplace(0.1));
  ASSERT_EQ(budget.Events().size(), 1U);
  EXPECT_NEAR(budget.SequentialEpsilon(0.0), 10.0, 1e-12);
  const double advanced = budget.AdvancedEpsilon(1e-6);
  const double renyi = budget.RenyiEpsilon(1e-6).eps;
  const PldEpsilon loss = budget.LossEpsilon(1e-6);
  EXPECT_LT(advanced, 10.0);
  EXPECT_LT(renyi, advanced);
  EXPECT_LT(loss.eps, renyi);
  EXPECT_NEAR(*budget.Rho(), 0.5, 1e-12);
  EXPECT_GE(*budget.ConcentratedEpsilon(1e-6), loss.eps);
  // zCDP of a Gaussian is the Gaussian's own: never below the exact value.
  Budget gaussian;
  gaussian.Spend(PrivacyEvent::Gaussian(2.0));
  EXPECT_GE(*gaussian.ConcentratedEpsilon(1e-5), GaussianEpsilon(0.5, 1e-5));
  EXPECT_LE(*gaussian.ConcentratedEpsilon(1e-5), gaussian.RenyiEpsilon(1e-5).eps + 1e-5);
}

TEST(Budget, ALimitRefusesBeforeAnythingIsSpent) {
  Budget budget = Budget::WithLimit(1.0, 0.0);
  budget.Spend(PrivacyEvent::Pure(0.6, "rr"));
  EXPECT_THROW(budget.Spend(PrivacyEvent::Pure(0.6, "rr")), Error);
  EXPECT_THROW(budget.Spend(PrivacyEvent::Gaussian(100.0)), Error);  // has no pure epsilon
  EXPECT_NEAR(budget.SequentialEpsilon(0.0), 0.6, 1e-12);
  budget.Spend(PrivacyEvent::Pure(0.4, "rr"));
}

TEST(Budget, CalibratedNoiseMeetsItsEpsilonAndHardlyMore) {
  const double noise = CalibrateNoise(0.05, 50, 2.0, 1e-5);
  EXPECT_LE(Pld(Steps(0.05, noise, 50), 1e-5).eps, 2.0 + 1e-4);
  EXPECT_GT(Pld(Steps(0.05, noise * 0.999, 50), 1e-5).eps, 2.0);
  EXPECT_GT(CalibrateNoise(0.05, 50, 2.0, 1e-5, true), noise);
}

TEST(Allows, FormulasAndTheirIntegrals) {
  EXPECT_NEAR(EerFloor(0.0, 0.0), 0.5, 1e-15);
  for (const double eps : {0.1, 1.0, 4.0}) {
    for (const double delta : {0.0, 1e-3}) {
      const double eer = EerFloor(eps, delta);
      EXPECT_NEAR(TradeOff(eps, delta, eer), eer, 1e-12);  // the curve's fixed point
      double area = 0.0;
      const int n = 200000;
      for (int i = 0; i < n; ++i) area += TradeOff(eps, delta, (i + 0.5) / n) / n;
      EXPECT_NEAR(AucCeiling(eps, delta), 1.0 - area, 1e-6);
    }
  }
  for (const double mu : {0.5, 2.0}) {
    const auto curve = [mu](double alarm) { return NormalCdf(-NormalQuantile(alarm) - mu); };
    EXPECT_NEAR(curve(GdpEerFloor(mu)), GdpEerFloor(mu), 1e-12);
    double area = 0.0;
    const int n = 20000;
    for (int i = 0; i < n; ++i) area += curve((i + 0.5) / n) / n;
    EXPECT_NEAR(GdpAucCeiling(mu), 1.0 - area, 1e-4);
  }
  EXPECT_NEAR(TopOneCeiling(1.0, 0.0, 2), 1.0 - EerFloor(1.0, 0.0), 1e-12);
  EXPECT_NEAR(TopOneCeiling(0.0, 0.0, 20), 0.05, 1e-12);
  EXPECT_TRUE(CompositionMu(1.0, 2.0, 4).exact);
  EXPECT_NEAR(CompositionMu(1.0, 2.0, 4).mu, 1.0, 1e-12);
  EXPECT_FALSE(CompositionMu(0.01, 1.0, 100).exact);
}

TEST(Normal, TailsAndBinomialBounds) {
  EXPECT_NEAR(LogNormalCdf(-30.001) - LogNormalCdf(-29.999), -0.06003, 2e-4);
  EXPECT_NEAR(LogNormalCdf(-40.0), -804.608442013754, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(1e-20), -9.262340089798408, 1e-10);
  EXPECT_NEAR(BinomialUpperTail(3, 5, 0.4), 0.31744, 1e-12);
  EXPECT_NEAR(ClopperPearsonHigh(0, 100, 0.05), 1.0 - std::pow(0.05, 0.01), 1e-12);
}

TEST(Parameters, OnlyAWeakEpsilonIsWarnedAbout) {
  EXPECT_TRUE(EpsilonWarning(20.0).empty());
  EXPECT_NE(EpsilonWarning(160000.0).find("next to nothing"), std::string::npos);
}

// Generous limits: the figures belong to the bench, a sanitiser or a busy machine is slower.
TEST(SpeedSlow, AccountingOfDpSgdTakesSeconds) {
  const auto start = std::chrono::steady_clock::now();
  Rdp(Steps(256.0 / 60000.0, 1.1, 14062), 1e-5);
  const auto middle = std::chrono::steady_clock::now();
  Pld(Steps(256.0 / 60000.0, 1.1, 14062), 1e-5);
  const auto end = std::chrono::steady_clock::now();
  EXPECT_LT(std::chrono::duration<double>(middle - start).count(), 2.0);
  EXPECT_LT(std::chrono::duration<double>(end - middle).count(), 30.0);
}

}  // namespace
}  // namespace sotto
