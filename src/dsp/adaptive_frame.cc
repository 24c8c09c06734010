#include "dsp/adaptive_frame.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sotto {

void AdaptiveFrame::Cut(std::span<const float> x, std::ptrdiff_t centre, double half_length,
                        WindowShape shape, std::span<float> frame) {
  const auto half = static_cast<std::size_t>(half_length);
  if (half_length != shape_half_length_ || shape != shape_) {
    shape_half_length_ = half_length;
    shape_ = shape;
    length_ = 2 * half + 1;
    window_.resize(std::max(window_.size(), length_));
    // cos(n·θ) by Chebyshev's recurrence; both windows are polynomials in it.
    const double theta = std::numbers::pi / half_length;
    const double twice = 2.0 * std::cos(theta);
    double c = 1.0, before = std::cos(theta);
    window_energy_ = 0.0;
    for (std::size_t n = 0; n <= half; ++n) {
      const double w =
          shape == WindowShape::kHann ? 0.5 + 0.5 * c : 0.42 + 0.5 * c + 0.08 * (2.0 * c * c - 1.0);
      window_[half + n] = window_[half - n] = static_cast<float>(w);
      window_energy_ += (n == 0 ? 1.0 : 2.0) * w * w;
      const double next = twice * c - before;
      before = c;
      c = next;
    }
  }
  const std::ptrdiff_t begin = centre - static_cast<std::ptrdiff_t>(half);
  const auto size = static_cast<std::ptrdiff_t>(x.size());
  const auto from = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(-begin, 0, static_cast<std::ptrdiff_t>(length_)));
  const auto to = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
      size - begin, static_cast<std::ptrdiff_t>(from), static_cast<std::ptrdiff_t>(length_)));
  std::fill(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(from), 0.0F);
  std::fill(frame.begin() + static_cast<std::ptrdiff_t>(to), frame.end(), 0.0F);
  float weights = 0.0F, sum = 0.0F;
  for (std::size_t i = from; i < to; ++i) {
    frame[i] = x[static_cast<std::size_t>(begin + static_cast<std::ptrdiff_t>(i))] * window_[i];
    sum += frame[i];
    weights += window_[i];
  }
  if (weights <= 0.0F) return;
  const float mean = sum / weights;
  for (std::size_t i = from; i < to; ++i) frame[i] -= mean * window_[i];
}

void SpectrumSmoother::Smooth(std::span<float> spectrum, double width) {
  // sum_[i] is the sum over the bins before bin i − margin of the spectrum continued evenly.
  const auto margin = static_cast<std::size_t>(width / 2.0) + 2;
  const std::size_t last = bins_ - 1;
  sum_.resize(bins_ + 2 * margin + 1);
  double total = 0.0;
  sum_[0] = 0.0;
  std::size_t at = 0;
  for (std::size_t k = margin; k > 0; --k) sum_[++at] = total += spectrum[std::min(k, last)];
  for (std::size_t k = 0; k < bins_; ++k) sum_[++at] = total += spectrum[k];
  for (std::size_t k = 1; k <= margin; ++k)
    sum_[++at] = total += spectrum[last - std::min(k, last)];
  // Bin k covers k − 1/2 … k + 1/2; the sum is linear in between.
  const double upper = static_cast<double>(margin) + 0.5 + width / 2.0;
  const double lower = static_cast<double>(margin) + 0.5 - width / 2.0;
  const auto u = static_cast<std::size_t>(upper), l = static_cast<std::size_t>(lower);
  const double uf = upper - static_cast<double>(u), lf = lower - static_cast<double>(l);
  const double scale = 1.0 / width;
  const double *hi = sum_.data() + u, *lo = sum_.data() + l;
  for (std::size_t k = 0; k < bins_; ++k) {
    const double high = hi[k] + uf * (hi[k + 1] - hi[k]);
    const double low = lo[k] + lf * (lo[k + 1] - lo[k]);
    spectrum[k] = static_cast<float>((high - low) * scale);
  }
}

void FillBelowF0(std::span<float> spectrum, double f0_bins, std::vector<float>& scratch) {
  const std::size_t count = std::min(static_cast<std::size_t>(f0_bins) + 1, spectrum.size() - 1);
  scratch.assign(spectrum.begin(), spectrum.begin() + static_cast<std::ptrdiff_t>(count) + 1);
  for (std::size_t k = 0; k < count; ++k) {
    const double mirror = f0_bins - static_cast<double>(k);
    const auto i = std::min(static_cast<std::size_t>(mirror), count - 1);
    const double fraction = std::min(1.0, mirror - static_cast<double>(i));
    spectrum[k] += static_cast<float>((1.0 - fraction) * scratch[i] + fraction * scratch[i + 1]);
  }
}

}  // namespace sotto
