// For tests only: voices whose F0 and envelope are known.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/random.h"

namespace sotto::testing {

// An all-pole vocal tract with resonances of 80 Hz bandwidth.
struct Tract {
  std::vector<double> formants_hz = {660, 1720, 2410, 3500};
  int rate_hz = 16000;
  double Magnitude(double hz) const {
    std::complex<double> h = 1.0;
    const double r = std::exp(-M_PI * 80.0 / rate_hz);
    const std::complex<double> z = std::polar(1.0, -2.0 * M_PI * hz / rate_hz);
    for (const double formant : formants_hz) {
      const double c = std::cos(2.0 * M_PI * formant / rate_hz);
      h *= (1.0 - 2.0 * r * c + r * r) / (1.0 - 2.0 * r * c * z + r * r * z * z);
    }
    return std::abs(h);
  }
};

// Σ_k |H(k·f0)|·cos(k·φ) with φ the integral of f0: pulses through H, of every harmonic below 95 %
// of the Nyquist frequency. The power envelope is |H|²·rate/(4·f0), times gain².
inline std::vector<float> Voice(double seconds, int rate_hz,
                                const std::function<double(double)>& f0_at,
                                const std::function<double(double)>& magnitude,
                                double gain = 0.05) {
  std::vector<float> x(static_cast<std::size_t>(seconds * rate_hz));
  double phase = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f0 = f0_at(static_cast<double>(i) / rate_hz);
    double sum = 0.0;
    for (int k = 1; k * f0 < 0.475 * rate_hz; ++k) sum += magnitude(k * f0) * std::cos(k * phase);
    x[i] = static_cast<float>(gain * sum);
    phase += 2.0 * M_PI * f0 / rate_hz;
  }
  return x;
}

inline std::vector<float> Pulses(double seconds, int rate_hz, double f0_hz) {
  return Voice(
      seconds, rate_hz, [=](double) { return f0_hz; }, [](double) { return 1.0; });
}

inline std::vector<float> WhiteNoise(std::size_t n, double deviation = 0.1) {
  SeededRng rng(7);
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(deviation * rng.Gaussian());
  return x;
}

}  // namespace sotto::testing
