#include "dsp/lpc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

std::vector<double> Noise(std::size_t n, std::uint64_t seed) {
  SeededRng rng(seed);
  std::vector<double> x(n);
  for (double& v : x) v = rng.Gaussian();
  return x;
}

TEST(Autocorrelate, AgreesWithThePlainSum) {
  for (const std::size_t n : {1U, 5U, 23U, 160U, 320U, 961U}) {
    const auto x = Noise(n, n);
    std::vector<double> r(22);
    Autocorrelate(x, r);
    for (std::size_t k = 0; k < r.size(); ++k) {
      double sum = 0.0;
      for (std::size_t i = 0; i + k < n; ++i) sum += x[i] * x[i + k];
      EXPECT_NEAR(r[k], sum, 1e-10) << n << " " << k;
    }
  }
}

TEST(LevinsonDurbin, RecoversAnAutoregressiveProcess) {
  const std::vector<double> truth = {1.0, -1.2, 0.8, -0.3};
  const auto excitation = Noise(200000, 1);
  std::vector<double> x(excitation.size()), r(4);
  FilterAllPole(truth, excitation, x);
  Autocorrelate(x, r);
  const auto lpc = LevinsonDurbin(r);
  for (std::size_t k = 0; k < truth.size(); ++k) EXPECT_NEAR(lpc.a[k], truth[k], 0.01);
  EXPECT_NEAR(lpc.error_energy / static_cast<double>(x.size()), 1.0, 0.02);
}

TEST(LevinsonDurbin, RefusesSilence) {
  EXPECT_THROW(LevinsonDurbin(std::vector<double>(5, 0.0)), Error);
}

TEST(Filters, AllPoleUndoesFir) {
  for (const std::size_t n : {1U, 3U, 21U, 320U, 883U}) {
    const auto x = Noise(n, 7 * n);
    const std::vector<double> a = {1.0, -1.2, 0.8, -0.3, 0.1, 0.05, -0.2};
    std::vector<double> e(n), y(n);
    FilterFir(a, x, e);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < a.size() && k <= i; ++k) sum += a[k] * x[i - k];
      EXPECT_NEAR(e[i], sum, 1e-12);
    }
    FilterAllPole(a, e, y);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], x[i], 1e-9);
    FilterAllPole(a, e, e);  // in place
    EXPECT_EQ(e, y);
  }
}

}  // namespace
}  // namespace sotto
