#include "voice/level_control.h"

#include <algorithm>
#include <cmath>

namespace sotto {

void LoudnessKeeper::Process(std::span<const double> input, std::span<double> block,
                             double extra_gain) {
  // 0.9 per hop of 10 ms. Between 0.5 and 0.97 it makes little difference; follow faster, and short
  // recordings get up to 2 dB louder, slower, and onsets overshoot.
  double in = 0.0, out = 0.0;
  for (const double x : input) in += x * x;
  for (const double y : block) out += y * y;
  energy_in_ = forget_ * energy_in_ + in;
  energy_out_ = forget_ * energy_out_ + out;
  double gain = gain_;
  if ((energy_in_ > 0.0 || least_gain_ == 0.0) && energy_out_ > 0.0) {
    gain = std::clamp(std::sqrt(energy_in_ / energy_out_) * extra_gain, least_gain_, most_gain_);
  }
  const double slope = (gain - gain_) / static_cast<double>(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) block[i] *= gain_ + slope * static_cast<double>(i);
  gain_ = gain;
}

PeakHolder::PeakHolder(std::size_t block_size, double limit)
    : limit_(limit), waiting_(block_size), finished_(block_size) {}

std::span<const double> PeakHolder::Process(std::span<const double> block) {
  double peak = 0.0;
  for (const double x : block) peak = std::max(peak, std::abs(x));
  const double gain = peak > limit_ ? limit_ / peak : 1.0;
  const bool first = !started_;
  if (first) {
    border_gain_ = gain;
    started_ = true;
  } else {
    const double end_gain = std::min(waiting_gain_, gain);
    const double slope = (end_gain - border_gain_) / static_cast<double>(waiting_.size());
    double free = 0.0, held = 0.0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      finished_[i] = waiting_[i] * (border_gain_ + slope * static_cast<double>(i));
      free += waiting_[i] * waiting_[i];
      held += finished_[i] * finished_[i];
    }
    border_gain_ = end_gain;
    constexpr double forget_ = 0.97, kMaxGain = 2.0;
    energy_free_ = forget_ * energy_free_ + free / (lost_gain_ * lost_gain_);
    energy_held_ = forget_ * energy_held_ + held / (lost_gain_ * lost_gain_);
    if (energy_held_ > 0.0) {
      lost_gain_ = std::min(kMaxGain, std::sqrt(energy_free_ / energy_held_));
    }
  }
  std::copy(block.begin(), block.end(), waiting_.begin());
  waiting_gain_ = gain;
  return first ? std::span<const double>{} : std::span<const double>(finished_);
}

void VoiceLevel::TakeInput(std::span<const float> in) {
  input_.insert(input_.end(), in.begin(), in.end());
  taken_ += in.size();
}

void VoiceLevel::Deliver(std::vector<float>& out) {
  std::size_t used = 0;
  std::vector<double> in(kHop), block(kHop);
  for (; used + kHop <= std::min(sound_.size(), input_.size()); used += kHop) {
    const auto begin = static_cast<std::ptrdiff_t>(used);
    std::copy_n(input_.begin() + begin, kHop, in.begin());
    std::copy_n(sound_.begin() + begin, kHop, block.begin());
    loudness_.Process(in, block, peaks_.LostGain());
    for (const double y : peaks_.Process(block)) {
      out.push_back(static_cast<float>(y));
      ++emitted_;
    }
  }
  const auto end = static_cast<std::ptrdiff_t>(used);
  input_.erase(input_.begin(), input_.begin() + end);
  sound_.erase(sound_.begin(), sound_.begin() + end);
}

void VoiceLevel::Finish(std::vector<float>& out) {
  // Silence brings out the last part of a hop and the one that the peak holder keeps.
  const std::size_t padded = (input_.size() / kHop + 2) * kHop;
  input_.resize(padded);
  sound_.resize(padded);
  Deliver(out);
  out.resize(out.size() - (emitted_ - taken_));
}

}  // namespace sotto
