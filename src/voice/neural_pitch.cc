#include "voice/neural_pitch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "nn/source.h"

namespace sotto {
namespace {

constexpr std::size_t kShortest = 3;    // frames of a voice
constexpr std::size_t kLongestGap = 3;  // frames inside one
constexpr std::size_t kAround = 50;     // frames to either side of the median
constexpr double kFarNepers = 0.7 * std::numbers::ln2;
constexpr double kPriorFrames = 50.0, kPriorDeviation = 0.25;

// Calls with [begin, end) of each run of frames for which the voicing is `value`.
template <class Function>
void ForRuns(const std::vector<double>& f0, bool value, const Function& body) {
  for (std::size_t t = 0; t < f0.size();) {
    std::size_t end = t;
    while (end < f0.size() && (f0[end] > 0.0) == (f0[t] > 0.0)) ++end;
    if ((f0[t] > 0.0) == value) body(t, end);
    t = end;
  }
}

}  // namespace

VoicedF0 CleanF0(std::span<const float> f0_hz) {
  std::vector<double> f0(f0_hz.begin(), f0_hz.end());
  ForRuns(f0, true, [&](std::size_t begin, std::size_t end) {
    if (end - begin < kShortest) {
      std::fill(f0.begin() + static_cast<std::ptrdiff_t>(begin),
                f0.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    }
  });
  VoicedF0 clean;
  clean.voiced.resize(f0.size());
  for (std::size_t t = 0; t < f0.size(); ++t) clean.voiced[t] = f0[t] > 0.0;
  ForRuns(f0, false, [&](std::size_t begin, std::size_t end) {
    if (begin > 0 && end < f0.size() && end - begin <= kLongestGap) {
      std::fill(clean.voiced.begin() + static_cast<std::ptrdiff_t>(begin),
                clean.voiced.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
  });
  const std::vector<double> tracked = f0;
  std::vector<double> around;
  for (std::size_t t = 0; t < f0.size(); ++t) {
    if (tracked[t] <= 0.0) continue;
    around.clear();
    const std::size_t end = std::min(f0.size(), t + kAround + 1);
    for (std::size_t k = t - std::min(t, kAround); k < end; ++k) {
      if (tracked[k] > 0.0) around.push_back(tracked[k]);
    }
    const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
    std::nth_element(around.begin(), middle, around.end());
    if (std::abs(std::log(tracked[t] / *middle)) > kFarNepers) f0[t] = 0.0;
  }
  clean.f0_hz = FillUnvoiced(f0);
  return clean;
}

PitchLevel PitchStatistics(const VoicedF0& f0) {
  double count = 0.0, sum = 0.0, square = 0.0;
  for (std::size_t t = 0; t < f0.f0_hz.size(); ++t) {
    if (!f0.voiced[t]) continue;
    const double x = std::log(f0.f0_hz[t]);
    count += 1.0;
    sum += x;
    square += x * x;
  }
  if (count < kPriorFrames) {
    const double mean = std::log(kNeutralF0Hz);
    count += kPriorFrames;
    sum += kPriorFrames * mean;
    square += kPriorFrames * (mean * mean + kPriorDeviation * kPriorDeviation);
  }
  VoiceModel model;
  model.log_f0_mean = sum / count;
  model.log_f0_deviation =
      std::sqrt(std::max(0.0, square / count - model.log_f0_mean * model.log_f0_mean));
  return model;
}

ContourBend::ContourBend(const TargetDraws& draws, double depth_semitones,
                         const std::string& speaker, const std::string& utterance) {
  if (!(depth_semitones >= 0.0 && depth_semitones <= 12.0)) {
    throw Error(fmt::format("a bend of {} semitones: from 0 to 12 is allowed", depth_semitones));
  }
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    const auto draw = [&](const char* what, double low, double high) {
      return draws.Uniform(fmt::format("bend {} {}", i, what), low, high, speaker, utterance);
    };
    Sine sine;
    sine.hz = draw("hz", 0.15, 0.6);
    sine.phase = draw("phase", 0.0, 2.0 * std::numbers::pi);
    sine.nepers = draw("weight", 0.3, 1.0);
    sum += sine.nepers;
    sines_.push_back(sine);
  }
  for (Sine& sine : sines_) {
    sine.nepers *= depth_semitones / 12.0 * std::numbers::ln2 / sum;
  }
}

double ContourBend::Factor(double seconds) const {
  double nepers = 0.0;
  for (const Sine& sine : sines_) {
    nepers += sine.nepers * std::sin(2.0 * std::numbers::pi * sine.hz * seconds + sine.phase);
  }
  return std::exp(nepers);
}

}  // namespace sotto
