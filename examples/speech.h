// A voice made by arithmetic, so that the lessons know the truth.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <vector>

namespace sotto::examples {

using Formants = std::array<double, 4>;  // Hz

// Pulses at the pitch `f0_at(seconds)` through resonances at the formants, 16 kHz.
inline std::vector<float> Vowel(double seconds, const std::function<double(double)>& f0_at,
                                const Formants& formants) {
  constexpr double kRate = 16000.0;
  std::vector<float> x(static_cast<std::size_t>(seconds * kRate));
  std::array<std::array<double, 2>, 4> memory{};
  double phase = 1.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double y = 0.0;
    if (phase >= 1.0) {
      phase -= 1.0;
      y = 0.5;
    }
    phase += f0_at(static_cast<double>(i) / kRate) / kRate;
    for (std::size_t k = 0; k < formants.size(); ++k) {
      const double r = std::exp(-std::numbers::pi * (60.0 + 20.0 * static_cast<double>(k)) / kRate);
      const double c = 2.0 * r * std::cos(2.0 * std::numbers::pi * formants[k] / kRate);
      y = (1.0 - c + r * r) * y + c * memory[k][0] - r * r * memory[k][1];
      memory[k][1] = memory[k][0];
      memory[k][0] = y;
    }
    x[i] = static_cast<float>(y);
  }
  return x;
}

// The highest point of an envelope between two frequencies, in Hz.
inline double PeakHz(std::span<const float> envelope, double bin_hz, double from_hz, double to_hz) {
  const auto from = envelope.begin() + static_cast<std::ptrdiff_t>(from_hz / bin_hz);
  const auto to = envelope.begin() + static_cast<std::ptrdiff_t>(to_hz / bin_hz);
  return static_cast<double>(std::max_element(from, to) - envelope.begin()) * bin_hz;
}

}  // namespace sotto::examples
