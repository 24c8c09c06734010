#include "dp/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "dp/gaussian.h"
#include "dp/parameters.h"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsGaussian(const PrivacyEvent& event) {
  return event.kind == EventKind::kGaussian || event.kind == EventKind::kSubsampledGaussian;
}

// (eps, delta) of single uses. Gaussian ones divide `delta` evenly; subsampled ones count as one
// use, by RDP.
struct Use {
  double eps;
  double delta;
  double count;
};

std::vector<Use> Uses(std::span<const PrivacyEvent> events, double delta) {
  double shares = 0.0;
  for (const PrivacyEvent& event : events) {
    if (event.kind == EventKind::kGaussian) shares += static_cast<double>(event.count);
    if (event.kind == EventKind::kSubsampledGaussian) shares += 1.0;
  }
  std::vector<Use> uses;
  for (const PrivacyEvent& event : events) {
    const auto count = static_cast<double>(event.count);
    if (!IsGaussian(event)) {
      uses.push_back({event.eps, event.delta, count});
    } else if (!(delta > 0.0)) {
      uses.push_back({kInfinity, 0.0, 1.0});
    } else if (event.kind == EventKind::kGaussian) {
      uses.push_back({GaussianEpsilon(1.0 / event.noise, delta / shares), delta / shares, count});
    } else {
      const auto orders = DefaultRdpOrders();
      uses.push_back({RdpCompose({&event, 1}, delta / shares, orders).eps, delta / shares, 1.0});
    }
  }
  return uses;
}

}  // namespace

Budget Budget::WithLimit(double eps, double delta) {
  CheckEpsilon(eps);
  if (!(delta >= 0.0 && delta < 1.0)) {
    throw Error(fmt::format("delta {}: must lie from 0 to below 1", delta));
  }
  Budget budget;
  budget.limit_eps_ = eps;
  budget.limit_delta_ = delta;
  return budget;
}

void Budget::Spend(const PrivacyEvent& event) {
  event.Validate();
  Budget after = *this;
  bool merged = false;
  for (PrivacyEvent& known : after.events_) {
    if (known.mechanism == event.mechanism && known.kind == event.kind && known.eps == event.eps &&
        known.delta == event.delta && known.noise == event.noise && known.q == event.q) {
      known.count += event.count;
      merged = true;
    }
  }
  if (!merged) after.events_.push_back(event);
  after.CheckLimit();
  *this = std::move(after);
}

void Budget::CheckLimit() const {
  if (!limit_eps_) return;
  double spent = SequentialEpsilon(limit_delta_);
  if (limit_delta_ > 0.0 && limit_delta_ > OwnDelta()) {
    spent = std::min(spent, RenyiEpsilon(limit_delta_).eps);
  }
  if (spent > *limit_eps_ * (1.0 + 1e-12)) {
    throw Error(
        fmt::format("privacy budget: this would spend epsilon {:.6g} at delta {:.3g}, and "
                    "the limit is {:.6g}",
                    spent, limit_delta_, *limit_eps_));
  }
}

double Budget::OwnDelta() const {
  double sum = 0.0;
  for (const PrivacyEvent& event : events_) sum += event.delta * static_cast<double>(event.count);
  return sum;
}

double Budget::SequentialEpsilon(double delta) const {
  const double open = delta - OwnDelta();
  if (open < 0.0) return kInfinity;
  double sum = 0.0;
  for (const Use& use : Uses(events_, open)) sum += use.count * use.eps;
  return sum;
}

double Budget::AdvancedEpsilon(double delta) const {
  CheckDelta(delta);
  const double open = delta - OwnDelta();
  if (!(open > 0.0)) return SequentialEpsilon(delta);
  const double slack = 0.5 * open;  // the other half is for the Gaussian uses
  double linear = 0.0;
  double drift = 0.0;
  double squares = 0.0;
  for (const Use& use : Uses(events_, open - slack)) {
    linear += use.count * use.eps;
    drift += use.count * use.eps * std::tanh(0.5 * use.eps);
    squares += use.count * use.eps * use.eps;
  }
  const double second =
      drift + std::sqrt(2.0 * squares * std::log(M_E + std::sqrt(squares) / slack));
  const double third = drift + std::sqrt(2.0 * squares * std::log(1.0 / slack));
  return std::min({linear, second, third});
}

