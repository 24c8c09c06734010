// Linkability of scores (Gomez-Barrero, Galbally, Rathgeb & Busch 2017). Not the regulator's
// linkability, which is a rank-1 rate.
#pragma once

#include <cstddef>
#include <vector>

#include "assess/levels.h"

namespace sotto {

// Below so many mated scores the published rule has no two bins, and its D_sys is 0.
inline constexpr std::size_t kFewestPublishedTargets = 20;

struct LinkabilityOptions {
  double omega = 1.0;     // ratio of the priors, mated over non-mated
  int bins = 0;           // 0: the published rule, int(n_mated / 10) but at most 100
  void Validate() const;  // throws Error
};

// D(s) = 2·ω·LR/(1 + ω·LR) − 1 where ω·LR > 1, else 0, with LR the ratio of histogram densities
// over equal bins from the lowest to the highest score; D = 1 where only mated scores fall.
struct Linkability {
  // The figure papers quote: trapezoid rule over the bin centres, which loses half of the first and
  // the last bin (0.5 for scores saturated at the maximum), and is 0 below 20 mated scores whatever
  // they are. For comparison with papers, never for a verdict.
  double d_sys = 0.0;
  // What tables, pages and verdicts use: the sum of D times the share of mated scores over all
  // bins, so that nothing is lost at the edges. D_sys is an f-divergence, of which no choice of
  // bins gives too much: where two bins, cut at the equal error rate, give more than equal bins do,
  // theirs counts, so that an outlier that stretches the equal ones hides nothing, and it is 1
  // where one threshold separates the classes. Below 20 mated scores 10 bins are used. Estimating
  // densities by counts overstates linkability when bins hold few scores: where nothing is linkable
  // its mean is 0.45 with 5 mated scores, 0.27 with 10, 0.18 with 19 and 0.06 with 20 to 1000 (ten
  // times as many others).
  double d_sys_unbiased = 0.0;
  int bins = 0;
  std::vector<double> centre;     // scores
  std::vector<double> d;          // D(s) at the centres
  std::vector<double> mated;      // density
  std::vector<double> non_mated;  // density
};

// Infinite scores fall into the bin at their end, and the bins span the finite ones (the published
// code fails on them). NaN where given bins have no width (all scores equal), as published.
Linkability MeasureLinkability(const ScoreLevels& data, const LinkabilityOptions& options = {});

// Maximal-leakage linkability (Otroshi Shahreza, Shkel & Marcel 2023): log2 Σ max(P(bin|mated),
// P(bin|non-mated)), 0 … 1 bit. NaN where all scores are equal.
double MaximalLinkability(const ScoreLevels& data, int bins);

}  // namespace sotto
