#include "dp/allows.h"

#include <algorithm>
#include <cmath>

#include "dp/normal.h"

namespace sotto {

double TradeOff(double eps, double delta, double false_alarm) {
  return std::max({0.0, 1.0 - delta - std::exp(eps) * false_alarm,
                   std::exp(-eps) * (1.0 - delta - false_alarm)});
}

double EerFloor(double eps, double delta) { return (1.0 - delta) / (1.0 + std::exp(eps)); }

double AucCeiling(double eps, double delta) {
  return 1.0 - (1.0 - delta) * (1.0 - delta) / (1.0 + std::exp(eps));
}

double GdpEerFloor(double mu) { return NormalCdf(-0.5 * mu); }
double GdpAucCeiling(double mu) { return NormalCdf(mu * M_SQRT1_2); }

double TopOneCeiling(double eps, double delta, std::size_t n) {
  if (n <= 1) return 1.0;
  const auto others = static_cast<double>(n - 1);
  // e^ε/(e^ε + n − 1), written so that a large ε gives 1 and not inf/inf.
  return std::min(1.0, (1.0 + others * delta * std::exp(-eps)) / (1.0 + others * std::exp(-eps)));
}

GdpMu CompositionMu(double q, double noise, std::uint64_t steps) {
  const auto uses = static_cast<double>(steps);
  if (q == 1.0) return {std::sqrt(uses) / noise, true};
  return {q * std::sqrt(uses * std::expm1(1.0 / (noise * noise))), false};
}

std::vector<TradeOffPoint> TradeOffCurve(double eps, double delta, std::size_t points) {
  std::vector<TradeOffPoint> curve;
  for (std::size_t i = 0; i < points; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(points - 1);
    const double a = 0.5 * (1.0 - std::cos(M_PI * t));
    curve.push_back({a, TradeOff(eps, delta, a)});
  }
  return curve;
}

}  // namespace sotto
