// Frequency warps: monotone maps of [0, π] onto itself that move formants.
//
// VoiceMask (Qian et al., "Hidebehind", SenSys 2018): h(ω) = g(f(ω, α), β) with the bilinear map
//
//     f(ω, α) = |−i·ln((z − α)/(1 − αz))|, z = e^{iω},   that is ω + 2·atan(α sin ω/(1 − α cos ω)),
//     g(ω, β) = ω + β·(ω/π − (ω/π)²).
//
// f is monotone for |α| < 1 and g for |β| < π (its slope at the ends is 1 ± β/π), so h is too.
//
// VTLN (Sündermann & Ney 2003): the power map ω' = π·(ω/π)^{1−a}.
//
// All parameters are meant for 16 kHz, where they were published: π stands for 8 kHz at every
// sampling rate, and what lies above 8 kHz stays where it is.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace sotto {

inline constexpr double kWarpTopHz = 8000.0;

double BilinearWarp(double omega, double alpha);
double QuadraticWarp(double omega, double beta);
// h(ω) = g(f(ω, α), β)
double VoiceMaskWarp(double omega, double alpha, double beta);
double PowerWarp(double omega, double a);

// A warp made ready for spectra of `bins` values from 0 Hz to `top_hz`: out(h(ω)) = in(ω), linear
// between bins.
class SpectrumWarp {
 public:
  // `warp` must be monotone on [0, π] with warp(0) = 0 and warp(π) = π; Error otherwise.
  SpectrumWarp(std::size_t bins, double top_hz, const std::function<double(double)>& warp);

  // `in` and `out` have `bins` values and are not the same.
  void Apply(std::span<const float> in, std::span<float> out) const;

 private:
  std::vector<float> source_;  // for each bin of the output, the place in the input it comes from
};

// The same for the power map with a factor of its own for each frame; the inverse is known in
// closed form.
class PowerSpectrumWarp {
 public:
  PowerSpectrumWarp(std::size_t bins, double top_hz);
  void Apply(double a, std::span<const float> in, std::span<float> out) const;

 private:
  double top_bin_;               // the place of 8 kHz
  std::vector<double> log_bin_;  // ln(bin/top_bin_) of the bins 1 … below 8 kHz
};

}  // namespace sotto
