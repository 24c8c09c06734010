// VoiceMask's draw (Qian et al., "Hidebehind", SenSys 2018): the two numbers of the warp of
// dsp/warp.h, in secret.
#pragma once

#include <string>
#include <vector>

#include "targets/targets.h"

namespace sotto {

struct VoiceMaskWarpParameters {
  double alpha = 0.0;
  double beta = 0.0;
};

// Qian et al.'s ranges: |α| is drawn between min_alpha and max_alpha, its sign by a coin, and β
// between −max_beta and max_beta among the values whose distortion
// ∫₀^π |h(ω) − ω| dω, what a listener hears as the strength of the mask, lies in the range.
struct VoiceMaskOptions {
  double min_alpha = 0.08, max_alpha = 0.10;
  double max_beta = 2.0;
  double min_distortion = 0.32, max_distortion = 0.40;

  // Throws Error unless the ranges are ordered and every h they allow is monotone.
  void Validate() const;
};

struct BetaInterval {
  double lo = 0.0, hi = 0.0;
};

// The β whose distortion lies in the range: h − ω is affine in β at every ω, so the distortion is
// convex in β, and the set is an interval or an interval with a gap. Empty when no β fits.
std::vector<BetaInterval> AllowedBetas(double alpha, const VoiceMaskOptions& options);

// Draws (α, β) under the key, uniformly: the result is that of drawing β until one fits, without
// the tries. Throws Error when no β fits.
VoiceMaskWarpParameters DrawVoiceMask(const TargetDraws& draws, const VoiceMaskOptions& options,
                                      const std::string& speaker, const std::string& utterance);

}  // namespace sotto
