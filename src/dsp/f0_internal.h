// Parts of the F0 estimators; include f0.h instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/f0.h"

namespace sotto::f0 {

// The signal at about 4 kHz with everything below the lowest voice taken out.
struct LowSignal {
  std::vector<float> x;
  double rate_hz = 4000.0;
};

// `centres` are the frames' places in samples of the low signal. All return F0 per frame, 0:
// unvoiced.
std::vector<double> TrackByCorrelation(const LowSignal& low, std::span<const double> centres,
                                       const F0Options& options);
// `guide_hz` (0: none) decides between candidates where one is within 5 % of it.
std::vector<double> TrackByIntervals(const LowSignal& low, std::span<const double> centres,
                                     std::span<const double> guide_hz, const F0Options& options);
// The same about 1 ms apart.
std::vector<double> TrackByBands(const LowSignal& low, std::span<const double> centres,
                                 std::span<const double> guide_hz, const F0Options& options);

// Nuttall's window (1981; four terms, continuous first derivative) at 0 ≤ u ≤ 1.
double Nuttall(double u);

// A band of the low signal, filtered by taps symmetric about their middle.
void FilterBand(const LowSignal& low, std::span<const float> taps, std::vector<float>& filtered);

// The frequency of a nearly sinusoidal band four ways: from the intervals between falling and
// rising zero crossings, peaks and dips, interpolated at the centres; 0 before the first and after
// the last.
class IntervalFrequencies {
 public:
  void Measure(std::span<const float> band, double rate_hz, std::span<const double> centres);
  struct Estimate {
    double mean_hz = 0.0;  // 0 unless all four are there
    double spread = 0.0;   // standard deviation over mean
  };
  Estimate At(std::size_t frame) const;

 private:
  // Crossings of `signal` through zero, upwards or downwards, shifted by `offset`, to hz_[kind].
  void MeasureOne(std::span<const float> signal, bool rising, double offset, double rate_hz,
                  std::span<const double> centres, std::vector<float>& hz);
  std::vector<float> hz_[4], slope_;
  std::vector<double> crossings_;
  std::vector<std::uint64_t> positive_;
};

// F0 from the instantaneous frequencies (Flanagan & Golden 1966) of the first harmonics, weighted
// by their amplitudes (StoneMask).
class Refiner {
 public:
  explicit Refiner(const LowSignal& low) : low_(low) {}
  struct Result {
    double hz = 0.0;
    double deviation = 1.0;  // mean over the harmonics of |f_k/k − guess|/guess
  };
  Result Step(double centre, double guess_hz, int harmonics);
  // Two steps; the guess is kept when the result strays from it by a fifth.
  double Refine(double centre, double guess_hz);

 private:
  const LowSignal& low_;
  std::vector<float> frame_, slope_, cosine_, sine_, first_c_, first_s_;
};

}  // namespace sotto::f0
