// Calibration: maps from scores to natural-log LLRs, fitted on one set and applied to another.
#pragma once

#include <span>
#include <vector>

#include "assess/levels.h"
#include "assess/pav.h"

namespace sotto {

// LLR = a·score + b.
struct LinearCalibration {
  double a = 1.0;
  double b = 0.0;
  double Apply(double score) const { return a * score + b; }
};

// Prior-weighted logistic regression (Brümmer & de Villiers 2011): minimises
//   π·mean softplus(−(l + logit π)) over targets + (1−π)·mean softplus(l + logit π) over the others
// by Newton's method with step halving until a step is rounding alone (codes that stop at 1e-5
// differ from ours in the sixth digit).
// Throws Error when no finite optimum exists: a score is infinite, all scores are equal, or a
// threshold separates the classes without error (in either direction).
LinearCalibration FitLinearCalibration(const ScoreLevels& data, double prior = 0.5);

std::vector<double> ApplyCalibration(const LinearCalibration& calibration,
                                     std::span<const double> scores);

// Isotonic regression: PAV with Laplace's rule, so that every LLR is finite and an attacker who
// meets new scores is never infinitely sure. Applied with PavLlrs.
inline Pav FitIsotonicCalibration(const ScoreLevels& data) {
  return FitPav(data, PavRule::kLaplace);
}
inline std::vector<double> ApplyCalibration(const Pav& calibration,
                                            std::span<const double> scores) {
  return PavLlrs(calibration, scores);
}

}  // namespace sotto
