#include "voice/live_pitch.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsp/f0.h"
#include "nn/source.h"

namespace sotto {
namespace {

constexpr std::size_t kHop = 160, kFine = 80;  // samples: a frame, and one of the tracker
constexpr int kRateHz = 16000;

constexpr std::size_t kShortest = 3;    // frames of a voice
constexpr std::size_t kLongestGap = 3;  // frames inside one
constexpr std::size_t kBack = 50;       // frames before, of the median
constexpr double kFarNepers = 0.7 * std::numbers::ln2;

constexpr double kPriorDeviation = 0.25;
constexpr double kMeanFrames = 10.0, kDeviationFrames = 50.0, kMostFrames = 3000.0;

}  // namespace

std::vector<double> LiveF0::Push(std::span<const float> x) {
  held_.insert(held_.end(), x.begin(), x.end());
  taken_ += x.size();
  std::vector<double> out;
  while (taken_ >= (next_ + 1) * kHop + kHop / 2 + kAheadSamples) Track(next_ + 2, out);
  return out;
}

std::vector<double> LiveF0::Finish() {
  std::vector<double> out;
  const std::size_t frames = (taken_ + kHop - 1) / kHop;
  while (next_ < frames) Track(std::min(next_ + 2, frames), out);
  return out;
}

// Frames next_ … end − 1 from what lies around them, whatever else may have come by now: the result
// does not depend on how the samples arrive.
void LiveF0::Track(std::size_t end, std::vector<double>& out) {
  const std::size_t last = (end - 1) * kHop + kHop / 2;
  const std::size_t from = (last - std::min(last, kBackSamples)) / kFine * kFine;
  const std::size_t to = std::min(taken_, last + kAheadSamples);
  const std::size_t first = from / kFine;
  const std::vector<double> f0 =
      EstimateF0(std::span<const float>(held_).subspan(from - held_from_, to - from), kRateHz,
                 F0Options{}, from, first, to / kFine - first + 1);
  for (; next_ < end; ++next_) out.push_back(f0[std::min(2 * next_ + 1 - first, f0.size() - 1)]);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(from - held_from_));
  held_from_ = from;
}

LiveCleanF0::LiveCleanF0() : last_hz_(kNeutralF0Hz), since_voice_(kLongestGap + 1) {}

// A stretch that goes on beyond what is seen is taken for a long one.
bool LiveCleanF0::IsVoice(std::size_t i) const {
  if (held_[i] <= 0.0) return false;
  std::size_t begin = i, end = i + 1;
  while (begin > 0 && held_[begin - 1] > 0.0) --begin;
  while (end < held_.size() && held_[end] > 0.0) ++end;
  return end - begin >= kShortest || end == held_.size();
}

bool LiveCleanF0::IsFar(std::size_t i) const {
  std::vector<double> around;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    if (IsVoice(k)) around.push_back(held_[k]);
  }
  const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
  std::nth_element(around.begin(), middle, around.end());
  return std::abs(std::log(held_[i] / *middle)) > kFarNepers;
}

PitchFrame LiveCleanF0::Decide() const {
  PitchFrame frame{last_hz_, IsVoice(at_)};
  if (frame.voiced && !IsFar(at_)) {
    frame.f0_hz = held_[at_];
    return frame;
  }
  for (std::size_t i = at_ + 1; i < held_.size(); ++i) {
    if (!IsVoice(i)) continue;
    // The gap has the frames since the last voice, this one, and those up to the next.
    if (since_voice_ + (i - at_) <= kLongestGap) frame.voiced = true;
    if (IsFar(i)) continue;
    frame.f0_hz = last_hz_ * std::pow(held_[i] / last_hz_, 1.0 / static_cast<double>(i - at_ + 1));
    break;
  }
  return frame;
}

void LiveCleanF0::Emit(std::vector<PitchFrame>& out) {
  out.push_back(Decide());
  last_hz_ = out.back().f0_hz;
  since_voice_ = IsVoice(at_) ? 0 : since_voice_ + 1;
  if (at_ == kBack) {
    held_.pop_front();
  } else {
    ++at_;
  }
}

void LiveCleanF0::Push(double f0_hz, std::vector<PitchFrame>& out) {
  held_.push_back(f0_hz);
  if (held_.size() > at_ + kAhead) Emit(out);
}

void LiveCleanF0::Finish(std::vector<PitchFrame>& out) {
  while (at_ < held_.size()) Emit(out);
}

void LivePitchLevel::Add(double f0_hz) {
  const double x = std::log(f0_hz);
  const double keep = count_ + 1.0 > kMostFrames ? 1.0 - 1.0 / kMostFrames : 1.0;
  count_ = keep * count_ + 1.0;
  sum_ = keep * sum_ + x;
  square_ = keep * square_ + x * x;
}

PitchLevel LivePitchLevel::Model() const {
  VoiceModel model;
  const double mean = (kMeanFrames * std::log(kNeutralF0Hz) + sum_) / (kMeanFrames + count_);
  const double squares = std::max(0.0, square_ - 2.0 * mean * sum_ + count_ * mean * mean);
  model.log_f0_mean = mean;
  model.log_f0_deviation =
      std::sqrt((kDeviationFrames * kPriorDeviation * kPriorDeviation + squares) /
                (kDeviationFrames + count_));
  return model;
}

bool PauseFinder::Push(double energy, bool voiced) {
  constexpr double kForget = 0.999, kFollow = 0.05, kBelow = 0.1;  // 10 dB
  speech_energy_ *= kForget;
  if (voiced && energy > speech_energy_) speech_energy_ += kFollow * (energy - speech_energy_);
  const bool loud = energy > kBelow * speech_energy_;
  if (voiced && loud) spoken_ = true;
  const bool quiet = !voiced && !loud;
  quiet_ = quiet ? quiet_ + 1 : 0;
  if (quiet_ != kFrames || !spoken_) return false;
  spoken_ = false;
  return true;
}

}  // namespace sotto
