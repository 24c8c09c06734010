// Fairness of a verification system across groups of speakers (seed 000, chapters 5 and 6).
//
// One threshold serves all groups: the lowest score at which the pooled false match rate does not
// exceed a target; a trial is accepted when score >= threshold. With FPD and FND the differential
// terms of the group rates FMR_d and FNMR_d, and alpha the weight of the FMR term:
//   FDR   = 1 − (α·max|ΔFMR| + (1−α)·max|ΔFNMR|)                    eqs. 6.1–6.3, 1 is fair
//   IR    = (max FMR / min FMR)^α · (max FNMR / min FNMR)^(1−α)      eqs. 6.4–6.6, 1 is fair
//   GARBE = α·Gini(FMR) + (1−α)·Gini(FNMR), Gini with n/(n−1)       eqs. 6.7–6.10, 0 is fair
// IR does not exist when a smallest rate is 0 (NaN here, null in JSON, whatever α). The Gini
// coefficient of rates that are all 0 is 0: nobody is treated differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assess/trials.h"

namespace sotto {

// Trials with the group of the claimed speaker.
struct GroupedTrials {
  std::vector<double> scores;
  std::vector<std::uint8_t> is_target;
  std::vector<std::uint32_t> group;  // index into `groups`
  std::vector<std::string> groups;   // sorted names
};

// Trials grouped by `group`. Where both sides' groups are given, non-targets whose sides differ are
// left out unless asked for: an impostor of another group is an easy one and hides differences.
struct Grouping {
  GroupedTrials trials;
  std::vector<std::uint32_t> kept;  // row of each trial in the file's order
  std::size_t n_cross_group = 0;    // non-targets across groups, left out or not
};
Grouping GroupTrials(const Trials& trials, const IdColumn& group, const IdColumn* enrol_group,
                     const IdColumn* test_group, bool include_cross_group);

struct FairnessOptions {
  std::vector<double> fmr_targets = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1};
  std::vector<double> alphas = {0.0, 0.25, 0.5, 0.75, 1.0};
  void Validate() const;  // rising targets in (0, 1), alphas in [0, 1]
};

// The two differential terms of one metric.
struct DifferentialTerms {
  double fpd = 0.0;
  double fnd = 0.0;
};

struct FairnessPoint {
  double pooled_fmr_target = 0.0;
  double threshold = 0.0;  // +inf when only rejecting everybody keeps the pooled FMR low enough
  double pooled_fmr = 0.0;
  double pooled_fnmr = 0.0;
  std::vector<double> fmr;   // by group
  std::vector<double> fnmr;  // by group
  DifferentialTerms fdr_terms, ir_terms, garbe_terms;
  std::vector<double> fdr;  // by alpha
  std::vector<double> ir;
  std::vector<double> garbe;
};

// Functional fairness measure criteria (Howard et al. 2022) of one metric, on this data.
struct FairnessCriteria {
  std::string metric;             // "fdr", "ir", "garbe"
  double ffmc1_ratio = 0.0;       // median FPD / median FND over the points: 1 is balanced
  double ffmc2_lowest = 0.0;      // over points and alphas
  double ffmc2_highest = 0.0;     //
  bool ffmc2_bounded = false;     // all computable values lie in [0, 1]
  double ffmc3_computable = 0.0;  // share of (point, alpha) pairs with a value
};

struct FairnessResult {
  std::vector<std::string> groups;
  std::vector<double> n_tar, n_non;  // by group
  std::vector<double> alphas;
  std::vector<FairnessPoint> points;
  // Area under FDR over the pooled-FMR targets divided by their span, trapezoid rule; one value for
  // each alpha. Linear in FMR (Pereira & Marcel 2021) and over log10(FMR).
  std::vector<double> au_fdr_linear, au_fdr_log;
  std::vector<FairnessCriteria> criteria;
};

// Sorts once, so that bootstrap weights cost one pass each.
class FairnessMeter {
 public:
  // Throws Error when there are fewer than two groups or a group lacks one class; names the group.
  FairnessMeter(GroupedTrials trials, FairnessOptions options);
  // `weights`: one per trial, empty for all ones.
  FairnessResult Measure(std::span<const double> weights = {}) const;
  const GroupedTrials& Trials() const { return trials_; }

 private:
  GroupedTrials trials_;
  FairnessOptions options_;
  std::vector<std::uint32_t> order_;  // trials by falling score
};

// The same between the first and the last pooled FMR target, in 60 steps: for plots.
FairnessResult FairnessCurve(const GroupedTrials& trials, FairnessOptions options);

// Gini coefficient of rates with the small-sample correction n/(n−1); 0 when all are 0.
double GiniOfRates(std::span<const double> rates);

}  // namespace sotto
