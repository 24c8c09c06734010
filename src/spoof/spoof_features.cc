#include "spoof/spoof_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dsp/fbank.h"
#include "dsp/level.h"

namespace sotto {
namespace {

constexpr std::size_t kStep = 160;  // 10 ms
constexpr double kOnsetDb = 20.0;   // below the active level
constexpr std::size_t kOnsetOf = 5, kOnsetNeeded = 3;
constexpr int kOnsetLooks = 8;
constexpr double kLevelDb = -26.0;  // active, of what the net hears
// The logarithm's floor of 2⁻²³ comes to lie 60 dB below white noise at kLevelDb: of a sample of
// variance v a triangle of 3.6 FFT bins gets 3.6·Σw²·scale²·v = 3.6·190·scale²·v.
constexpr double kScale = 0.25;

MfccOptions LfccOptions() {
  MfccOptions options;
  FbankOptions& fbank = options.fbank;
  fbank.rate_hz = kSpoofRateHz;
  fbank.window_ms = 30.0;
  fbank.shift_ms = 15.0;
  fbank.window = FrameWindow::kHamming;
  fbank.edges = FrameEdges::kSnip;
  fbank.preemphasis = 0.0;
  fbank.remove_dc = false;
  fbank.scale = kScale;
  fbank.fft_size = 512;
  fbank.bins = 70;
  fbank.low_hz = 0.0;
  fbank.high_hz = 8000.0;
  fbank.mel = MelScale::kLinear;
  options.cepstra = static_cast<int>(kSpoofCoefficients);
  options.lifter = 0.0;
  options.use_energy = false;
  return options;
}

double ActiveDb(std::span<const float> x) {
  for (const float sample : x) {
    if (!std::isfinite(sample)) throw Error("a sample is not a finite number");
  }
  if (x.empty()) throw Error("no samples");
  const double level = ActiveSpeechLevel(x, kSpoofRateHz).active_db;
  if (!std::isfinite(level)) throw Error("silent: no sample differs from 0");
  return level;
}

}  // namespace

SpeechStretch FindSpeech(std::span<const float> x) {
  const double threshold = ActiveDb(x) - kOnsetDb;
  const std::size_t frames = x.size() / kStep;
  std::vector<bool> loud(frames);
  for (std::size_t t = 0; t < frames; ++t) {
    loud[t] = RmsDb(x.subspan(t * kStep, kStep)) > threshold;
  }
  const auto speech = [&](std::size_t t, bool forwards) {  // from t on, or up to t
    if (!loud[t]) return false;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kOnsetOf; ++i) {
      const std::size_t at = forwards ? t + i : t - i;  // wraps below 0, which is beyond the end
      count += at < frames && loud[at] ? 1 : 0;
    }
    return count >= kOnsetNeeded;
  };
  std::size_t first = 0, last = frames;
  while (first < frames && !speech(first, true)) ++first;
  while (last > first && !speech(last - 1, false)) --last;
  const SpeechStretch stretch{first * kStep, last * kStep};
  if (stretch.end < stretch.begin + kSpoofFrameSamples) {
    throw Error(fmt::format("less than a frame ({} ms) of speech",
                            1000 * kSpoofFrameSamples / kSpoofRateHz));
  }
  return stretch;
}

std::vector<float> PrepareSpeech(std::span<const float> x, std::size_t most) {
  const SpeechStretch stretch = FindSpeech(x);
  x = x.subspan(stretch.begin, stretch.end - stretch.begin);
  const auto cut = [&] { return x.first(std::min({x.size(), most, kSpoofSamples})); };
  // By the level of what is cut out, too, which may be louder than the rest.
  for (int look = 0; look < kOnsetLooks; ++look) {
    const std::size_t begin = FindSpeech(cut()).begin;
    if (begin == 0) break;
    x = x.subspan(begin);
  }
  const std::span<const float> speech = cut();
  const std::size_t n = speech.size();
  const auto gain = static_cast<float>(std::pow(10.0, (kLevelDb - ActiveDb(speech)) / 20.0));
  std::vector<float> prepared(kSpoofSamples);
  for (std::size_t i = 0; i < prepared.size(); ++i) prepared[i] = gain * speech[i % n];
  return prepared;
}

std::vector<float> SpoofLfcc(std::span<const float> prepared) {
  if (prepared.size() != kSpoofSamples) {
    throw Error(fmt::format("LFCC: {} samples, {} are expected", prepared.size(), kSpoofSamples));
  }
  return Mfcc(prepared, LfccOptions()).values;
}

std::vector<float> SpoofFeatures(std::span<const float> x) { return SpoofLfcc(PrepareSpeech(x)); }

const std::string& SpoofFeatureDefinition() {
  static const std::string definition = fmt::format(
      "sotto-lfcc-1: {} Hz, speech from {}/{} frames of {} samples above active level -{} dB, "
      "{} samples at {} dB, window {} shift {} hamming, fft 512, scale {}, 70 linear triangles "
      "0 to 8000 Hz, ln, dct-2 {}",
      kSpoofRateHz, kOnsetNeeded, kOnsetOf, kStep, kOnsetDb, kSpoofSamples, kLevelDb,
      kSpoofFrameSamples, kSpoofFrameSamples / 2, kScale, kSpoofCoefficients);
  return definition;
}

}  // namespace sotto
