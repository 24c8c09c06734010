#include "audio/sinc_resampler.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/error.h"

namespace sotto {
namespace {

constexpr int kLobes = 20;    // samples of the lower rate to either side
constexpr int kPhases = 512;  // entries of the table for each of them
constexpr double kBand = 0.975, kBeta = 0.1102 * (80.0 - 8.7);

// Modified Bessel function of the first kind, order 0.
double Bessel(double x) {
  double sum = 1.0, term = 1.0;
  for (int k = 1; term > 1e-12 * sum; ++k) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

}  // namespace

SincResampler::SincResampler(double from_hz, double to_hz) {
  if (!(from_hz > 0.0) || !(to_hz > 0.0)) throw Error("sampling rates are above 0 Hz");
  step_ = from_hz / to_hz;
  stretch_ = std::max(1.0, step_);
  reach_ = static_cast<std::size_t>(std::ceil(kLobes * stretch_));
  for (int i = 0; i <= kLobes * kPhases; ++i) {
    const double t = static_cast<double>(i) / kPhases, phase = std::numbers::pi * kBand * t;
    const double sinc = i == 0 ? 1.0 : std::sin(phase) / phase;
    const double place = t / kLobes;
    table_.push_back(static_cast<float>(
        kBand * sinc * Bessel(kBeta * std::sqrt(1.0 - place * place)) / Bessel(kBeta) / stretch_));
  }
  table_.insert(table_.end(), 2 + static_cast<std::size_t>(kPhases), 0.0F);  // beyond the reach
}

// The sum of `count` samples, each weighed by the kernel at its distance: `at` entries of the table
// for the first of them, `step` more or fewer for each that follows; linear between two entries.
float SincResampler::Weigh(const float* x, std::size_t count, double at, double step) const {
  float sum = 0.0F;
  for (std::size_t k = 0; k < count; ++k) {
    const auto place = static_cast<float>(at + static_cast<double>(k) * step);
    const auto below = static_cast<std::int32_t>(place);
    const float low = table_[static_cast<std::size_t>(below)];
    const float high = table_[static_cast<std::size_t>(below) + 1];
    sum += x[k] * (low + (place - static_cast<float>(below)) * (high - low));
  }
  return sum;
}

// Output samples whose inputs lie before `end`; of the last ones the rest is silence.
void SincResampler::Emit(std::size_t end, bool last, std::vector<float>& out) {
  while (true) {
    const double place = static_cast<double>(made_) * step_;
    const auto whole = static_cast<std::size_t>(place);
    if (last ? whole >= end : whole + reach_ >= end) break;
    const std::size_t from = whole + 1 > reach_ ? whole + 1 - reach_ : 0;
    const std::size_t to = std::min(whole + reach_ + 1, end);
    const double entries = kPhases / stretch_;  // of the table, for an input sample
    const double behind = place - static_cast<double>(whole);
    const float* x = window_.data();
    out.push_back(
        Weigh(x + (from - first_), whole + 1 - from, (place - static_cast<double>(from)) * entries,
              -entries) +
        Weigh(x + (whole + 1 - first_), to - (whole + 1), (1.0 - behind) * entries, entries));
    ++made_;
  }
  const auto next = static_cast<std::size_t>(static_cast<double>(made_) * step_);
  const std::size_t keep = next + 1 > reach_ ? next + 1 - reach_ : 0;
  if (keep > first_ + 4096) {  // seldom: what is kept moves
    const std::size_t gone = std::min(keep - first_, window_.size());
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(gone));
    first_ += gone;
  }
}

void SincResampler::Push(std::span<const float> in, std::vector<float>& out) {
  window_.insert(window_.end(), in.begin(), in.end());
  taken_ += in.size();
  Emit(taken_, false, out);
}

void SincResampler::Finish(std::vector<float>& out) { Emit(taken_, true, out); }

}  // namespace sotto
