// The normal distribution and binomial tails, accurate far out in the tails.
#pragma once

#include <cmath>
#include <cstdint>

namespace sotto {

// Φ(x).
inline double NormalCdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
// ln Φ(x), also where Φ underflows.
double LogNormalCdf(double x);
// Φ⁻¹(p) for 0 < p < 1.
double NormalQuantile(double p);

// Halves [low, high] around the place from which on `above` is true, until no double lies between
// or it was done `most` times.
struct Bracket {
  double low, high;
};
template <typename Above>
Bracket Bisect(double low, double high, int most, const Above& above) {
  for (int i = 0; i < most; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (above(middle) ? high : low) = middle;
  }
  return {low, high};
}

// ln Pr(X = k) and Pr(X ≥ k) for X binomial (n, p).
double LogBinomialPmf(std::uint64_t k, std::uint64_t n, double p);
double BinomialUpperTail(std::uint64_t k, std::uint64_t n, double p);

// One-sided Clopper–Pearson bound at this error probability: the true rate lies below it with
// probability at least 1 − error.
double ClopperPearsonHigh(std::uint64_t k, std::uint64_t n, double error);

}  // namespace sotto
