// The one account of what has been spent on a group of people. Every mechanism of this library
// reports into it before it answers, and it says what all of it comes to, by each composition rule.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dp/event.h"
#include "dp/pld.h"
#include "dp/rdp.h"

namespace sotto {

class Budget {
 public:
  // Without a limit it only counts.
  Budget() = default;
  // Refuses (Error, before anything is released) what would go beyond (eps, delta). delta may be 0:
  // then only pure mechanisms fit.
  static Budget WithLimit(double eps, double delta);

  void Spend(const PrivacyEvent& event);
  const std::vector<PrivacyEvent>& Events() const { return events_; }
  bool Empty() const { return events_.empty(); }
  // The delta that mechanisms spend by themselves, whatever the accountant (sum over uses).
  double OwnDelta() const;

  // The smallest epsilon each rule can show for this delta; all are valid, the smallest counts.
  // Sequential: the sum (Dwork et al. 2006); Gaussian uses share the delta evenly. Needs no delta
  // where everything is pure.
  double SequentialEpsilon(double delta) const;
  // Kairouz, Oh & Viswanath 2015, theorem 3.5 (sharper than Dwork, Rothblum & Vadhan 2010).
  double AdvancedEpsilon(double delta) const;
  RdpEpsilon RenyiEpsilon(double delta) const;
  PldEpsilon LossEpsilon(double delta, const PldOptions& options = {}) const;

  // zCDP (Bun & Steinke 2016): the sum of rho, absent where a mechanism has none (subsampling,
  // approximate); and the epsilon it gives at this delta, minimised over all orders.
  std::optional<double> Rho() const;
  std::optional<double> ConcentratedEpsilon(double delta) const;

 private:
  void CheckLimit() const;

  std::vector<PrivacyEvent> events_;
  std::optional<double> limit_eps_;
  double limit_delta_ = 0.0;
};

// The smallest sigma/sensitivity with which `steps` uses on Poisson samples of rate q stay within
// (eps, delta), rounded up to 1e-4 relative; by PLD, or by RDP where `renyi`.
double CalibrateNoise(double q, std::uint64_t steps, double eps, double delta, bool renyi = false);

}  // namespace sotto
