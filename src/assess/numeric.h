// Logistic functions that neither overflow nor lose digits; arguments are natural-log odds.
#pragma once

#include <cmath>

namespace sotto {

// ln(1 + e^x), exact for |x| above 709 and at ±inf, where the plain form overflows.
inline double Softplus(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

inline double Sigmoid(double x) {
  if (x >= 0.0) return 1.0 / (1.0 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1.0 + e);
}

}  // namespace sotto
