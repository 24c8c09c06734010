#include "dsp/f0.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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

double Nuttall(double u) {
  const double v = 2.0 * kPi * u;
  return 0.355768 - 0.487396 * std::cos(v) + 0.144232 * std::cos(2.0 * v) -
         0.012604 * std::cos(3.0 * v);
}

void FilterBand(const LowSignal& low, std::span<const float> taps, std::vector<float>& filtered) {
  std::vector<float> padded(low.x.size() + taps.size() - 1, 0.0F);
  std::copy(low.x.begin(), low.x.end(),
            padded.begin() + static_cast<std::ptrdiff_t>(taps.size() / 2));
  filtered.resize(low.x.size());
  Correlate(padded, taps, filtered);
}

void IntervalFrequencies::MeasureOne(std::span<const float> signal, bool rising, double offset,
                                     double rate_hz, std::span<const double> centres,
                                     std::vector<float>& hz) {
  crossings_.clear();
  // A crossing lies before sample i when its sign differs from that of i − 1.
  std::uint64_t carry = positive_[0] & 1U;
  for (std::size_t word = 0; word < positive_.size(); ++word) {
    const std::uint64_t now = positive_[word], before = (now << 1U) | carry;
    carry = now >> 63U;
    for (std::uint64_t left = rising ? now & ~before : before & ~now; left != 0; left &= left - 1) {
      const std::size_t i = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
      if (i >= signal.size()) break;
      const float a = signal[i - 1], b = signal[i];
      crossings_.push_back(static_cast<double>(i) - 1.0 + offset + a / (a - b));
    }
  }
  hz.assign(centres.size(), 0.0F);
  const std::size_t intervals = crossings_.empty() ? 0 : crossings_.size() - 1;
  // Between the middles of neighbouring intervals the frequency is linear.
  std::size_t t = 0;
  for (std::size_t j = 0; j + 1 < intervals; ++j) {
    const double left = crossings_[j + 1] - crossings_[j],
                 right = crossings_[j + 2] - crossings_[j + 1];
    const double from = crossings_[j] + 0.5 * left, to = crossings_[j + 1] + 0.5 * right;
    while (t < centres.size() && centres[t] < from) ++t;
    const double base = rate_hz / left, rise = (rate_hz / right - base) / (to - from);
    for (; t < centres.size() && centres[t] < to; ++t) {
      hz[t] = static_cast<float>(base + rise * (centres[t] - from));
    }
  }
}

void IntervalFrequencies::Measure(std::span<const float> band, double rate_hz,
                                  std::span<const double> centres) {
  PositiveBits(band, positive_);
  MeasureOne(band, false, 0.0, rate_hz, centres, hz_[0]);
  MeasureOne(band, true, 0.0, rate_hz, centres, hz_[1]);
  // Peaks and dips are crossings of the slope, which lies half a sample after its first sample.
  slope_.resize(band.empty() ? 0 : band.size() - 1);
  for (std::size_t i = 0; i < slope_.size(); ++i) slope_[i] = band[i + 1] - band[i];
  PositiveBits(slope_, positive_);
  MeasureOne(slope_, false, 0.5, rate_hz, centres, hz_[2]);
  MeasureOne(slope_, true, 0.5, rate_hz, centres, hz_[3]);
}

IntervalFrequencies::Estimate IntervalFrequencies::At(std::size_t frame) const {
  double sum = 0.0, squares = 0.0;
  for (const auto& hz : hz_) {
    if (hz[frame] <= 0.0F) return {};
    sum += hz[frame];
    squares += static_cast<double>(hz[frame]) * hz[frame];
  }
  const double mean = sum / 4.0;
  return {mean, std::sqrt(std::max(0.0, squares / 4.0 - mean * mean)) / mean};
}

