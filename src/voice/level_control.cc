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

void SpeechShare::Push(double energy) {
  constexpr std::size_t kSmooth = 5;
  energies_.push_back(energy);
  ++known_;
  double sum = 0.0;
  const std::size_t count = std::min(kSmooth, energies_.size());
  for (std::size_t i = energies_.size() - count; i < energies_.size(); ++i) sum += energies_[i];
  smooth_.push_back(sum / static_cast<double>(count));
}

double SpeechShare::Next() {
  constexpr double kAbove = 2.5, kLeastBelowPeak = 0.03;
  const auto [least, most] = std::minmax_element(
      smooth_.begin(),
      smooth_.begin() + static_cast<std::ptrdiff_t>(std::min(known_, next_ + behind_ + 1) - from_));
  const double floor = kAbove * std::min(*least, kLeastBelowPeak * *most);
  // Over three blocks, lest single blocks of noise stand out.
  const std::size_t first = std::max(next_, from_ + 1) - 1, end = std::min(known_, next_ + 2);
  double energy = 0.0;
  for (std::size_t i = first; i < end; ++i) {
    energy += energies_[i - from_] / static_cast<double>(end - first);
  }
  ++next_;
  if (next_ - from_ > before_) {
    energies_.pop_front();
    smooth_.pop_front();
    ++from_;
  }
  return energy > floor ? std::sqrt(1.0 - floor / energy) : 0.0;
}

LevelCap::LevelCap(std::size_t block_size, std::size_t reach, double margin_db)
    : reach_(reach),
      limit_(std::pow(10.0, margin_db / 10.0)),
      energies_(reach, 0.0),
      finished_(block_size) {}

double LevelCap::GainOf(std::size_t place) const {
  double loudest = 0.0, energy = 0.0;
  for (std::size_t i = place; i <= place + 2 * reach_; ++i) {
    loudest = std::max(loudest, energies_[i]);
  }
  for (const double y : blocks_[place]) energy += y * y;
  return energy > limit_ * loudest ? std::sqrt(limit_ * loudest / energy) : 1.0;
}

std::span<const double> LevelCap::Process(std::span<const double> input,
                                          std::span<const double> block) {
  double energy = 0.0;
  for (const double x : input) energy += x * x;
  energies_.push_back(energy);
  blocks_.emplace_back(block.begin(), block.end());
  if (blocks_.size() == reach_ + 1) border_gain_ = GainOf(0);  // of the very first block
  if (blocks_.size() < reach_ + 2) return {};
  const double end_gain = std::min(GainOf(0), GainOf(1));
  const double slope = (end_gain - border_gain_) / static_cast<double>(finished_.size());
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    finished_[i] = blocks_.front()[i] * (border_gain_ + slope * static_cast<double>(i));
  }
  border_gain_ = end_gain;
  blocks_.pop_front();
  energies_.pop_front();
  return finished_;
}

void VoiceLevel::Listen() {
  for (; listened_ + kHop <= input_.size(); listened_ += kHop) {
    double energy = 0.0;
    for (std::size_t i = 0; i < kHop; ++i) {
      energy += static_cast<double>(input_[listened_ + i]) * input_[listened_ + i];
    }
    share_.Push(energy);
  }
}

void VoiceLevel::TakeInput(std::span<const float> in) {
  input_.insert(input_.end(), in.begin(), in.end());
  taken_ += in.size();
  Listen();
}

void VoiceLevel::Deliver(std::vector<float>& out) {
  std::size_t used = 0;
  std::vector<double> in(kHop), block(kHop);
  for (; used + kHop <= std::min(sound_.size(), input_.size()) && share_.Ready(); used += kHop) {
    const auto begin = static_cast<std::ptrdiff_t>(used);
    const double share = share_.Next();
    std::transform(input_.begin() + begin, input_.begin() + begin + kHop, in.begin(),
                   [&](float x) { return share * x; });
    std::copy_n(sound_.begin() + begin, kHop, block.begin());
    loudness_.Process(in, block, peaks_.LostGain());
    const std::span<const double> capped = cap_.Process(in, block);
    if (capped.empty()) continue;
    for (const double y : peaks_.Process(capped)) {
      out.push_back(static_cast<float>(y));
      ++emitted_;
    }
  }
  const auto end = static_cast<std::ptrdiff_t>(used);
  input_.erase(input_.begin(), input_.begin() + end);
  sound_.erase(sound_.begin(), sound_.begin() + end);
  listened_ -= used;
}

void VoiceLevel::Finish(std::vector<float>& out) {
  // Silence brings out the last part of a hop and those that the cap and the peak holder keep.
  const std::size_t padded = (input_.size() / kHop + 2 + cap_.DelayBlocks()) * kHop;
  input_.resize(padded);
  sound_.resize(padded);
  Listen();
  share_.Finish();
  Deliver(out);
  out.resize(out.size() - (emitted_ - taken_));
}

}  // namespace sotto
