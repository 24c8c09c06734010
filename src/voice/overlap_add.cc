#include "voice/overlap_add.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sotto {

OverlapAdd::OverlapAdd(std::unique_ptr<FrameProcessor> processor, std::size_t hop,
                       double peak_limit)
    : processor_(std::move(processor)),
      hop_(hop),
      window_(2 * hop),
      input_(2 * hop),
      frame_(2 * hop),
      tail_(hop),
      filled_(hop),  // the first frame begins one hop before the signal
      peaks_(hop, peak_limit) {
  for (std::size_t i = 0; i < window_.size(); ++i) {
    // sqrt(0.5 − 0.5 cos(2πi/N)) = sin(πi/N)
    window_[i] = std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(2 * hop));
  }
}

void OverlapAdd::RunFrame(std::vector<float>& out) {
  const auto half = static_cast<std::ptrdiff_t>(hop_);
  for (std::size_t i = 0; i < 2 * hop_; ++i) frame_[i] = input_[i] * window_[i];
  processor_->Process(frame_);
  for (std::size_t i = 0; i < 2 * hop_; ++i) frame_[i] *= window_[i];
  for (std::size_t i = 0; i < hop_; ++i) frame_[i] += tail_[i];
  std::copy(frame_.begin() + half, frame_.end(), tail_.begin());
  if (!before_signal_) {
    const std::span<double> block(frame_.data(), hop_);
    loudness_.Process({input_.data(), hop_}, block, peaks_.LostGain());
    const std::span<const double> finished = peaks_.Process(block);
    for (const double y : finished) out.push_back(static_cast<float>(y));
    emitted_ += finished.size();
  }
  before_signal_ = false;
  std::copy(input_.begin() + half, input_.end(), input_.begin());
  filled_ = hop_;
}

void OverlapAdd::Push(std::span<const float> in, std::vector<float>& out) {
  while (!in.empty()) {
    const std::size_t count = std::min(in.size(), 2 * hop_ - filled_);
    std::copy_n(in.begin(), count, input_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += count;
    pushed_ += count;
    in = in.subspan(count);
    if (filled_ == 2 * hop_) RunFrame(out);
  }
}

void OverlapAdd::Finish(std::vector<float>& out) {
  const std::size_t total = pushed_;
  const std::vector<float> silence(hop_, 0.0F);
  while (emitted_ < total) Push(silence, out);
  // The silence brought out a little more than the signal.
  out.resize(out.size() - (emitted_ - total));
}

}  // namespace sotto
