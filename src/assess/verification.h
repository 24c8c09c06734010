// Verification figures from two classes of scores: error rates, detection costs, Cllr.
//
// A trial is accepted when its score is at or above the threshold; tied scores cross it together.
// Figures that the convex hull of the ROC decides (minDCF, ROCCH-EER, Cllr_min) are computed from
// the PAV blocks, whose borders are the hull's corners (Brümmer & du Preez 2013).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assess/levels.h"
#include "assess/pav.h"

namespace sotto {

// Equal error rate by linear interpolation on the raw ROC.
double EerInterpolated(const ScoreLevels& data);

// Kaldi's rule, which VPC publishes: the share of targets below the first target score t (rising)
// that exceeds the non-target score at the same share counted from the top; scores are compared in
// single precision as Kaldi does. Not symmetric in the classes; at most 1 − 1/n_tar.
double EerKaldi(const ScoreLevels& data);

// ASVspoof's rule: the mean of both error rates where they differ least, ties crossed targets
// first.
double EerArgmin(const ScoreLevels& data);

// On the convex hull of the ROC; never above 0.5.
double EerRocch(const Pav& pav);

// Area above the convex hull of the ROC (an error: 0 is perfect, 0.5 no information).
double RocchAreaError(const Pav& pav);

// Probability that a target outscores a non-target, ties count one half.
double Auc(const ScoreLevels& data);

struct OperatingPoint {
  double prior = 0.5;  // of a target
  double cost_miss = 1.0;
  double cost_false_alarm = 1.0;
  void Validate() const;          // throws Error
  double BayesThreshold() const;  // in natural-log LLR
};

// Detection costs divided by that of the better of accept-all and reject-all (which are tried too).
double MinDcf(const Pav& pav, const OperatingPoint& point);
// Scores are taken for natural-log LLRs: accepted when LLR ≥ the Bayes threshold.
std::vector<double> ActDcf(const ScoreLevels& data, std::span<const OperatingPoint> points);

// Softplus of each level's negated score (targets) and score (non-targets), in nats: what Cllr
// sums. Cached where many resamples share their scores.
struct LevelCosts {
  std::vector<double> tar;
  std::vector<double> non;
};
LevelCosts MakeLevelCosts(const ScoreLevels& data);

// Cost of log-likelihood ratios in bit (Brümmer & du Preez 2006), natural-log LLRs.
double Cllr(const ScoreLevels& data);
double Cllr(const ScoreLevels& data, const LevelCosts& costs);
double CllrMin(const Pav& pav);

struct RocPoint {
  double threshold = 0.0;
  double miss = 0.0;         // P(target score < threshold)
  double false_alarm = 0.0;  // P(non-target score ≥ threshold)
};

// The rates at given thresholds, in their order.
std::vector<RocPoint> RocAt(const ScoreLevels& data, std::span<const double> thresholds);

// The ROC (and DET: the same rates on normal-deviate axes) at every level, thinned evenly along the
// curve to about `max_points`; the ends and the point nearest to equal error are always kept.
std::vector<RocPoint> RocPoints(const ScoreLevels& data, std::size_t max_points);

}  // namespace sotto
