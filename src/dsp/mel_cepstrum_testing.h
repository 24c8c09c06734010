// For tests and benchmarks only: mel-cepstra of vocoder envelopes and the distance between them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "dsp/vocoder.h"

namespace sotto::testing {

// The bilinear warp α that resembles the mel scale at a rate: 0.42 at 16 kHz, 0.55 at 48 kHz.
inline double MelAlpha(int rate_hz) {
  // Between the values in use, the warp is nearly linear in the logarithm of the rate.
  const double u = std::log2(rate_hz / 16000.0) / std::log2(3.0);
  return 0.42 + (0.55 - 0.42) * u;
}

// c_0 … c_order a frame, with ln|H(ω)| = Σ c_m·cos(m·ω̃) and ω̃ the frequency warped by α (Tokuda et
// al. 1994), from the envelope by cosine series on the warped axis.
inline std::vector<double> MelCepstra(const VocoderFrames& frames, std::size_t order,
                                      double alpha) {
  const std::size_t bins = frames.Bins();
  constexpr double kPi = std::numbers::pi;
  // Integration over the warped axis is integration over ω with weight dω̃/dω (trapezoidal rule).
  std::vector<float> weights((order + 1) * bins);
  for (std::size_t k = 0; k < bins; ++k) {
    const double omega = kPi * static_cast<double>(k) / static_cast<double>(bins - 1);
    const double warped =
        omega + 2.0 * std::atan2(alpha * std::sin(omega), 1.0 - alpha * std::cos(omega));
    const double slope =
        (1.0 - alpha * alpha) / (1.0 - 2.0 * alpha * std::cos(omega) + alpha * alpha);
    const double step =
        (k == 0 || k == bins - 1 ? 0.5 : 1.0) * slope / static_cast<double>(bins - 1);
    for (std::size_t m = 0; m <= order; ++m) {
      weights[m * bins + k] = static_cast<float>((m == 0 ? 1.0 : 2.0) * step *
                                                 std::cos(static_cast<double>(m) * warped));
    }
  }
  std::vector<double> cepstra;
  cepstra.reserve(frames.Frames() * (order + 1));
  std::vector<float> log(bins);
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    const auto envelope = frames.Envelope(t);
    for (std::size_t k = 0; k < bins; ++k) log[k] = 0.5F * std::log(std::max(envelope[k], 1e-16F));
    for (std::size_t m = 0; m <= order; ++m) {
      double sum = 0.0;
      for (std::size_t k = 0; k < bins; ++k)
        sum += static_cast<double>(weights[m * bins + k]) * log[k];
      cepstra.push_back(sum);
    }
  }
  return cepstra;
}

struct MelCepstralDistortion {
  double mean_db = 0.0;         // over all frames
  double mean_voiced_db = 0.0;  // over frames voiced in the first
};

// 10/ln 10·√(2·Σ_{m=1}^{24} (c_m − c'_m)²) (Kubichek 1993), frame by frame without time alignment.
// Throws Error unless both have the same rate, period and number of frames.
inline MelCepstralDistortion CompareEnvelopes(const VocoderFrames& a, const VocoderFrames& b) {
  if (a.Frames() != b.Frames() || a.rate_hz != b.rate_hz || a.frame_period_s != b.frame_period_s) {
    throw Error(
        fmt::format("envelopes of {} frames at {} Hz and {} frames at {} Hz cannot be compared",
                    a.Frames(), a.rate_hz, b.Frames(), b.rate_hz));
  }
  constexpr std::size_t kOrder = 24;
  const double alpha = MelAlpha(a.rate_hz);
  const auto x = MelCepstra(a, kOrder, alpha), y = MelCepstra(b, kOrder, alpha);
  MelCepstralDistortion result;
  std::size_t voiced = 0;
  for (std::size_t t = 0; t < a.Frames(); ++t) {
    double squares = 0.0;
    for (std::size_t m = t * (kOrder + 1) + 1; m < (t + 1) * (kOrder + 1); ++m) {
      squares += (x[m] - y[m]) * (x[m] - y[m]);
    }
    const double db = 10.0 / std::numbers::ln10 * std::sqrt(2.0 * squares);
    result.mean_db += db;
    if (a.f0_hz[t] <= 0.0) continue;
    result.mean_voiced_db += db;
    ++voiced;
  }
  result.mean_db /= static_cast<double>(std::max<std::size_t>(1, a.Frames()));
  result.mean_voiced_db /= static_cast<double>(std::max<std::size_t>(1, voiced));
  return result;
}

}  // namespace sotto::testing
