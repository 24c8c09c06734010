#include "dsp/voice_measures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/resampler.h"
#include "dsp/lpc.h"
#include "dsp/polynomial_roots.h"

namespace sotto {
namespace {

constexpr double kHopS = 0.010;

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// `size` samples around the centre of frame t, zero outside the signal.
std::vector<double> FrameAt(std::span<const float> x, int rate_hz, std::size_t t,
                            std::size_t size) {
  std::vector<double> frame(size, 0.0);
  const auto begin = static_cast<std::ptrdiff_t>(static_cast<double>(t) * kHopS * rate_hz) -
                     static_cast<std::ptrdiff_t>(size / 2);
  for (std::size_t i = 0; i < size; ++i) {
    const std::ptrdiff_t at = begin + static_cast<std::ptrdiff_t>(i);
    if (at >= 0 && at < static_cast<std::ptrdiff_t>(x.size())) {
      frame[i] = x[static_cast<std::size_t>(at)];
    }
  }
  return frame;
}

}  // namespace

std::vector<double> TrackF0(std::span<const float> x, int rate_hz) {
  constexpr double kMinHz = 60.0, kMaxHz = 400.0, kVoiced = 0.5;
  // 8 kHz holds every harmonic that matters here.
  constexpr int kRate = 8000;
  const std::vector<float> low = Resample(x, rate_hz, kRate);
  constexpr auto kMinLag = static_cast<std::size_t>(kRate / kMaxHz);
  constexpr auto kMaxLag = static_cast<std::size_t>(kRate / kMinHz);
  constexpr std::size_t kWindow = kRate / 25;
  const auto frames =
      static_cast<std::size_t>(static_cast<double>(low.size()) / (kHopS * kRate)) + 1;
  double loudest = 0.0;
  for (const float v : low) loudest = std::max(loudest, static_cast<double>(std::abs(v)));
  std::vector<double> f0(frames, 0.0);
  std::vector<double> score(kMaxLag + 2);
  for (std::size_t t = 0; t < frames; ++t) {
    const auto frame = FrameAt(low, kRate, t, kWindow + kMaxLag + 1);
    double head = 0.0;
    for (std::size_t i = 0; i < kWindow; ++i) head += frame[i] * frame[i];
    // 40 dB below the loudest sample there is no voice to measure.
    if (head <= 1e-4 * loudest * loudest * static_cast<double>(kWindow)) continue;
    double best = 0.0;
    for (std::size_t lag = kMinLag - 1; lag <= kMaxLag + 1; ++lag) {
      double cross = 0.0, tail = 0.0;
      for (std::size_t i = 0; i < kWindow; ++i) {
        cross += frame[i] * frame[i + lag];
        tail += frame[i + lag] * frame[i + lag];
      }
      score[lag] = tail > 0.0 ? cross / std::sqrt(head * tail) : 0.0;
      if (lag >= kMinLag && lag <= kMaxLag) best = std::max(best, score[lag]);
    }
    if (best < kVoiced) continue;
    // The first peak that is nearly the best: multiples of the period score as high.
    for (std::size_t lag = kMinLag; lag <= kMaxLag; ++lag) {
      if (score[lag] < 0.9 * best || score[lag] < score[lag - 1] || score[lag] < score[lag + 1])
        continue;
      const double curve = score[lag - 1] - 2.0 * score[lag] + score[lag + 1];
      const double shift = curve < 0.0 ? 0.5 * (score[lag - 1] - score[lag + 1]) / curve : 0.0;
      f0[t] = kRate / (static_cast<double>(lag) + shift);
      break;
    }
  }
  return f0;
}

VoiceMeasures MeasureVoice(std::span<const float> x, int rate_hz,
                           std::span<const double> voiced_like) {
  const std::vector<double> f0 = TrackF0(x, rate_hz);
  VoiceMeasures measures;
  std::vector<double> voiced;
  for (const double hz : f0) {
    if (hz > 0.0) voiced.push_back(hz);
  }
  measures.median_f0_hz = Median(voiced);
  const std::span<const double> where =
      voiced_like.empty() ? std::span<const double>(f0) : voiced_like;

  constexpr int kRate = 10000;
  constexpr std::size_t kOrder = 12, kWindow = kRate / 40;
  const std::vector<float> low = Resample(x, rate_hz, kRate);
  std::array<std::vector<double>, 3> tracks;
  RootTracker tracker;
  std::vector<double> r(kOrder + 1);
  for (std::size_t t = 0; t < where.size(); ++t) {
    if (where[t] <= 0.0) continue;
    auto frame = FrameAt(low, kRate, t, kWindow);
    for (std::size_t i = kWindow - 1; i > 0; --i) frame[i] -= 0.97 * frame[i - 1];
    for (std::size_t i = 0; i < kWindow; ++i) {
      frame[i] *=
          0.54 - 0.46 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / (kWindow - 1));
    }
    Autocorrelate(frame, r);
    if (r[0] <= 0.0) continue;
    std::vector<double> resonances;
    for (const auto& pole : tracker.Find(LevinsonDurbin(r).a).pairs) {
      const double hz = std::arg(pole) * kRate / (2.0 * std::numbers::pi);
      const double bandwidth = -std::log(std::abs(pole)) * kRate / std::numbers::pi;
      if (hz > 90.0 && bandwidth < 600.0) resonances.push_back(hz);
    }
    std::sort(resonances.begin(), resonances.end());
    for (std::size_t k = 0; k < std::min<std::size_t>(3, resonances.size()); ++k) {
      tracks[k].push_back(resonances[k]);
    }
  }
  for (std::size_t k = 0; k < 3; ++k) measures.formant_hz[k] = Median(tracks[k]);
  return measures;
}

}  // namespace sotto
