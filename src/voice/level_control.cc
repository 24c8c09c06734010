#include "voice/level_control.h"

#include <algorithm>
#include <cmath>

namespace sotto {

void LoudnessKeeper::Process(std::span<const double> input, std::span<double> block,
                             double extra_gain) {
  // Per hop of 10 ms. Between 0.5 and 0.97 it makes little difference; follow faster, and short
  // recordings get up to 2 dB louder, slower, and onsets overshoot.
  constexpr double kForget = 0.9;
  constexpr double kMaxGain = 4.0;  // 12 dB
  double in = 0.0, out = 0.0;
  for (const double x : input) in += x * x;
  for (const double y : block) out += y * y;
  energy_in_ = kForget * energy_in_ + in;
  energy_out_ = kForget * energy_out_ + out;
  double gain = gain_;
  if (energy_in_ > 0.0 && energy_out_ > 0.0) {
    gain = std::clamp(std::sqrt(energy_in_ / energy_out_) * extra_gain, 1.0 / kMaxGain, kMaxGain);
  }
  const double slope = (gain - gain_) / static_cast<double>(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) block[i] *= gain_ + slope * static_cast<double>(i);
  gain_ = gain;
}

PeakHolder::PeakHolder(std::size_t block_size, double limit)
    : limit_(limit), waiting_(block_size), finished_(block_size) {}

// With knee k: k + u/(1 + u·(p − L)/((L − k)(p − k))) for u = |x| − k > 0; slope 1 at the knee, value
// L at |x| = p.
double PeakHolder::Bend(double x, double peak) const {
  const double knee = 0.8 * limit_;
  const double over = std::abs(x) - knee;
  if (peak <= limit_ || over <= 0.0) return x;
  const double bend = (peak - limit_) / ((limit_ - knee) * (peak - knee));
  return std::copysign(knee + over / (1.0 + over * bend), x);
}

std::span<const double> PeakHolder::Process(std::span<const double> block) {
  double peak = 0.0;
  for (const double x : block) peak = std::max(peak, std::abs(x));
  const bool first = !started_;
  if (first) {
    border_peak_ = peak;
    started_ = true;
  } else {
    const double end_peak = std::max(waiting_peak_, peak);
    const double slope = (end_peak - border_peak_) / static_cast<double>(waiting_.size());
    double free = 0.0, held = 0.0;
    for (const double x : waiting_) free += x * x;
    if (std::max(border_peak_, end_peak) <= limit_) {  // nearly always: nothing to bend
      finished_.swap(waiting_);
      held = free;
    } else {
      for (std::size_t i = 0; i < waiting_.size(); ++i) {
        finished_[i] = Bend(waiting_[i], border_peak_ + slope * static_cast<double>(i));
        held += finished_[i] * finished_[i];
      }
    }
    border_peak_ = end_peak;
    constexpr double kForget = 0.97, kMaxGain = 2.0;
    energy_free_ = kForget * energy_free_ + free / (lost_gain_ * lost_gain_);
    energy_held_ = kForget * energy_held_ + held / (lost_gain_ * lost_gain_);
    if (energy_held_ > 0.0) {
      lost_gain_ = std::min(kMaxGain, std::sqrt(energy_free_ / energy_held_));
    }
  }
  std::copy(block.begin(), block.end(), waiting_.begin());
  waiting_peak_ = peak;
  return first ? std::span<const double>{} : std::span<const double>(finished_);
}

}  // namespace sotto
