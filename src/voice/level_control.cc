#include "voice/level_control.h"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

// PeakHolder: a third of a second (33 hops of 10 ms), and no more than 6 dB given back, lest a
// clipped recording pump.
constexpr double kLostForget = 0.97, kMostLostGain = 2.0;

// SpeechShare: blocks of 10 ms over which energies are smoothed, for the floor and for the share,
// so that single blocks of noise neither hide the floor nor stand out.
constexpr std::size_t kSmoothBlocks = 5, kShareBlocks = 3;
// The floor is a least energy, which lies below the mean of the same noise: 4 dB are added. Never
// less than 15 dB below the loudest, so that a steady sound is not taken for its own noise.
constexpr double kAboveFloor = 2.5, kLeastBelowPeak = 0.03;

// What VoiceLevel pads its end with, in hops: the last part of a hop, the one that the peak holder
// keeps, and one after it.
constexpr std::size_t kPaddingHops = 3;

}  // namespace

void LoudnessKeeper::Process(std::span<const double> input, std::span<double> block,
                             double extra_gain) {
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

std::span<const double> PeakHolder::Process(std::span<const double> block, double most_gain) {
  double peak = 0.0;
  for (const double x : block) peak = std::max(peak, std::abs(x));
  const Gains needs{std::min(most_gain, peak > limit_ ? limit_ / peak : 1.0), most_gain};
  const bool first = !started_;
  if (first) {
    border_ = needs;
    started_ = true;
  } else {
    const Gains end{std::min(needs_.all, needs.all), std::min(needs_.free, needs.free)};
    const auto size = static_cast<double>(waiting_.size());
    const Gains slope{(end.all - border_.all) / size, (end.free - border_.free) / size};
    double free = 0.0, held = 0.0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const auto at = static_cast<double>(i);
      finished_[i] = waiting_[i] * (border_.all + slope.all * at);
      const double without_peaks = waiting_[i] * (border_.free + slope.free * at);
      free += without_peaks * without_peaks;
      held += finished_[i] * finished_[i];
    }
    border_ = end;
    energy_free_ = kLostForget * energy_free_ + free / (lost_gain_ * lost_gain_);
    energy_held_ = kLostForget * energy_held_ + held / (lost_gain_ * lost_gain_);
    if (energy_held_ > 0.0) {
      lost_gain_ = std::min(kMostLostGain, std::sqrt(energy_free_ / energy_held_));
    }
  }
  std::copy(block.begin(), block.end(), waiting_.begin());
  needs_ = needs;
  return first ? std::span<const double>{} : std::span<const double>(finished_);
}

void SpeechShare::Push(double energy) {
  energies_.push_back(energy);
  ++known_;
  double sum = 0.0;
  const std::size_t count = std::min(kSmoothBlocks, energies_.size());
  for (std::size_t i = energies_.size() - count; i < energies_.size(); ++i) sum += energies_[i];
  smooth_.push_back(sum / static_cast<double>(count));
}

double SpeechShare::Next() {
  const std::size_t counted =
      std::max(from_ + 1, std::min(finished_ ? end_ : known_, next_ + behind_ + 1));
  const auto [least, most] = std::minmax_element(
      smooth_.begin(), smooth_.begin() + static_cast<std::ptrdiff_t>(counted - from_));
  const double floor = kAboveFloor * std::min(*least, kLeastBelowPeak * *most);
  constexpr std::size_t kSide = kShareBlocks / 2;
  const std::size_t first = std::max(next_, from_ + kSide) - kSide;
  const std::size_t end = std::min(known_, next_ + kSide + 1);
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

LevelCap::LevelCap(std::size_t reach, double margin_db)
    : reach_(reach), limit_(std::pow(10.0, margin_db / 10.0)), energies_(reach, 0.0) {}

double LevelCap::Next(std::span<const double> block) {
  const double most =
      limit_ * *std::max_element(energies_.begin(),
                                 energies_.begin() + static_cast<std::ptrdiff_t>(2 * reach_ + 1));
  energies_.pop_front();
  double energy = 0.0;
  for (const double y : block) energy += y * y;
  return energy > most ? std::sqrt(most / energy) : 1.0;
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

void VoiceLevel::Weigh() {
  for (; share_.Ready(); weighed_ += kHop) {
    const double share = share_.Next();
    double energy = 0.0;
    for (std::size_t i = weighed_; i < weighed_ + kHop; ++i) {
      input_[i] = static_cast<float>(share * input_[i]);
      energy += static_cast<double>(input_[i]) * input_[i];
    }
    cap_.Push(energy);
  }
}

void VoiceLevel::TakeInput(std::span<const float> in) {
  input_.insert(input_.end(), in.begin(), in.end());
  taken_ += in.size();
  Listen();
  Weigh();
}

void VoiceLevel::Deliver(std::vector<float>& out) {
  std::size_t used = 0;
  std::vector<double> in(kHop), block(kHop);
  for (; used + kHop <= sound_.size() && cap_.Ready(); used += kHop) {
    const auto begin = static_cast<std::ptrdiff_t>(used);
    std::copy_n(input_.begin() + begin, kHop, in.begin());
    std::copy_n(sound_.begin() + begin, kHop, block.begin());
    loudness_.Process(in, block, peaks_.LostGain());
    for (const double y : peaks_.Process(block, cap_.Next(block))) {
      out.push_back(static_cast<float>(y));
      ++emitted_;
    }
  }
  const auto end = static_cast<std::ptrdiff_t>(used);
  input_.erase(input_.begin(), input_.begin() + end);
  sound_.erase(sound_.begin(), sound_.begin() + end);
  listened_ -= used;
  weighed_ -= used;
}

void VoiceLevel::Finish(std::vector<float>& out) {
  // Silence brings out the last part of a hop, the one that the peak holder keeps and those that
  // the cap waits for.
  const std::size_t padded = (input_.size() / kHop + kPaddingHops + cap_.Reach()) * kHop;
  share_.Finish();
  input_.resize(padded);
  sound_.resize(padded);
  Listen();
  Weigh();
  Deliver(out);
  out.resize(out.size() - (emitted_ - taken_));
}

}  // namespace sotto
