// What CheapTrick and D4C share: windows as long as a few periods, and smoothing of spectra over a
// few harmonics.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

enum class WindowShape { kHann, kBlackman };

// A window of `periods` periods of f0 around sample `centre`, symmetric about it.
class AdaptiveFrame {
 public:
  explicit AdaptiveFrame(std::size_t capacity) : window_(capacity) {}

  // Writes the windowed samples into frame[0 … Length() − 1] and zeros behind them. The mean
  // (weighted by the window) is taken out, so that an offset has no spectrum. x is silent outside.
  void Cut(std::span<const float> x, std::ptrdiff_t centre, double half_length, WindowShape shape,
           std::span<float> frame);
  std::size_t Length() const { return length_; }
  double WindowEnergy() const { return window_energy_; }

 private:
  std::vector<float> window_;
  std::size_t length_ = 0;
  double window_energy_ = 0.0;
  double shape_half_length_ = 0.0;
  WindowShape shape_ = WindowShape::kHann;
};

// Means of a spectrum over `width` bins (not nec. whole) around each bin; the spectrum is continued
// as even at both ends. Doubles, since quiet bins lie 100 dB below loud ones.
class SpectrumSmoother {
 public:
  explicit SpectrumSmoother(std::size_t bins) : bins_(bins) {}
  void Smooth(std::span<float> spectrum, double width);

 private:
  std::size_t bins_;
  std::vector<double> sum_;
};

// Below F0 there is no harmonic: P(f) + P(f0 − f) for f < f0 fills the gap (CheapTrick).
void FillBelowF0(std::span<float> spectrum, double f0_bins, std::vector<float>& scratch);

}  // namespace sotto
