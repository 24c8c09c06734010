#include "dsp/warp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

float Interpolate(std::span<const float> in, float place) {
  const auto below = std::min(static_cast<std::size_t>(place), in.size() - 2);
  const float part = place - static_cast<float>(below);
  return in[below] + part * (in[below + 1] - in[below]);
}

}  // namespace

double BilinearWarp(double omega, double alpha) {
  return omega + 2.0 * std::atan2(alpha * std::sin(omega), 1.0 - alpha * std::cos(omega));
}

double QuadraticWarp(double omega, double beta) {
  const double t = omega / kPi;
  return omega + beta * (t - t * t);
}

double VoiceMaskWarp(double omega, double alpha, double beta) {
  return QuadraticWarp(BilinearWarp(omega, alpha), beta);
}

double PowerWarp(double omega, double a) { return kPi * std::pow(omega / kPi, 1.0 - a); }

SpectrumWarp::SpectrumWarp(std::size_t bins, double top_hz,
                           const std::function<double(double)>& warp)
    : source_(bins) {
  const double top_bin = static_cast<double>(bins - 1) * kWarpTopHz / top_hz;
  if (std::abs(warp(0.0)) > 1e-9 || std::abs(warp(kPi) - kPi) > 1e-9) {
    throw Error("a frequency warp must keep 0 and pi");
  }
  // h is sampled four times as finely as the bins and inverted between its samples.
  const auto steps = static_cast<std::size_t>(std::ceil(4.0 * top_bin));
  const double step = kPi / static_cast<double>(steps);
  std::vector<double> warped(steps + 1);
  for (std::size_t i = 1; i <= steps; ++i) {
    warped[i] = i == steps ? kPi : warp(step * static_cast<double>(i));
    if (warped[i] <= warped[i - 1]) throw Error("a frequency warp must be monotone");
  }
  std::size_t i = 1;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double target = static_cast<double>(bin) / top_bin * kPi;
    if (target >= kPi) {
      source_[bin] = static_cast<float>(bin);
      continue;
    }
    while (warped[i] < target) ++i;
    const double part = (target - warped[i - 1]) / (warped[i] - warped[i - 1]);
    source_[bin] = static_cast<float>(step * (static_cast<double>(i - 1) + part) / kPi * top_bin);
  }
}

void SpectrumWarp::Apply(std::span<const float> in, std::span<float> out) const {
  for (std::size_t bin = 0; bin < out.size(); ++bin) out[bin] = Interpolate(in, source_[bin]);
}

PowerSpectrumWarp::PowerSpectrumWarp(std::size_t bins, double top_hz)
    : top_bin_(static_cast<double>(bins - 1) * kWarpTopHz / top_hz) {
  for (std::size_t bin = 1; bin < bins && static_cast<double>(bin) < top_bin_; ++bin) {
    log_bin_.push_back(std::log(static_cast<double>(bin) / top_bin_));
  }
}

void PowerSpectrumWarp::Apply(double a, std::span<const float> in, std::span<float> out) const {
  std::copy(in.begin(), in.end(), out.begin());  // 0 Hz and what lies above 8 kHz stay
  const double exponent = 1.0 / (1.0 - a);
  for (std::size_t i = 0; i < log_bin_.size(); ++i) {
    out[i + 1] = Interpolate(in, static_cast<float>(top_bin_ * std::exp(exponent * log_bin_[i])));
  }
}

}  // namespace sotto
