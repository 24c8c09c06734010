#include "dsp/envelope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsp/vector_math.h"

namespace sotto {
namespace {

// −160 dB: far below 16-bit quantisation (−101 dB), above the smallest floats.
constexpr float kPowerFloor = 1e-16F;

// l(τ) = sin(π·f0·τ)/(π·f0·τ)·(q0 + 2·q1·cos(2π·f0·τ)), over the FFT size.
void MakeLifter(double f0_hz, int rate_hz, double q1, std::size_t fft_size,
                std::span<float> lifter) {
  const double theta = std::numbers::pi * f0_hz / rate_hz;
  const double twice = 2.0 * std::cos(theta);
  const double scale = 1.0 / static_cast<double>(fft_size);
  double s = std::sin(theta), before = 0.0;
  lifter[0] = static_cast<float>(scale);
  for (std::size_t n = 1; n < lifter.size(); ++n) {
    const double recovery = 1.0 - 2.0 * q1 + 2.0 * q1 * (1.0 - 2.0 * s * s);
    lifter[n] = static_cast<float>(scale * recovery * s / (theta * static_cast<double>(n)));
    const double next = twice * s - before;
    before = s;
    s = next;
  }
}

// The power of one pulse a period, its energy the period, through the envelope: without the offset.
double PowerThrough(std::span<const float> envelope, double f0_bins) {
  const auto last = static_cast<double>(envelope.size() - 1);
  double sum = 0.0;
  for (double at = f0_bins; at < last; at += f0_bins) {
    const auto k = static_cast<std::size_t>(at);
    sum += envelope[k] + (at - static_cast<double>(k)) * (envelope[k + 1] - envelope[k]);
  }
  return sum * f0_bins / last;
}

}  // namespace

EnvelopeAnalyser::EnvelopeAnalyser(int rate_hz, std::size_t fft_size, double q1)
    : rate_hz_(rate_hz),
      q1_(q1),
      lowest_hz_(3.0 * rate_hz / (static_cast<double>(fft_size) - 3.0)),
      fft_(fft_size),
      frame_(fft_size),
      smoother_(fft_.Bins()),
      samples_(fft_size),
      re_(fft_.Bins()),
      im_(fft_.Bins()),
      lifter_(fft_.Bins()) {}

void EnvelopeAnalyser::Analyse(std::span<const float> x, std::ptrdiff_t centre, double f0_hz,
                               std::span<float> envelope) {
  const double f0 = f0_hz < lowest_hz_ ? kUnvoicedHz : f0_hz;
  const double f0_bins = f0 * static_cast<double>(fft_.Size()) / rate_hz_;
  frame_.Cut(x, centre, 1.5 * rate_hz_ / f0, WindowShape::kHann, samples_);
  fft_.Forward(samples_, re_, im_);
  const auto scale = static_cast<float>(1.0 / frame_.WindowEnergy());
  for (std::size_t k = 0; k < re_.size(); ++k) {
    envelope[k] = scale * (re_[k] * re_[k] + im_[k] * im_[k]);
  }
  double power = 0.0;
  for (std::size_t k = 1; k + 1 < envelope.size(); ++k) power += envelope[k];
  power /= static_cast<double>(envelope.size() - 1);
  FillBelowF0(envelope, f0_bins, scratch_);
  smoother_.Smooth(envelope, 2.0 / 3.0 * f0_bins);
  LogInto(envelope, kPowerFloor, envelope);
  fft_.Even(envelope);
  if (f0 != lifter_hz_) MakeLifter(lifter_hz_ = f0, rate_hz_, q1_, fft_.Size(), lifter_);
  for (std::size_t k = 0; k < envelope.size(); ++k) envelope[k] *= lifter_[k];
  fft_.Even(envelope);
  ExpInto(envelope, envelope);
  if (f0 != f0_hz) return;
  // Sharpened peaks make a voiced frame up to 2 dB too strong: give it its power back.
  const double through = PowerThrough(envelope, f0_bins);
  if (power <= kPowerFloor || through <= 0.0) return;
  const auto gain = static_cast<float>(std::clamp(power / through, 0.25, 4.0));
  for (float& v : envelope) v *= gain;
}

}  // namespace sotto
