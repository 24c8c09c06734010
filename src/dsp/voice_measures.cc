#include "dsp/voice_measures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/resampler.h"
#include "dsp/f0.h"
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
  F0Options options;
  options.floor_hz = 60.0;
  options.ceil_hz = 400.0;
  options.frame_period_s = kHopS;
  return EstimateF0(x, rate_hz, options);
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
