// Parts of the F0 estimators; include f0.h instead.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dsp/f0.h"

namespace sotto::f0 {

// The signal at about 4 kHz with everything below the lowest voice taken out, and where the frames
// lie in it.
struct LowSignal {
  std::vector<float> x;
  double rate_hz = 4000.0;
  std::vector<double> centres;  // of the frames, in samples of x
};
LowSignal MakeLowSignal(std::span<const float> x, int rate_hz, const F0Options& options,
                        std::size_t origin, std::size_t first_frame, std::size_t frames);

std::vector<double> TrackByIntervals(const LowSignal& low, const F0Options& options);
std::vector<double> TrackByCorrelation(const LowSignal& low, const F0Options& options);

// F0 from the instantaneous frequencies (Flanagan & Golden 1966) of the first harmonics, weighted
// by their amplitudes (StoneMask). `first_guess_hz` is kept when the result strays from it by a
// fifth.
class Refiner {
 public:
  explicit Refiner(const LowSignal& low) : low_(low) {}
  double Refine(double centre, double first_guess_hz);

 private:
  double Step(double centre, double f0_hz, int harmonics);
  const LowSignal& low_;
  std::vector<double> frame_, slope_, cosine_, sine_, first_c_, first_s_;
};

}  // namespace sotto::f0
