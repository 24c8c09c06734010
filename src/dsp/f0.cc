#include "dsp/f0.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "dsp/f0_internal.h"
#include "dsp/vector_math.h"

namespace sotto {
namespace f0 {
namespace {

constexpr double kPi = std::numbers::pi;

// Every step-th sample of x, low-pass filtered (windowed sinc, 8 zero crossings a side, −6 dB at
// 0.45 of the new rate), silent outside.
std::vector<float> Decimate(std::span<const float> x, std::size_t step) {
  if (step == 1) return {x.begin(), x.end()};
  const std::size_t half = 8 * step;
  std::vector<float> taps(2 * half + 1);
  double sum = 0.0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double t = static_cast<double>(i) - static_cast<double>(half);
    const double u = 0.9 * kPi * t / static_cast<double>(step);
    const double w = 0.5 + 0.5 * std::cos(kPi * t / static_cast<double>(half + 1));
    const double tap = w * (t == 0.0 ? 1.0 : std::sin(u) / u);
    taps[i] = static_cast<float>(tap);
    sum += tap;
  }
  for (float& tap : taps) tap = static_cast<float>(tap / sum);
  std::vector<float> y((x.size() + step - 1) / step);
  for (std::size_t m = 0; m < y.size(); ++m) {
    const std::size_t centre = m * step;
    const std::size_t from = centre - std::min(centre, half);
    const std::size_t to = std::min(x.size(), centre + half + 1);
    y[m] = Dot(x.subspan(from, to - from), {taps.data() + (from + half - centre), to - from});
  }
  return y;
}

// x minus its mean under a Hann window of two periods of `cut_hz`.
void CutBelow(double cut_hz, double rate_hz, std::vector<float>& x) {
  const auto half = static_cast<std::size_t>(rate_hz / cut_hz);
  std::vector<float> taps(2 * half + 1);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double t = static_cast<double>(i) - static_cast<double>(half);
    taps[i] = static_cast<float>((0.5 + 0.5 * std::cos(kPi * t / static_cast<double>(half + 1))) /
                                 static_cast<double>(half + 1));
  }
  std::vector<float> padded(x.size() + 2 * half), mean(x.size());
  std::copy(x.begin(), x.end(), padded.begin() + static_cast<std::ptrdiff_t>(half));
  Correlate(padded, taps, mean);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= mean[i];
}

}  // namespace

LowSignal MakeLowSignal(std::span<const float> x, int rate_hz, const F0Options& options,
                        std::size_t origin, std::size_t first_frame, std::size_t frames) {
  const std::size_t step = F0Decimation(rate_hz);
  LowSignal low;
  low.rate_hz = rate_hz / static_cast<double>(step);
  low.x = Decimate(x, step);
  CutBelow(0.7 * options.floor_hz, low.rate_hz, low.x);
  for (std::size_t t = 0; t < frames; ++t) {
    low.centres.push_back((static_cast<double>(first_frame + t) * options.frame_period_s * rate_hz -
                           static_cast<double>(origin)) /
                          static_cast<double>(step));
  }
  return low;
}

