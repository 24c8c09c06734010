// The privacy loss ln(P/Q) of one use of a mechanism, as a distribution under P, and two ways to
// put it on a grid: one that can only overstate the loss, one that can only understate it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dp/event.h"

namespace sotto {

// The continuous part, along a variable y in which the loss rises.
class LossCurve {
 public:
  LossCurve() = default;
  LossCurve(const LossCurve&) = delete;
  LossCurve& operator=(const LossCurve&) = delete;
  virtual ~LossCurve() = default;
  virtual double Density(double y) const = 0;  // of P
  virtual double Loss(double y) const = 0;
  virtual double At(double loss) const = 0;  // the y of a loss, clamped into [low, high]

  double low = 0.0;
  double high = 0.0;
  double panel = 1.0;       // the densities are smooth at this width
  double mass_below = 0.0;  // of P outside [low, high]
  double mass_above = 0.0;
};

struct LossModel {
  struct Atom {
    double loss;
    double mass;
  };
  std::unique_ptr<LossCurve> curve;  // may be null
  std::vector<Atom> atoms;
  double infinite = 0.0;  // mass of P where Q has none

  // The lowest and the highest loss.
  std::pair<double, double> Range() const;
};

// The models of an event: one record removed and one added; a single one where both are alike.
// `tail` is the mass that may be cut off at each end (it is accounted for, never lost).
std::vector<LossModel> LossModels(const PrivacyEvent& event, double tail);

// Masses at the losses offset + (first + i)·step.
struct LossGrid {
  double step = 0.0;
  double offset = 0.0;
  std::int64_t first = 0;
  std::vector<double> mass;
  double infinite = 0.0;
};

// Never understates: each mass between two grid points is split onto both so that P and Q keep
// their totals ("connect the dots", Doroshenko et al. 2022, which dominates the true pair). The
// error is of second order in the step.
LossGrid DiscretiseUp(const LossModel& model, double step, double offset = 0.0);

// Never overstates: neighbouring outputs are merged into buckets, which is post-processing, with
// edges chosen so that the loss of each bucket, ln(P(bucket)/Q(bucket)), lies on the grid exactly.
// Also of second order. Atoms are rounded down.
LossGrid DiscretiseDown(const LossModel& model, double step, double offset = 0.0);

// Where a grid coarser than the bulk of the losses should begin: rarely sampled records lose
// ln(1 − q) in almost every use, and thousands of uses add up what a grid through 0 rounds off.
double BulkLoss(const LossModel& model, double step);

}  // namespace sotto
