#include "voice/resampled.h"

#include <algorithm>
#include <cmath>

namespace sotto {

Resampled::Resampled(std::unique_ptr<StreamTransformer> inner, int outer_rate_hz, int inner_rate_hz,
                     double peak_limit, ResamplerFilter filter)
    : inner_(std::move(inner)),
      ratio_(static_cast<double>(outer_rate_hz) / inner_rate_hz),
      peak_limit_(static_cast<float>(peak_limit)),
      down_(outer_rate_hz, inner_rate_hz, filter),
      up_(inner_rate_hz, outer_rate_hz, filter) {}

void Resampled::Push(std::span<const float> in, std::vector<float>& out) {
  pushed_ += in.size();
  low_in_.clear();
  low_out_.clear();
  down_.Push(in, low_in_);
  inner_->Push(low_in_, low_out_);
  up_.Push(low_out_, high_);
  Deliver(out);
}

void Resampled::Finish(std::vector<float>& out) {
  low_in_.clear();
  low_out_.clear();
  down_.Finish(low_in_);
  inner_->Push(low_in_, low_out_);
  inner_->Finish(low_out_);
  up_.Push(low_out_, high_);
  up_.Finish(high_);
  high_.resize(pushed_ - emitted_, 0.0F);
  Deliver(out);
}

void Resampled::Deliver(std::vector<float>& out) {
  const std::size_t count = std::min(high_.size(), pushed_ - emitted_);
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(std::clamp(high_[i], -peak_limit_, peak_limit_));
  }
  high_.erase(high_.begin(), high_.begin() + static_cast<std::ptrdiff_t>(count));
  emitted_ += count;
}

std::size_t Resampled::LatencySamples() const {
  const double inner = static_cast<double>(inner_->LatencySamples());
  if (const auto down = down_.Reach(), up = up_.Reach(); down && up) {
    // One more sample of each rate, since their places lie between one another.
    const double samples = (inner + static_cast<double>(*up) + 1.0) * ratio_;
    return static_cast<std::size_t>(std::ceil(samples)) + *down + 1;
  }
  // Measured with libsoxr's HQ recipe between 48 kHz and 48–192 kHz: a pair of converters holds
  // back 23 to 38 ms (mcadams_test.cc).
  constexpr double kConvertersSeconds = 0.040;
  return static_cast<std::size_t>(std::ceil((inner + kConvertersSeconds * 48000.0) * ratio_));
}

}  // namespace sotto
