#include "dp/rdp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "dp/parameters.h"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double LogAddExp(double a, double b) {
  const double high = std::max(a, b);
  if (high == -kInfinity) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// ln(e^x − 1) for x > 0.
double LogExpm1(double x) { return x > 40.0 ? x : std::log(std::expm1(x)); }

// ln(A − 1) at a whole order: Σ_{i≥2} C(α,i) (1−q)^{α−i} q^i (exp(i(i−1)/(2z²)) − 1).
double LogExcessWhole(double q, double z, int alpha) {
  double log_binomial = 0.0;
  double total = -kInfinity;
  for (int i = 1; i <= alpha; ++i) {
    log_binomial += std::log(static_cast<double>(alpha - i + 1)) - std::log(static_cast<double>(i));
    if (i < 2) continue;
    const double exponent = 0.5 * i * (i - 1) / (z * z);
    total = LogAddExp(
        total, log_binomial + (alpha - i) * std::log1p(-q) + i * std::log(q) + LogExpm1(exponent));
  }
  return total;
}

// (1 + x)^α − 1 − αx ≥ 0 without cancellation, as a logarithm.
double LogConvexExcess(double x, double alpha) {
  if (std::abs(x) < 1e-3 / alpha) {
    double term = 0.5 * alpha * (alpha - 1.0) * x * x;
    double sum = 0.0;
    for (int i = 3; i < 30 && std::abs(term) > 1e-18 * std::abs(sum); ++i) {
      sum += term;
      term *= (alpha - i + 1.0) / i * x;
    }
    return std::log(sum);
  }
  const double power = alpha * std::log1p(x);
  if (power > 600.0) return power;  // what is taken off no longer shows
  return std::log(std::max(std::expm1(power) - alpha * x, 0.0));
}

// ln(A − 1) at any order. E(q·w) = 0 for w = exp((2x−1)/(2z²)) − 1, so αqw may be taken off too and
// the integrand is never negative.
double LogExcessByQuadrature(double q, double z, double alpha) {
  // Trapezoid error: exp(−2π²z²/h²) from the Gaussian and exp(−2π²z²/h) from the singularity at
  // imaginary part πz² of the logarithm; both below 1e-16 for this step.
  const double h = std::min(z / 8.0, z * z / 2.0);
  const auto first = static_cast<long>(std::floor(-(12.0 * z + 1.0) / h));
  const auto last = static_cast<long>(std::ceil((alpha + 12.0 * z + 1.0) / h));
  std::vector<double> logs;
  logs.reserve(static_cast<std::size_t>(last - first + 1));
  double highest = -kInfinity;
  for (long i = first; i <= last; ++i) {
    const double x = static_cast<double>(i) * h;
    const double exponent = (2.0 * x - 1.0) / (2.0 * z * z);
    const double density = -0.5 * x * x / (z * z);
    double value = 0.0;
    if (exponent > 600.0) {
      value = density + alpha * (std::log(q) + exponent);
    } else {
      value = density + LogConvexExcess(q * std::expm1(exponent), alpha);
    }
    logs.push_back(value);
    highest = std::max(highest, value);
  }
  double sum = 0.0;
  for (const double value : logs) sum += std::exp(value - highest);
  return highest + std::log(sum) + std::log(h / (z * std::sqrt(2.0 * M_PI)));
}

double SubsampledGaussian(double q, double z, double alpha) {
  const bool whole = alpha == std::floor(alpha) && alpha <= 4096.0;
  const double log_excess =
      whole ? LogExcessWhole(q, z, static_cast<int>(alpha)) : LogExcessByQuadrature(q, z, alpha);
  return LogAddExp(0.0, log_excess) / (alpha - 1.0);
}

}  // namespace

std::vector<double> DefaultRdpOrders() {
  std::vector<double> orders;
  for (int i = 11; i < 110; ++i) orders.push_back(i / 10.0);
  for (int i = 11; i < 64; ++i) orders.push_back(i);
  for (const double order : {128.0, 256.0, 512.0}) orders.push_back(order);
  return orders;
}

double RdpOfEvent(const PrivacyEvent& event, double alpha) {
  event.Validate();
  if (!(alpha > 1.0)) throw Error(fmt::format("order {}: must be above 1", alpha));
  switch (event.kind) {
    case EventKind::kGaussian:
      return alpha / (2.0 * event.noise * event.noise);
    case EventKind::kSubsampledGaussian:
      return SubsampledGaussian(event.q, event.noise, alpha);
    case EventKind::kLaplace:
      return LogAddExp(std::log(alpha / (2.0 * alpha - 1.0)) + (alpha - 1.0) * event.eps,
                       std::log((alpha - 1.0) / (2.0 * alpha - 1.0)) - alpha * event.eps) /
             (alpha - 1.0);
    case EventKind::kPure:
    case EventKind::kApproximate:
      break;
  }
  // Randomised response is the worst of all eps-DP mechanisms (Kairouz, Oh & Viswanath 2015).
  return (LogAddExp(alpha * event.eps, (1.0 - alpha) * event.eps) - LogAddExp(0.0, event.eps)) /
         (alpha - 1.0);
}

RdpEpsilon RdpCompose(std::span<const PrivacyEvent> events, double delta,
                      std::span<const double> orders) {
  CheckDelta(delta);
  double open = delta;
  std::vector<double> rdp(orders.size(), 0.0);
  for (const PrivacyEvent& event : events) {
    open -= event.delta * static_cast<double>(event.count);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      rdp[i] += static_cast<double>(event.count) * RdpOfEvent(event, orders[i]);
    }
  }
  if (!(open > 0.0)) {
    throw Error(fmt::format("delta {}: the mechanisms used spend all of it by themselves", delta));
  }
  RdpEpsilon best{kInfinity, 0.0};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double alpha = orders[i];
    const double eps =
        rdp[i] + std::log1p(-1.0 / alpha) - (std::log(open) + std::log(alpha)) / (alpha - 1.0);
    if (std::max(0.0, eps) < best.eps) best = {std::max(0.0, eps), alpha};
  }
  return best;
}

}  // namespace sotto
