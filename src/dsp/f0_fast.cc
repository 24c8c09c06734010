#include <algorithm>
#include <cmath>

#include "dsp/f0_internal.h"

namespace sotto::f0 {
namespace {

constexpr double kBandsPerOctave = 2.0;
constexpr double kAllowedChange = 0.1;  // between neighbouring frames of 5 ms
constexpr double kGuided = 0.05;

struct Candidate {
  double hz = 0.0;
  double spread = HUGE_VAL;  // standard deviation of the four estimates over their mean
};

// Nuttall's window as a low-pass filter of two periods of `cutoff_hz`: its first zero lies at twice
// the cutoff, so that of a voice between half the cutoff and the cutoff only the fundamental is
// left.
std::vector<float> LowPassTaps(double cutoff_hz, double rate_hz) {
  const auto half = static_cast<std::size_t>(std::lround(rate_hz / cutoff_hz));
  std::vector<float> taps(2 * half + 1);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    taps[i] = static_cast<float>(
        Nuttall((static_cast<double>(i) + 1.0) / (2.0 * static_cast<double>(half) + 2.0)));
  }
  return taps;
}

bool Continues(double from_hz, double to_hz) {
  return to_hz > 0.0 && std::abs(to_hz - from_hz) <= kAllowedChange * from_hz;
}

// Extends the voiced section that ends before frame `t` (in direction ±1) by the candidates nearest
// to where it is heading, as long as they lie within the allowed change.
void Extend(const std::vector<std::vector<Candidate>>& bands, std::vector<double>& track,
            std::ptrdiff_t t, std::ptrdiff_t direction) {
  const auto size = static_cast<std::ptrdiff_t>(track.size());
  for (; t >= 0 && t < size && track[static_cast<std::size_t>(t)] <= 0.0; t += direction) {
    const double last = track[static_cast<std::size_t>(t - direction)];
    const std::ptrdiff_t earlier = t - 2 * direction;
    const double before =
        earlier >= 0 && earlier < size ? track[static_cast<std::size_t>(earlier)] : 0.0;
    const double expected = before > 0.0 ? 1.5 * last - 0.5 * before : last;
    double best = 0.0;
    for (const auto& band : bands) {
      const double hz = band[static_cast<std::size_t>(t)].hz;
      if (hz > 0.0 && std::abs(hz - expected) < std::abs(best - expected)) best = hz;
    }
    if (!Continues(expected, best)) return;
    track[static_cast<std::size_t>(t)] = best;
  }
}

}  // namespace

std::vector<double> TrackByIntervals(const LowSignal& low, std::span<const double> centres,
                                     std::span<const double> guide_hz, const F0Options& options) {
  const std::size_t frames = centres.size();
  const auto count = static_cast<std::size_t>(
      std::ceil(std::log2(options.ceil_hz / options.floor_hz) * kBandsPerOctave));
  std::vector<std::vector<Candidate>> bands(count, std::vector<Candidate>(frames));
  std::vector<float> filtered;
  IntervalFrequencies frequencies;
  for (std::size_t b = 0; b < count; ++b) {
    const double upper = options.floor_hz * std::exp2(static_cast<double>(b + 1) / kBandsPerOctave);
    FilterBand(low, LowPassTaps(upper, low.rate_hz), filtered);
    frequencies.Measure(filtered, low.rate_hz, centres);
    const double least = std::max(upper / 2.0, options.floor_hz);
    const double most = std::min(upper, options.ceil_hz);
    for (std::size_t t = 0; t < frames; ++t) {
      const auto estimate = frequencies.At(t);
      if (estimate.mean_hz >= least && estimate.mean_hz <= most) {
        bands[b][t] = {estimate.mean_hz, estimate.spread};
      }
    }
  }

  std::vector<double> track(frames, 0.0);
  for (std::size_t t = 0; t < frames; ++t) {
    double least = HUGE_VAL;
    for (const auto& band : bands) {
      const bool guided = std::abs(band[t].hz - guide_hz[t]) < kGuided * guide_hz[t];
      const double cost = guided ? band[t].spread - 1.0 : band[t].spread;
      if (cost < least) least = cost, track[t] = band[t].hz;
    }
  }
  // Frames that jump, then sections shorter than two periods of the lowest voice, are no voice.
  const std::vector<double> raw = track;
  for (std::size_t t = 1; t < frames; ++t) {
    if (raw[t] > 0.0 && !Continues(raw[t - 1], raw[t])) track[t] = 0.0;
  }
  const std::size_t shortest =
      2 * static_cast<std::size_t>(1.0 / (options.floor_hz * options.frame_period_s)) + 1;
  struct Section {
    std::size_t begin, end;
  };
  std::vector<Section> sections;
  for (std::size_t t = 0; t < frames;) {
    if (track[t] <= 0.0) {
      ++t;
      continue;
    }
    std::size_t end = t;
    while (end < frames && track[end] > 0.0 && (end == t || Continues(track[end - 1], track[end])))
      ++end;
    // The ends are the least certain: a section shrinks to its core and grows again from there.
    const std::size_t trim = end - t >= shortest ? (shortest - 1) / 2 : (end - t + 1) / 2;
    std::fill_n(track.begin() + static_cast<std::ptrdiff_t>(t), trim, 0.0);
    std::fill_n(track.begin() + static_cast<std::ptrdiff_t>(end - trim), trim, 0.0);
    if (end - t >= shortest) sections.push_back({t + trim, end - trim});
    t = end;
  }
  for (const Section& s : sections) Extend(bands, track, static_cast<std::ptrdiff_t>(s.end), 1);
  for (const Section& s : sections)
    Extend(bands, track, static_cast<std::ptrdiff_t>(s.begin) - 1, -1);
  return track;
}

}  // namespace sotto::f0
