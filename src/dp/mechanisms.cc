#include "dp/mechanisms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "dp/gaussian.h"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A whole number that is certainly not below x.
std::uint64_t CeilUnits(double x) {
  const double up = std::ceil(std::nextafter(x, kInfinity));
  if (!(up < 0x1p46)) throw Error(fmt::format("noise of {} grid units is out of range", up));
  return static_cast<std::uint64_t>(std::max(up, 1.0));
}

void CheckDimension(std::size_t expected, std::size_t found) {
  if (expected != found) {
    throw Error(fmt::format("{} values for a mechanism of dimension {}", found, expected));
  }
}

template <typename Draw>
void AddNoise(std::span<double> values, const NoiseGrid& grid, const Draw& draw) {
  for (double& value : values) value = grid.Value(grid.Round(value) + draw());
}

}  // namespace

std::vector<double> ClipL1(std::span<const double> v, double bound) {
  CheckSensitivity(bound);
  double largest = 0.0;
  for (const double value : v) {
    if (!std::isfinite(value)) throw Error("clipping: a value is not finite");
    largest = std::max(largest, std::abs(value));
  }
  // The norm of v/largest cannot overflow; 1e-12 covers the rounding of all operations here.
  double norm = 0.0;
  for (const double value : v) norm += largest > 0.0 ? std::abs(value / largest) : 0.0;
  const double length = norm * (1.0 + 1e-12);
  std::vector<double> clipped(v.begin(), v.end());
  if (length * largest <= bound) return clipped;
  for (double& value : clipped) value = value / largest * (bound / length * (1.0 - 1e-12));
  return clipped;
}

LaplaceMechanism::LaplaceMechanism(double eps, double l1_sensitivity, std::size_t dimension)
    : eps_(eps), dimension_(dimension) {
  CheckEpsilon(eps);
  CheckSensitivity(l1_sensitivity);
  grid_ = NoiseGrid::ForScale(l1_sensitivity / eps);
  const double units = std::floor(grid_.Units(l1_sensitivity)) + static_cast<double>(dimension);
  scale_units_ = CeilUnits(units / eps);
}

std::vector<double> LaplaceMechanism::Release(std::span<const double> values, Budget& budget,
                                              BitSource& bits) const {
  std::vector<double> released(values.begin(), values.end());
  ReleaseInPlace(released, budget, bits);
  return released;
}

void LaplaceMechanism::ReleaseInPlace(std::span<double> values, Budget& budget,
                                      BitSource& bits) const {
  CheckDimension(dimension_, values.size());
  budget.Spend(Event());
  AddNoise(values, grid_, [&] { return DiscreteLaplace(scale_units_, bits); });
}

GaussianMechanism::GaussianMechanism(double noise, double l2_sensitivity, std::size_t dimension)
    : noise_(noise), dimension_(dimension) {
  PrivacyEvent::Gaussian(noise).Validate();
  CheckSensitivity(l2_sensitivity);
  if (dimension >= (std::size_t{1} << 20)) {
    throw Error(fmt::format("dimension {}: at most 2^20 − 1", dimension));
  }
  grid_ = NoiseGrid::ForScale(noise * l2_sensitivity);
  const double units =
      grid_.Units(l2_sensitivity) + std::sqrt(static_cast<double>(dimension)) + 4.0;
  sigma_units_ = CeilUnits(units * noise);
}

GaussianMechanism GaussianMechanism::ForEpsilon(double eps, double delta, double l2_sensitivity,
                                                std::size_t dimension) {
  return {1.0 / GaussianMu(eps, delta), l2_sensitivity, dimension};
}

GaussianMechanism GaussianMechanism::ForNoise(double noise, double l2_sensitivity,
                                              std::size_t dimension) {
  return {noise, l2_sensitivity, dimension};
}

