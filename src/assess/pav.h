// Pool-adjacent-violators (PAV): the non-decreasing map from scores to posteriors that fits best.
//
// Oracle calibration (Brümmer & du Preez 2006, 2013; seed 002 section 3): the LLR of a block is
// logit(its share of targets) − logit(share of targets in the data), natural logarithm. Tied scores
// are one step, always: codes that sort ties "correct first" print Cllr_min 0 for scores that are
// all equal (docs/differences.md). No monotonicity ramp is added.
//
// Laplace's rule of succession, as ZEBRA uses it for the worst case: one target and one non-target
// are added below the lowest and above the highest score before pooling, so that no LLR is
// infinite; the prior stays that of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assess/levels.h"

namespace sotto {

enum class PavRule { kPlain, kLaplace };

// Neighbouring levels with one posterior. Counts are of the data (without Laplace's additions).
struct PavBlock {
  double low = 0.0;   // lowest score of the block
  double high = 0.0;  // highest score
  double tar = 0.0;
  double non = 0.0;
  double posterior = 0.0;  // with Laplace's additions where asked
  double llr = 0.0;        // natural log; ±inf where a block holds one class alone (kPlain)
};

struct Pav {
  std::vector<PavBlock> blocks;  // rising scores and posteriors; each holds some data
  double n_tar = 0.0;
  double n_non = 0.0;
};

Pav FitPav(const ScoreLevels& data, PavRule rule = PavRule::kPlain);

// The fit with Laplace's rule from the plain one, without another pass over the data.
Pav WithLaplace(const Pav& plain);

// The LLR of each score under a fit: constant inside blocks, linear in the LLR between the highest
// score of a block and the lowest of the next (beside an infinite LLR that of the other block, 0
// between two), constant beyond the ends. For scores the fit was made from this is their block's
// LLR.
std::vector<double> PavLlrs(const Pav& pav, std::span<const double> scores);

// The same for the scores themselves (oracle calibration), in the order given.
std::vector<double> PavLlrs(std::span<const double> scores, std::span<const std::uint8_t> is_target,
                            PavRule rule);

}  // namespace sotto
