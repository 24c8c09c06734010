// Laplace, Gaussian, exponential and randomised response. Each release reports into a Budget first
// (a refused budget releases nothing), and draws from the given bits (bits.h) by the exact samplers
// of samplers.h. No parameter has a default that would spend privacy unasked.
//
// Laplace noise in doubles reveals its input through the low bits (Mironov 2012: most outputs of
// the textbook version exclude the neighbouring input with certainty). Here value and noise are
// whole multiples of a power of two, at least 2^40 of them to the scale. Rounding the value moves
// two neighbours apart by up to one unit in each coordinate; that is added to the sensitivity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/bits.h"
#include "dp/budget.h"
#include "dp/parameters.h"
#include "dp/samplers.h"

namespace sotto {

// Scales v down to L1 norm at most `bound`, rounding included; what is within stays as it is.
// Throws Error when a value is not finite.
std::vector<double> ClipL1(std::span<const double> v, double bound);

// eps-DP noise of scale sensitivity/eps on every coordinate. `l1_sensitivity` is the largest L1
// distance between the values of neighbouring inputs: the caller's proof, or ClippedSensitivity()
// of a ClipL1 bound.
class LaplaceMechanism {
 public:
  LaplaceMechanism(double eps, double l1_sensitivity, std::size_t dimension = 1);

  std::vector<double> Release(std::span<const double> values, Budget& budget,
                              BitSource& bits) const;
  // The same noise on values that are overwritten: for many releases without an allocation each.
  // After an Error some of the values have noise and some do not.
  void ReleaseInPlace(std::span<double> values, Budget& budget, BitSource& bits) const;

  double Scale() const { return grid_.Value(static_cast<Int128>(scale_units_)); }
  PrivacyEvent Event() const { return PrivacyEvent::Laplace(eps_); }

 private:
  double eps_;
  std::size_t dimension_;
  NoiseGrid grid_;
  std::uint64_t scale_units_;
};

// (eps, delta)-DP by analytic calibration, or with a noise of one's own; L2 sensitivity.
//
// The discrete Gaussian on this grid is the rounded continuous one up to a factor e^{±η} with η
// below 2^−70·(1 + (z/σ)²) in every coordinate, and rounding is post-processing: four grid units
// more sensitivity (2^−38 of the noise) pay for it in any dimension below 2^20.
class GaussianMechanism {
 public:
  static GaussianMechanism ForEpsilon(double eps, double delta, double l2_sensitivity,
                                      std::size_t dimension = 1);
  // noise = sigma / sensitivity.
  static GaussianMechanism ForNoise(double noise, double l2_sensitivity, std::size_t dimension = 1);

  std::vector<double> Release(std::span<const double> values, Budget& budget,
                              BitSource& bits) const;

  double Sigma() const { return grid_.Value(static_cast<Int128>(sigma_units_)); }
  PrivacyEvent Event() const { return PrivacyEvent::Gaussian(noise_); }

 private:
  GaussianMechanism(double noise, double l2_sensitivity, std::size_t dimension);
  double noise_;
  std::size_t dimension_;
  NoiseGrid grid_;
  std::uint64_t sigma_units_;
};

// Chooses an index with Pr ∝ exp(eps·utility/(2·sensitivity)) (McSherry & Talwar 2007). Utilities
// are rounded to a 2^−40 part of their scale, and the factor is reduced to pay for it.
class ExponentialMechanism {
 public:
  ExponentialMechanism(double eps, double utility_sensitivity);

  std::size_t Release(std::span<const double> utilities, Budget& budget, BitSource& bits) const;

 private:
  double eps_;
  double factor_;  // utility to exponent units of 2^−40
};

// An index with Pr ∝ exp(−cost/2^shift), exactly: uniform proposals, each kept with that
// probability relative to the cheapest. shift ≤ 60. For mechanisms that calibrate by themselves.
std::size_t SampleByCost(std::span<const std::uint64_t> costs, int shift, BitSource& bits);

// Tells one of k categories truthfully with probability e^eps/(e^eps + k − 1), else one of the
// others, each alike (Warner 1965; Kairouz et al. 2016). k = 2 is the binary form. For one answer
// of one person: local privacy.
class RandomisedResponse {
 public:
  RandomisedResponse(double eps, std::size_t categories);

  std::size_t Release(std::size_t truth, Budget& budget, BitSource& bits) const;
  double KeepProbability() const;
  // Unbiased shares of the categories from counts of released answers; may be negative.
  std::vector<double> EstimateShares(std::span<const std::uint64_t> counts) const;
  PrivacyEvent Event() const;

 private:
  double eps_;
  std::uint64_t eps_units_;  // in 2^−40, rounded down
  std::size_t categories_;
};

}  // namespace sotto