std::vector<double> GaussianMechanism::Release(std::span<const double> values, Budget& budget,
                                               BitSource& bits) const {
  CheckDimension(dimension_, values.size());
  budget.Spend(Event());
  std::vector<double> released(values.begin(), values.end());
  AddNoise(released, grid_, [&] { return DiscreteGaussian(sigma_units_, bits); });
  return released;
}

ExponentialMechanism::ExponentialMechanism(double eps, double utility_sensitivity) : eps_(eps) {
  CheckEpsilon(eps);
  CheckSensitivity(utility_sensitivity);
  // Neighbours' rounded utilities differ by at most factor·sensitivity + 1 units, and must stay
  // within eps/2, that is eps·2^39 units.
  factor_ = (std::ldexp(eps, 39) - 1.0) / utility_sensitivity * (1.0 - 1e-12);
  if (!(factor_ > 0.0)) throw Error(fmt::format("epsilon {}: too small to select with", eps));
}

std::size_t ExponentialMechanism::Release(std::span<const double> utilities, Budget& budget,
                                          BitSource& bits) const {
  if (utilities.empty()) throw Error("exponential mechanism: nothing to choose from");
  std::vector<double> units;
  units.reserve(utilities.size());
  for (const double utility : utilities) {
    units.push_back(std::nearbyint(utility * factor_));
    if (!(std::abs(units.back()) < 0x1p53)) {
      throw Error(fmt::format("utility {}: not finite, or beyond what the sensitivity allows for",
                              utility));
    }
  }
  budget.Spend(PrivacyEvent::Pure(eps_, "exponential"));
  const double best = *std::max_element(units.begin(), units.end());
  std::vector<std::uint64_t> costs;
  costs.reserve(units.size());
  for (const double unit : units) costs.push_back(static_cast<std::uint64_t>(best - unit));
  return SampleByCost(costs, 40, bits);
}

std::size_t SampleByCost(std::span<const std::uint64_t> costs, int shift, BitSource& bits) {
  const std::uint64_t least = *std::min_element(costs.begin(), costs.end());
  while (true) {
    const std::size_t i = bits.Below(costs.size());
    if (BernoulliExpMinus(costs[i] - least, Uint128{1} << shift, bits)) return i;
  }
}

RandomisedResponse::RandomisedResponse(double eps, std::size_t categories)
    : eps_(eps), categories_(categories) {
  CheckEpsilon(eps);
  if (categories < 2) {
    throw Error(fmt::format("randomised response: {} categories; needs two or more", categories));
  }
  // e^-1000 is never drawn: a larger epsilon may as well be that one.
  eps_units_ = static_cast<std::uint64_t>(std::ldexp(std::min(eps, 1000.0), 40));
}

double RandomisedResponse::KeepProbability() const {
  return 1.0 / (1.0 + static_cast<double>(categories_ - 1) * std::exp(-eps_));
}

std::size_t RandomisedResponse::Release(std::size_t truth, Budget& budget, BitSource& bits) const {
  if (truth >= categories_) {
    throw Error(fmt::format("category {}: must be below {}", truth, categories_));
  }
  budget.Spend(Event());
  while (true) {
    const std::size_t i = bits.Below(categories_);
    if (i == truth || BernoulliExpMinus(eps_units_, Uint128{1} << 40, bits)) return i;
  }
}

std::vector<double> RandomisedResponse::EstimateShares(
    std::span<const std::uint64_t> counts) const {
  CheckDimension(categories_, counts.size());
  double total = 0.0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  if (total == 0.0) throw Error("randomised response: no answers to estimate from");
  const double keep = KeepProbability();
  const double other = (1.0 - keep) / static_cast<double>(categories_ - 1);
  std::vector<double> shares;
  shares.reserve(counts.size());
  for (const std::uint64_t count : counts) {
    shares.push_back((static_cast<double>(count) / total - other) / (keep - other));
  }
  return shares;
}

PrivacyEvent RandomisedResponse::Event() const {
  return PrivacyEvent::Pure(eps_, "randomised response");
}

}  // namespace sotto