double Refiner::Step(double centre, double f0_hz, int harmonics) {
  // A Blackman window of three periods around the very centre, and its slope.
  const double half = 1.5 * low_.rate_hz / f0_hz;
  const auto from =
      std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(std::ceil(centre - half)));
  const auto to = std::min(static_cast<std::ptrdiff_t>(low_.x.size()),
                           static_cast<std::ptrdiff_t>(centre + half) + 1);
  if (to <= from) return f0_hz;
  const auto size = static_cast<std::size_t>(to - from);
  for (auto* v : {&frame_, &slope_, &cosine_, &sine_, &first_c_, &first_s_}) v->resize(size);
  const double omega = 2.0 * kPi * f0_hz / low_.rate_hz;
  // The window turns by theta a sample, the fundamental by three times as much.
  const double theta = kPi / half;
  double c = std::cos(theta * (static_cast<double>(from) - centre));
  double s = std::sin(theta * (static_cast<double>(from) - centre));
  const double step_c = std::cos(theta), step_s = std::sin(theta);
  for (std::size_t i = 0; i < size; ++i) {
    const double x = low_.x[static_cast<std::size_t>(from) + i];
    frame_[i] = x * (0.34 + 0.5 * c + 0.16 * c * c);
    slope_[i] = -x * theta * s * (0.5 + 0.32 * c);
    first_c_[i] = cosine_[i] = c * (4.0 * c * c - 3.0);  // cos 3θ
    first_s_[i] = sine_[i] = s * (3.0 - 4.0 * s * s);
    const double t = c * step_c - s * step_s;
    s = s * step_c + c * step_s;
    c = t;
  }
  double frequencies = 0.0, weights = 0.0;
  for (int k = 1; k <= harmonics && k * f0_hz < 0.45 * low_.rate_hz; ++k) {
    double re = 0.0, im = 0.0, slope_re = 0.0, slope_im = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      re += frame_[i] * cosine_[i];
      im -= frame_[i] * sine_[i];
      slope_re += slope_[i] * cosine_[i];
      slope_im -= slope_[i] * sine_[i];
    }
    const double power = re * re + im * im;
    if (power > 0.0) {
      // ω_i = ω − Im(X'·X*)/|X|², X' the spectrum under the window's slope.
      const double shift = -(slope_im * re - slope_re * im) / power;
      const double amplitude = std::sqrt(power);
      frequencies += amplitude * (k * omega + shift);
      weights += amplitude * k;
    }
    if (k == harmonics) break;
    for (std::size_t i = 0; i < size; ++i) {
      const double next = cosine_[i] * first_c_[i] - sine_[i] * first_s_[i];
      sine_[i] = sine_[i] * first_c_[i] + cosine_[i] * first_s_[i];
      cosine_[i] = next;
    }
  }
  return weights > 0.0 ? frequencies / weights * low_.rate_hz / (2.0 * kPi) : f0_hz;
}

double Refiner::Refine(double centre, double first_guess_hz) {
  double f0 = first_guess_hz;
  for (const int harmonics : {2, 6}) {
    const double refined = Step(centre, f0, harmonics);
    if (!(std::abs(refined / first_guess_hz - 1.0) < 0.2)) return first_guess_hz;
    f0 = refined;
  }
  return f0;
}

}  // namespace f0

std::size_t F0Decimation(int rate_hz) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(rate_hz) / 4000);
}

std::vector<double> EstimateF0(std::span<const float> x, int rate_hz, const F0Options& options,
                               std::size_t origin, std::size_t first_frame, std::size_t frames) {
  if (origin % F0Decimation(rate_hz) != 0) {
    throw Error(fmt::format("F0 of a piece from sample {}: must be a multiple of {}", origin,
                            F0Decimation(rate_hz)));
  }
  const f0::LowSignal low = f0::MakeLowSignal(x, rate_hz, options, origin, first_frame, frames);
  std::vector<double> track = options.method == F0Method::kFast
                                  ? f0::TrackByIntervals(low, options)
                                  : f0::TrackByCorrelation(low, options);
  f0::Refiner refiner(low);
  for (std::size_t t = 0; t < track.size(); ++t) {
    if (track[t] <= 0.0) continue;
    track[t] =
        std::clamp(refiner.Refine(low.centres[t], track[t]), options.floor_hz, options.ceil_hz);
  }
  return track;
}

std::vector<double> EstimateF0(std::span<const float> x, int rate_hz, const F0Options& options) {
  const double hop = rate_hz * options.frame_period_s;
  return EstimateF0(x, rate_hz, options, 0, 0,
                    static_cast<std::size_t>(static_cast<double>(x.size()) / hop + 1e-9) + 1);
}

}  // namespace sotto