RdpEpsilon Budget::RenyiEpsilon(double delta) const {
  if (events_.empty()) return {};
  return RdpCompose(events_, delta, DefaultRdpOrders());
}

PldEpsilon Budget::LossEpsilon(double delta, const PldOptions& options) const {
  return PldCompose(events_, delta, options);
}

std::optional<double> Budget::Rho() const {
  double sum = 0.0;
  for (const PrivacyEvent& event : events_) {
    const auto count = static_cast<double>(event.count);
    switch (event.kind) {
      case EventKind::kGaussian:
        sum += count * 0.5 / (event.noise * event.noise);
        break;
      case EventKind::kPure:
      case EventKind::kLaplace:
        sum += count * 0.5 * event.eps * event.eps;
        break;
      case EventKind::kApproximate:
      case EventKind::kSubsampledGaussian:
        return std::nullopt;
    }
  }
  return sum;
}

std::optional<double> Budget::ConcentratedEpsilon(double delta) const {
  const auto rho = Rho();
  if (!rho) return std::nullopt;
  CheckDelta(delta);
  if (*rho <= 0.0) return 0.0;
  // Any order gives a valid epsilon; the orders are spread evenly in ln(α − 1) around the minimum.
  double best = kInfinity;
  const double centre = std::log(std::sqrt(-std::log(delta) / *rho));
  for (int i = -600; i <= 600; ++i) {
    const double excess = std::exp(centre + 0.005 * i);
    const double alpha = 1.0 + excess;
    best = std::min(best, *rho * alpha + std::log(excess / alpha) -
                              (std::log(delta) + std::log(alpha)) / excess);
  }
  return std::max(0.0, best);
}

double CalibrateNoise(double q, std::uint64_t steps, double eps, double delta, bool renyi) {
  CheckEpsilon(eps);
  CheckDelta(delta);
  const auto orders = DefaultRdpOrders();
  const auto renyi_eps = [&](double noise) {
    const PrivacyEvent event = PrivacyEvent::SubsampledGaussian(q, noise, steps);
    return RdpCompose({&event, 1}, delta, orders).eps;
  };
  double high = 1.0;
  while (renyi_eps(high) > eps) {
    high *= 2.0;
    if (high > 1e9) throw Error(fmt::format("no noise below 1e9 gives epsilon {}", eps));
  }
  double low = 0.5 * high;
  while (renyi_eps(low) <= eps && low > 1e-4) low *= 0.5;
  const auto bisect = [&](double tolerance, const auto& within) {
    while (high > low * (1.0 + tolerance)) {
      const double middle = std::sqrt(low * high);
      (within(middle) ? high : low) = middle;
    }
  };
  bisect(2e-5, [&](double noise) { return renyi_eps(noise) <= eps; });
  if (renyi) return high;
  // PLD never needs more noise than RDP; it is asked with a loose grid far away, a fine one near
  // by.
  const auto loss_eps = [&](double noise, double tolerance) {
    const PrivacyEvent event = PrivacyEvent::SubsampledGaussian(q, noise, steps);
    PldOptions options;
    options.tolerance = tolerance;
    options.max_points = std::size_t{1} << 20;
    return PldCompose({&event, 1}, delta, options).eps;
  };
  low = 0.9 * high;
  while (loss_eps(low, 1e-3 * eps) <= eps && low > 1e-4) {
    high = low;
    low *= 0.9;
  }
  bisect(1e-4, [&](double noise) { return loss_eps(noise, 1e-4 * eps) <= eps; });
  return high;
}

}  // namespace sotto
