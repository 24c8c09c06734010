#include "voice/overlap_add.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sotto {

OverlapAdd::OverlapAdd(std::unique_ptr<FrameProcessor> processor, std::size_t hop, double peak_limit)
    : processor_(std::move(processor)),
      hop_(hop),
      peak_limit_(peak_limit),
      window_(2 * hop),
      input_(2 * hop),
      frame_(2 * hop),
      tail_(hop),
      ready_(hop),
      filled_(hop) {  // the first frame begins one hop before the signal
  for (std::size_t i = 0; i < window_.size(); ++i) {
    // sqrt(0.5 − 0.5 cos(2πi/N)) = sin(πi/N)
    window_[i] = std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(2 * hop));
  }
}

void OverlapAdd::RunFrame() {
  const std::span<const double> in(input_.data(), hop_);
  for (std::size_t i = 0; i < 2 * hop_; ++i) frame_[i] = input_[i] * window_[i];
  processor_->Process(frame_);
  for (std::size_t i = 0; i < 2 * hop_; ++i) frame_[i] *= window_[i] * loudness_gain_;
  for (std::size_t i = 0; i < hop_; ++i) frame_[i] += tail_[i];
  FollowLoudness(in, {frame_.data(), hop_});
  std::copy(frame_.begin() + static_cast<std::ptrdiff_t>(hop_), frame_.end(), tail_.begin());
  std::copy(input_.begin() + static_cast<std::ptrdiff_t>(hop_), input_.end(), input_.begin());
  filled_ = hop_;
}

void OverlapAdd::FollowLoudness(std::span<const double> in, std::span<const double> out) {
  constexpr double kForget = 0.99;  // per hop of 10 ms: one second
  constexpr double kMaxGain = 4.0;  // 12 dB
  double e_in = 0.0, e_out = 0.0;
  for (const double x : in) e_in += x * x;
  for (const double y : out) e_out += y * y;
  energy_in_ = kForget * energy_in_ + e_in;
  energy_out_ = kForget * energy_out_ + e_out / (loudness_gain_ * loudness_gain_);
  if (energy_in_ > 0.0 && energy_out_ > 0.0) {
    loudness_gain_ = std::clamp(std::sqrt(energy_in_ / energy_out_), 1.0 / kMaxGain, kMaxGain);
  }
}

// Appends ready_, under the peak gain that runs from border_gain_ to the smaller of its own and the
// next block's.
void OverlapAdd::Emit(double next_gain, std::vector<float>& out) {
  const double end_gain = std::min(ready_gain_, next_gain);
  const std::size_t count = std::min(hop_, pushed_ - emitted_);
  const double slope = (end_gain - border_gain_) / static_cast<double>(hop_);
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<float>(ready_[i] * (border_gain_ + slope * static_cast<double>(i))));
  }
  emitted_ += count;
  border_gain_ = end_gain;
}

void OverlapAdd::Push(std::span<const float> in, std::vector<float>& out) {
  while (!in.empty()) {
    const std::size_t count = std::min(in.size(), 2 * hop_ - filled_);
    std::copy_n(in.begin(), count, input_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += count;
    pushed_ += count;
    in = in.subspan(count);
    if (filled_ < 2 * hop_) return;
    RunFrame();
    double peak = 0.0;
    for (std::size_t i = 0; i < hop_; ++i) peak = std::max(peak, std::abs(frame_[i]));
    const double gain = peak > peak_limit_ ? peak_limit_ / peak : 1.0;
    // Block 0 lies before the signal; block 1 is the first that waits in ready_.
    if (blocks_ >= 2) Emit(gain, out);
    if (blocks_ == 1) border_gain_ = gain;
    std::copy_n(frame_.begin(), hop_, ready_.begin());
    ready_gain_ = gain;
    blocks_ = std::min(blocks_ + 1, 2);
  }
}

void OverlapAdd::Finish(std::vector<float>& out) {
  const std::size_t total = pushed_;
  const std::vector<float> silence(hop_, 0.0F);
  std::vector<float> rest;
  while (emitted_ < total) Push(silence, rest);
  // The silence counted as pushed: cut what it brought out beyond the signal.
  const std::size_t before = emitted_ - rest.size();
  rest.resize(total - before);
  out.insert(out.end(), rest.begin(), rest.end());
  pushed_ = emitted_ = total;
}

}  // namespace sotto
