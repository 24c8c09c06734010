#include "dp/normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sotto {

double LogNormalCdf(double x) {
  if (x > -30.0) return std::log(NormalCdf(x));
  // Asymptotic series of Mills' ratio; at x = −30 the fifth term is below 1e-11 of the first.
  const double x2 = x * x;
  const double series = 1.0 - (1.0 - (3.0 - (15.0 - 105.0 / x2) / x2) / x2) / x2;
  return -0.5 * x2 - std::log(-x) - 0.5 * std::log(2.0 * std::numbers::pi) + std::log(series);
}

double NormalQuantile(double p) {
  const Bracket at = Bisect(-40.0, 40.0, 200, [p](double x) {
    // The upper half by symmetry, where 1 − Φ keeps its digits.
    return p <= 0.5 ? NormalCdf(x) >= p : NormalCdf(-x) <= 1.0 - p;
  });
  return 0.5 * (at.low + at.high);
}

double LogBinomialPmf(std::uint64_t k, std::uint64_t n, double p) {
  const auto nd = static_cast<double>(n);
  const auto kd = static_cast<double>(k);
  if (k > n) return -std::numeric_limits<double>::infinity();
  double log_mass = std::lgamma(nd + 1.0) - std::lgamma(kd + 1.0) - std::lgamma(nd - kd + 1.0);
  if (k > 0) log_mass += kd * std::log(p);
  if (k < n) log_mass += (nd - kd) * std::log1p(-p);
  return log_mass;
}

double BinomialUpperTail(std::uint64_t k, std::uint64_t n, double p) {
  if (k == 0) return 1.0;
  if (k > n || p <= 0.0) return 0.0;
  if (p >= 1.0) return 1.0;
  // Sums the smaller side, term by term from the pmf's ratio, until terms no longer count.
  const double odds = p / (1.0 - p);
  const auto nd = static_cast<double>(n);
  if (static_cast<double>(k) > nd * p) {
    double term = std::exp(LogBinomialPmf(k, n, p));
    double sum = 0.0;
    for (std::uint64_t i = k; i <= n && term > sum * 1e-18; ++i) {
      sum += term;
      term *= (nd - static_cast<double>(i)) / (static_cast<double>(i) + 1.0) * odds;
    }
    return std::min(sum, 1.0);
  }
  double term = std::exp(LogBinomialPmf(k - 1, n, p));
  double sum = 0.0;
  for (std::uint64_t i = k; i-- > 0 && term > sum * 1e-18;) {
    sum += term;
    term *= static_cast<double>(i) / (nd - static_cast<double>(i) + 1.0) / odds;
  }
  return std::max(0.0, 1.0 - sum);
}

double ClopperPearsonHigh(std::uint64_t k, std::uint64_t n, double error) {
  if (k >= n) return 1.0;
  // The p at which the rising function Pr(X > k) reaches 1 − error.
  return Bisect(0.0, 1.0, 100,
                [&](double p) { return BinomialUpperTail(k + 1, n, p) >= 1.0 - error; })
      .high;
}

}  // namespace sotto
