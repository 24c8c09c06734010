#include "dp/gaussian.h"

#include <algorithm>
#include <cmath>

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

}  // namespace sotto
