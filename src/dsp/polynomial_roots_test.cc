#include "dsp/polynomial_roots.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "dsp/lpc.h"

namespace sotto {
namespace {

std::vector<double> Expand(const RealPolynomialRoots& roots) {
  std::vector<double> a = {1.0};
  const auto multiply = [&a](const std::vector<double>& factor) {
    std::vector<double> product(a.size() + factor.size() - 1, 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < factor.size(); ++j) product[i + j] += a[i] * factor[j];
    }
    a = product;
  };
  for (const double r : roots.reals) multiply({1.0, -r});
  // Far-apart roots first: multiplying neighbours in order would lose digits at degree 60.
  const std::size_t n = roots.pairs.size();
  for (std::size_t start = 0; start < 7; ++start) {
    for (std::size_t i = start; i < n; i += 7) {
      multiply({1.0, -2.0 * roots.pairs[i].real(), std::norm(roots.pairs[i])});
    }
  }
  return a;
}

std::vector<double> RandomLpc(SeededRng& rng, std::size_t order, std::vector<double>& state) {
  // A slowly changing noise frame: what consecutive speech frames look like to the tracker.
  for (double& x : state) x = 0.95 * x + 0.3 * rng.Gaussian();
  std::vector<double> coloured(state);
  for (std::size_t i = 1; i < coloured.size(); ++i) coloured[i] += 0.9 * coloured[i - 1];
  std::vector<double> r(order + 1);
  Autocorrelate(coloured, r);
  return LevinsonDurbin(r).a;
}

class RootTrackerDegree : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RootTrackerDegree, AgreesWithTheCompanionMatrix) {
  const std::size_t order = GetParam();
  SeededRng rng(order);
  std::vector<double> state(8 * order + 40);
  RootTracker tracker;
  const auto by_angle = [](const std::complex<double>& a, const std::complex<double>& b) {
    return std::arg(a) < std::arg(b);
  };
  for (int frame = 0; frame < 300; ++frame) {
    const auto a = RandomLpc(rng, order, state);
    auto fast = tracker.Find(a);
    auto slow = CompanionRoots(a);
    ASSERT_EQ(fast.pairs.size(), slow.pairs.size());
    std::sort(fast.pairs.begin(), fast.pairs.end(), by_angle);
    std::sort(slow.pairs.begin(), slow.pairs.end(), by_angle);
    for (std::size_t i = 0; i < fast.pairs.size(); ++i) {
      EXPECT_LT(std::abs(fast.pairs[i] - slow.pairs[i]), 1e-8);
    }
    const auto expanded = Expand(fast);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(expanded[i], a[i], 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, RootTrackerDegree, ::testing::Values(1, 2, 3, 10, 20, 28, 60));

TEST(RootTracker, FollowsAPairThatBecomesTwoRealRootsAndBack) {
  RootTracker tracker;
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(tracker.Find(std::vector<double>{1.0, -1.0, 0.26}).pairs.size(), 1U);
    auto roots = tracker.Find(std::vector<double>{1.0, -1.0, 0.24});  // 0.4 and 0.6
    ASSERT_EQ(roots.reals.size(), 2U);
    std::sort(roots.reals.begin(), roots.reals.end());
    EXPECT_NEAR(roots.reals[0], 0.4, 1e-12);
    EXPECT_NEAR(roots.reals[1], 0.6, 1e-12);
  }
}

TEST(RootTracker, SurvivesMultipleRoots) {
  RootTracker tracker;
  const RealPolynomialRoots wanted{{{0.3, 0.4}, {0.3, 0.4}}, {0.5, 0.5, -0.2}};
  const auto a = Expand(wanted);
  const auto expanded = Expand(tracker.Find(a));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(expanded[i], a[i], 1e-6);
}

}  // namespace
}  // namespace sotto
