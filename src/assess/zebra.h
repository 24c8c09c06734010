// ZEBRA: zero evidence biometric recognition assessment (Nautsch et al. 2020; seed 002 section 5).
#pragma once

#include <vector>

#include "assess/levels.h"
#include "assess/pav.h"

namespace sotto {

struct Zebra {
  double d_ece_bits = 0.0;        // expected disclosure, 0 … 1/ln 4 = 0.7213
  double worst_case_log10 = 0.0;  // largest |LLR| of any trial, in log10 units
  char tag = '0';                 // category of the worst case
};

// D_ECE from plain PAV; the worst case from PAV with Laplace's rule of succession, without which it
// would be infinite for almost every data set.
Zebra MeasureZebra(const ScoreLevels& data);
Zebra MeasureZebra(const Pav& plain, const Pav& laplace);

// Expected disclosure of natural-log LLRs in bit: the area between the ECE of no evidence and that
// of the LLRs over all priors,
//   D_ECE = (mean Z(l) over targets + mean Z(−l) over the others) / (2 ln 2),
//   Z(l) = 1/2 + (l − (e^l − 1)) / (e^l − 1)², Z(0) = 0, Z(+∞) = 1/2, Z(−∞) = −∞.
// For LLRs calibrated on another run of the safeguard this is C_ECE (seed 002 section 5.3); it can
// be negative: the attacker is then better off without the scores.
double ExpectedDisclosure(const Pav& pav);
double ExpectedDisclosure(const ScoreLevels& llrs);
double DisclosureZ(double llr);  // Z(l), in nats

double LargestAbsLlrLog10(const Pav& laplace);

// 0: none; A ≤ 1, B ≤ 2, C ≤ 4, D ≤ 5, E ≤ 6, F above (log10 units; upper bounds belong to the
// better category, as in the reference). At or below the spacing of doubles at 1 counts as 0.
char ZebraTag(double worst_case_log10);

// Empirical cross-entropy (bit) and Bayes error (unnormalised cost with unit costs) against the
// prior's log-odds (natural log): of no evidence, of oracle-calibrated and of actual scores.
struct EceProfile {
  std::vector<double> prior_log_odds;
  std::vector<double> ece_default, ece_min, ece_act;
  std::vector<double> dcf_default, dcf_min, dcf_act;
};

// At −10, −9.9 … 10.
EceProfile MakeEceProfile(const ScoreLevels& data, const Pav& pav);

}  // namespace sotto