Refiner::Result Refiner::Step(double centre, double guess_hz, int harmonics) {
  // A Blackman window of three periods around the very centre, and its slope.
  const double half = 1.5 * low_.rate_hz / guess_hz;
  const auto from =
      std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(std::ceil(centre - half)));
  const auto to = std::min(static_cast<std::ptrdiff_t>(low_.x.size()),
                           static_cast<std::ptrdiff_t>(centre + half) + 1);
  if (to <= from) return {guess_hz, 1.0};
  const auto size = static_cast<std::size_t>(to - from);
  const std::size_t padded = (size + 15) / 16 * 16;
  for (auto* v : {&frame_, &slope_, &cosine_, &sine_, &first_c_, &first_s_}) v->resize(padded);
  // The window turns by theta a sample, the fundamental by three times as much. Sixteen samples are
  // turned one by one, the others by sixteen steps at once.
  const double theta = kPi / half, omega = 3.0 * theta;
  constexpr std::size_t kStride = 16;
  const double start = theta * (static_cast<double>(from) - centre);
  double c = std::cos(start), s = std::sin(start);
  const double step_c = std::cos(theta), step_s = std::sin(theta);
  for (std::size_t i = 0; i < kStride; ++i) {
    first_c_[i] = static_cast<float>(c);
    first_s_[i] = static_cast<float>(s);
    const double t = c * step_c - s * step_s;
    s = s * step_c + c * step_s;
    c = t;
  }
  const auto stride_c = static_cast<float>(std::cos(kStride * theta));
  const auto stride_s = static_cast<float>(std::sin(kStride * theta));
  for (std::size_t j = kStride; j < padded; j += kStride) {
    const float *uc = first_c_.data() + j - kStride, *us = first_s_.data() + j - kStride;
    float *vc = first_c_.data() + j, *vs = first_s_.data() + j;
    for (std::size_t i = 0; i < kStride; ++i) {
      vc[i] = uc[i] * stride_c - us[i] * stride_s;
      vs[i] = us[i] * stride_c + uc[i] * stride_s;
    }
  }
  const float* x = low_.x.data() + from;
  const auto slope_scale = static_cast<float>(-theta);
  for (std::size_t i = 0; i < size; ++i) {
    const float u = first_c_[i], v = first_s_[i];
    frame_[i] = x[i] * (0.34F + 0.5F * u + 0.16F * u * u);
    slope_[i] = x[i] * slope_scale * v * (0.5F + 0.32F * u);
    first_c_[i] = cosine_[i] = u * (4.0F * u * u - 3.0F);  // cos 3θ
    first_s_[i] = sine_[i] = v * (3.0F - 4.0F * v * v);
  }
  std::fill(frame_.begin() + static_cast<std::ptrdiff_t>(size), frame_.end(), 0.0F);
  std::fill(slope_.begin() + static_cast<std::ptrdiff_t>(size), slope_.end(), 0.0F);
  std::fill(cosine_.begin() + static_cast<std::ptrdiff_t>(size), cosine_.end(), 0.0F);
  std::fill(sine_.begin() + static_cast<std::ptrdiff_t>(size), sine_.end(), 0.0F);
  double frequencies = 0.0, weights = 0.0, deviation = 0.0;
  int used = 0;
  for (int k = 1; k <= harmonics && k * guess_hz < 0.45 * low_.rate_hz; ++k) {
    if (k > 1) Rotate(first_c_, first_s_, cosine_, sine_);
    const FourSums sums = SumProducts(frame_, slope_, cosine_, sine_);
    const double re = sums.ac, im = -sums.as, slope_re = sums.bc, slope_im = -sums.bs;
    const double power = re * re + im * im;
    ++used;
    if (power <= 0.0) {
      deviation += 1.0;
      continue;
    }
    // ω_i = ω − Im(X'·X*)/|X|², X' the spectrum under the window's slope.
    const double shift = -(slope_im * re - slope_re * im) / power;
    const double amplitude = std::sqrt(power);
    frequencies += amplitude * (k * omega + shift);
    weights += amplitude * k;
    deviation += std::abs(shift) / (k * omega);
  }
  if (weights <= 0.0) return {guess_hz, 1.0};
  return {frequencies / weights * low_.rate_hz / (2.0 * kPi), deviation / used};
}

double Refiner::Refine(double centre, double guess_hz) {
  double f0 = guess_hz;
  for (const int harmonics : {2, 6}) {
    const double refined = Step(centre, f0, harmonics).hz;
    if (!(std::abs(refined / guess_hz - 1.0) < 0.2)) return guess_hz;
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
  const std::size_t step = F0Decimation(rate_hz);
  f0::LowSignal low{f0::Decimate(x, step), rate_hz / static_cast<double>(step)};
  f0::CutBelow(0.7 * options.floor_hz, low.rate_hz, low.x);
  const auto place = [&](double frame) {
    return (frame * options.frame_period_s * rate_hz - static_cast<double>(origin)) /
           static_cast<double>(step);
  };
  std::vector<double> centres(frames);
  for (std::size_t t = 0; t < frames; ++t) centres[t] = place(static_cast<double>(first_frame + t));

  const std::vector<double> guide = f0::TrackByCorrelation(low, centres, options);
  std::vector<double> track;
  if (options.method == F0Method::kFast) {
    track = f0::TrackByIntervals(low, centres, guide, options);
  } else {
    const auto fine = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(options.frame_period_s / 0.001)));
    std::vector<double> fine_centres, fine_guide;
    for (std::size_t i = 0; i < frames * fine; ++i) {
      fine_centres.push_back(place(static_cast<double>(first_frame) +
                                   static_cast<double>(i) / static_cast<double>(fine)));
      fine_guide.push_back(guide[std::min(frames - 1, (i + fine / 2) / fine)]);
    }
    const auto fine_track = f0::TrackByBands(low, fine_centres, fine_guide, options);
    for (std::size_t t = 0; t < frames; ++t) track.push_back(fine_track[t * fine]);
  }
  f0::Refiner refiner(low);
  for (std::size_t t = 0; t < frames; ++t) {
    if (track[t] <= 0.0) continue;
    track[t] = std::clamp(refiner.Refine(centres[t], track[t]), options.floor_hz, options.ceil_hz);
  }
  return track;
}

std::vector<double> EstimateF0(std::span<const float> x, int rate_hz, const F0Options& options) {
  const double hop = rate_hz * options.frame_period_s;
  return EstimateF0(x, rate_hz, options, 0, 0,
                    static_cast<std::size_t>(static_cast<double>(x.size()) / hop + 1e-9) + 1);
}

}  // namespace sotto
