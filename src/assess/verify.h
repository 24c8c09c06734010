// All figures of a list of verification trials in one go, with bootstrap intervals: what
// `sotto assess verify` prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assess/calibration.h"
#include "assess/figure.h"
#include "assess/identification.h"
#include "assess/linkability.h"
#include "assess/trials.h"
#include "assess/verification.h"
#include "assess/zebra.h"

namespace sotto {

struct VerifyOptions {
  std::vector<double> priors{0.5, 0.05, 0.01, 0.001};  // of the detection costs
  double cost_miss = 1.0;
  double cost_false_alarm = 1.0;
  LinkabilityOptions linkability;
  std::vector<std::size_t> top_k{1, 5, 10};

  int resamples = 1000;  // of the bootstrap; 0 for none
  double interval_level = 0.95;
  std::uint64_t seed = 1;
  int jobs = 1;

  std::string attacker;  // who made the scores, for the figures; empty: unknown

  void Validate() const;
  std::vector<OperatingPoint> Points() const;  // one per prior
};

// How many are made where nobody asked: none above 100000 trials, since 1000 take a minute per
// million.
int AutomaticResamples(std::size_t trials);

// The figures that need scores and labels alone.
struct ScoreFigures {
  double eer = 0.0;
  double eer_kaldi = 0.0;
  double eer_rocch = 0.0;
  double eer_argmin = 0.0;
  double auc = 0.0;
  double rocch_area_error = 0.0;
  double cllr = 0.0;
  double cllr_min = 0.0;
  double cllr_cal = 0.0;        // Cllr − Cllr_min: what bad calibration costs
  std::vector<double> min_dcf;  // one per prior
  std::vector<double> act_dcf;
  double d_sys = 0.0;
  double d_sys_unbiased = 0.0;
  Zebra zebra;
};

ScoreFigures MeasureScores(const ScoreLevels& data, const VerifyOptions& options);

// C_ECE: disclosure of scores that an attacker calibrates on another run of the safeguard, in bit.
// NaN and a reason where the linear fit has no finite optimum.
struct CalibratedDisclosure {
  double c_ece_linear = 0.0;
  double c_ece_isotonic = 0.0;
  double cllr_linear = 0.0;
  double cllr_isotonic = 0.0;
  LinearCalibration linear;
  std::vector<double> linear_llrs;  // of each trial; empty where the fit failed
  std::vector<double> isotonic_llrs;
  std::string remark;
};
CalibratedDisclosure MeasureCalibrated(const Trials& trials, const ScoreLevels& other_run,
                                       double prior);

// What tables and pages show of `figures`: all but the published d_sys, which is 0 for fully
// linkable scores where targets are few and is for JSON alone (assess/linkability.h).
std::vector<Figure> ShownFigures(const std::vector<Figure>& figures);

struct VerifyResult {
  std::size_t n_tar = 0;
  std::size_t n_non = 0;
  ScoreFigures scores;
  std::optional<Identification> identification;  // where the trials name test recordings
  std::optional<CalibratedDisclosure> calibrated;

  // Every headline figure with its interval, in the order they are printed.
  std::vector<Figure> figures;
  std::string bootstrap;  // "speaker-level, 1000 resamples, seed 1", "trial-level …", "none"
};

// `other_run` (may be null) trains the calibrations of C_ECE.
VerifyResult Verify(const Trials& trials, const ScoreLevels& data, const VerifyOptions& options,
                    const ScoreLevels* other_run = nullptr);

}  // namespace sotto
