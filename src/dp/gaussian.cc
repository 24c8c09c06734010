#include "dp/gaussian.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dp/event.h"
#include "dp/normal.h"
#include "dp/parameters.h"

namespace sotto {

double GaussianDelta(double mu, double eps) {
  if (mu == 0.0) return 0.0;
  // delta = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), both terms through logarithms: e^ε overflows, and
  // the second Φ underflows, long before their product does.
  const double first = LogNormalCdf(0.5 * mu - eps / mu);
  const double second = eps + LogNormalCdf(-0.5 * mu - eps / mu);
  return std::max(0.0, -std::exp(first) * std::expm1(std::min(0.0, second - first)));
}

double GaussianEpsilon(double mu, double delta) {
  CheckDelta(delta);
  if (GaussianDelta(mu, 0.0) <= delta) return 0.0;
  double high = 1.0;
  while (GaussianDelta(mu, high) > delta) high *= 2.0;
  return Bisect(0.0, high, 200, [&](double eps) { return !(GaussianDelta(mu, eps) > delta); }).high;
}

double GaussianMu(double eps, double delta) {
  CheckEpsilon(eps);
  CheckDelta(delta);
  double high = 1.0;
  while (GaussianDelta(high, eps) <= delta) high *= 2.0;
  return Bisect(0.0, high, 300, [&](double mu) { return !(GaussianDelta(mu, eps) <= delta); }).low;
}

double RepeatedParticipationEpsilon(double q, std::uint64_t steps, double noise, double delta) {
  CheckDelta(delta);
  PrivacyEvent::SubsampledGaussian(q, noise, steps).Validate();
  std::vector<double> log_mass;
  log_mass.reserve(steps + 1);
  for (std::uint64_t k = 0; k <= steps; ++k) log_mass.push_back(LogBinomialPmf(k, steps, q));
  // The likelihood ratio rises with x, so the best event is {x > t}; delta falls with t.
  const auto log_ratio = [&](double t) {
    std::vector<double> terms;
    terms.reserve(log_mass.size());
    for (std::size_t k = 0; k < log_mass.size(); ++k) {
      const double shift = static_cast<double>(k) / noise;
      terms.push_back(log_mass[k] + t * shift - 0.5 * shift * shift);
    }
    const double highest = *std::max_element(terms.begin(), terms.end());
    double sum = 0.0;
    for (const double term : terms) sum += std::exp(term - highest);
    return highest + std::log(sum);
  };
  const auto delta_at = [&](double t) {
    double with = 0.0;
    for (std::size_t k = 0; k < log_mass.size(); ++k) {
      with += std::exp(log_mass[k]) * NormalCdf(static_cast<double>(k) / noise - t);
    }
    return with - std::exp(log_ratio(t) + LogNormalCdf(-t));
  };
  if (delta_at(0.0) <= delta) return 0.0;
  const Bracket t = Bisect(0.0, static_cast<double>(steps) / noise + 40.0, 60,
                           [&](double x) { return !(delta_at(x) > delta); });
  return std::max(0.0, log_ratio(t.low));
}

}  // namespace sotto
