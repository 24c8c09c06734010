// Composition by the privacy loss distribution (Koskela et al. 2020; Gopi et al. 2021): bounds from
// above and below on the smallest epsilon of any number of mechanisms used together.
//
// The single-use losses are put on a grid twice (loss_model.h), once so that the result can only be
// too high and once so that it can only be too low; both are convolved by one FFT, real and
// imaginary part. Before that the masses are tilted by exp(θ·loss), θ chosen so that the composed
// distribution has its bulk where delta is decided (a saddle point); after it the tilt is taken off
// again. The FFT's errors are then relative to the tail and not to 1: a delta of 1e-15 has as many
// digits as one of 1e-3. What is cut off, folded over by the FFT or rounded by it is bounded and
// added to the upper and taken from the lower result.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dp/event.h"

namespace sotto {

struct PldOptions {
  // How far the grid may move epsilon, roughly; the bounds are valid whatever it is.
  double tolerance = 2e-5;
  std::size_t max_points = std::size_t{1}
                           << 21;  // of the FFT; a coarser grid where it is not enough
  void Validate() const;
};

struct PldEpsilon {
  double eps = 0.0;        // never below the truth (infinity where delta cannot be met)
  double eps_lower = 0.0;  // never above it
  double step = 0.0;       // of the grid, the largest used
  std::size_t points = 0;  // of the FFT, the largest used
};

// One record added or removed; the worse of both directions. delta down to 1e-100.
PldEpsilon PldCompose(std::span<const PrivacyEvent> events, double delta,
                      const PldOptions& options = {});

}  // namespace sotto
