// VTLN voice conversion: Sündermann & Ney, "VTLN-based voice conversion" (2003); seed of the
// COMPRISE voice transformer (Srivastava et al. 2020).
//
// A voice is k = 8 classes of envelopes (targets/envelope_classes.h) and the mean and deviation of
// its log F0. Fit: for each source class, the target class and the factor a of the power warp ω' =
// π(ω/π)^{1−a} that bring the source centroid, its frequency axis warped and its mean removed
// again, closest to the target's. Transform: each frame's envelope is warped by the factor of its
// class, the factors smoothed over time.
#pragma once

#include <span>
#include <vector>

#include "targets/pool.h"

namespace sotto {

// The grid of factors: −0.12, −0.10 … 0.10.
inline constexpr std::size_t kWarpSteps = 12;
double WarpFactor(std::size_t step);

ClassTargets FitClasses(const VoiceModel& source, const VoiceModel& target);

// Fits every voice to every voice of the pool.
VoiceProfile FitProfile(std::vector<VoiceModel> voices, const VoicePool& pool);

// The factor of each frame: `labels` are classes of the frames; the factors are averaged over
// frames up to `reach` before and behind.
std::vector<double> SmoothFactors(std::span<const double> factors, std::size_t reach);

}  // namespace sotto
