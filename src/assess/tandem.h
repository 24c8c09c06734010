// Spoofing: what a countermeasure (CM) in front of speaker verification (ASV) leaves to attackers.
//
// min t-DCF of the ASVspoof challenges (Kinnunen et al. 2018, 2020). With the ASV held at its EER
// threshold and τ the CM threshold:
//   2021:          t-DCF(τ) = (C0 + C1·Pmiss(τ) + C2·Pfa(τ)) / (C0 + min(C1, C2))
//   2019 (legacy): t-DCF(τ) = (C1·Pmiss(τ) + C2·Pfa(τ)) / min(C1, C2)
//   C0 = πtar·Cmiss·Pmiss_asv + πnon·Cfa·Pfa_asv,  C1 = πtar·Cmiss − C0,  C2 = πspf·Cfa_spf·Pfa_spf
// They are different quantities. t-EER (Kinnunen et al. 2023) needs no costs: the concurrent point
// at which the tandem's miss rate equals its false alarm rate on non-targets and on spoofs.
// a-DCF (Shim et al. 2024) rates any system with one score.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assess/levels.h"

namespace sotto {

struct TandemCosts {
  double p_tar = 0.9405, p_non = 0.0095, p_spoof = 0.05;  // ASVspoof 2019 and 2021
  double c_miss = 1.0, c_fa = 10.0, c_fa_spoof = 10.0;
  // The costs a-DCF was published with.
  static TandemCosts PublishedAdcf() { return {0.9, 0.05, 0.05, 1.0, 10.0, 20.0}; }
  void Validate() const;  // priors that add up to 1, costs that are not negative
};

// One step of a threshold going up: what is rejected are the scores <= `score`.
struct DetectionState {
  double score = 0.0;  // −inf for the first state, where nothing is rejected
  double p_miss = 0.0;
  double p_fa_non = 1.0;
  double p_fa_spoof = 1.0;
};

// All states, ties as one step, from accept-all to reject-all. `non` or `spoof` may be empty (its
// rate is then 0). Throws Error when `tar` or both others are empty, or a score is NaN.
std::vector<DetectionState> DetectionStates(std::span<const double> tar,
                                            std::span<const double> non,
                                            std::span<const double> spoof);

// Error rates of the ASV at its EER threshold; a score equal to the threshold is accepted.
struct AsvRates {
  double threshold = 0.0;
  double eer = 0.0;
  double p_miss = 0.0;
  double p_fa = 0.0;
  double p_fa_spoof = 0.0;
};
AsvRates AsvErrorRates(std::span<const double> tar, std::span<const double> non,
                       std::span<const double> spoof);

struct MinimumCost {
  double value = 0.0;
  double threshold = 0.0;  // scores <= this are rejected
};

// Throw Error when C1 or C2 is negative: the ASV is then too weak for the costs to mean anything.
MinimumCost MinTdcf2019(std::span<const DetectionState> cm, const AsvRates& asv,
                        const TandemCosts& costs);
MinimumCost MinTdcf2021(std::span<const DetectionState> cm, const AsvRates& asv,
                        const TandemCosts& costs);

// Concurrent t-EER, in [0, 1]: on the path of pairs of thresholds where the tandem's miss and false
// alarm rates are closest (ρ = ½), the pair where both kinds of false alarm agree best; the value
// is the spoof false alarm rate there, as the ASVspoof 5 package reports it. NaN when the path is
// empty.
double ConcurrentTeer(std::span<const DetectionState> cm, std::span<const DetectionState> asv);

// min over thresholds, divided by the cost of the better of accept-all and reject-all.
MinimumCost MinAdcf(std::span<const DetectionState> system, const TandemCosts& costs);

// Scores of the two subsystems. A CM is judged on bona fide (target or not) against spoof.
struct TandemScores {
  std::vector<double> asv_tar, asv_non;
  std::vector<double> cm_bona;
  struct Attack {
    std::vector<double> asv, cm;
  };
  std::map<std::string, Attack> attacks;
  // Single-score system (fused), present with --sasv only.
  std::vector<double> fused_tar, fused_non, fused_spoof;
  // CM scores of the target trials alone, with --sasv.
  std::vector<double> cm_tar;
};

// ASV: columns attack key score, key = target|nontarget|spoof; CM: utt attack key score, key =
// bonafide|spoof. Further columns are ignored.
void ReadAsvScores(std::string_view text, const std::string& where, TandemScores& scores);
void ReadCmScores(std::string_view text, const std::string& where, TandemScores& scores);
// One row per trial: attack key asv_score cm_score, fused as asv + σ(cm) (the SASV 2022 baseline);
// or attack key score for a system that has one score only.
TandemScores ReadSasvScores(std::string_view text, const std::string& where);

struct AttackResult {
  std::string attack;
  std::size_t n_asv = 0, n_cm = 0;
  double p_fa_spoof_asv = 0.0;
  std::optional<MinimumCost> min_tdcf_2019, min_tdcf_2021;
  std::optional<double> cm_eer, cm_eer_interpolated;  // ASVspoof's rule; interpolated
  std::optional<MinimumCost> a_dcf;
};

struct TandemResult {
  std::optional<AsvRates> asv;
  AttackResult pooled;
  std::vector<AttackResult> per_attack;
  std::optional<double> t_eer;
  std::optional<MinimumCost> a_dcf;             // costs of options.adcf_costs
  std::optional<MinimumCost> a_dcf_tdcf_costs;  // costs of options.costs
  std::optional<MinimumCost> a_dcf_asv;         // the ASV alone
  std::optional<MinimumCost> a_dcf_asv_tdcf_costs;
  std::string a_dcf_system;  // whose score a_dcf rates: "asv", "asv + sigmoid(cm)", "score"
  std::optional<double> sv_eer, spf_eer, sasv_eer;              // of that system
  std::optional<double> spf_eer_asv, sasv_eer_asv, spf_eer_cm;  // by subsystem
  std::size_t n_asv_tar = 0, n_asv_non = 0, n_asv_spoof = 0, n_cm_bona = 0, n_cm_spoof = 0;
};

struct TandemOptions {
  TandemCosts costs;
  TandemCosts adcf_costs = TandemCosts::PublishedAdcf();
};

TandemResult MeasureTandem(const TandemScores& scores, const TandemOptions& options);

}  // namespace sotto
