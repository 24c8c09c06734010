#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "dsp/f0_internal.h"
#include "dsp/vector_math.h"

namespace sotto::f0 {
namespace {

constexpr double kBandsPerOctave = 2.0;
constexpr double kAllowedChange = 0.1;  // between neighbouring frames of 5 ms

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
    const double u =
        std::numbers::pi * (static_cast<double>(i) + 1.0) / (static_cast<double>(half) + 1.0);
    taps[i] = static_cast<float>(0.355768 - 0.487396 * std::cos(u) + 0.144232 * std::cos(2.0 * u) -
                                 0.012604 * std::cos(3.0 * u));
  }
  return taps;
}

// Frequencies between neighbouring falling zero crossings of sign·(s[i] − slope·s[i−1]),
// interpolated at the frames; 0 outside the first and last.
void IntervalFrequencies(std::span<const float> s, float sign, bool slope, const LowSignal& low,
                         std::vector<double>& crossings, std::span<double> at_frames) {
  crossings.clear();
  const double offset = slope ? -0.5 : 0.0;
  const std::size_t first = slope ? 1 : 0;
  float before = 0.0F;
  for (std::size_t i = first; i < s.size(); ++i) {
    const float now = sign * (slope ? s[i] - s[i - 1] : s[i]);
    if (i > first && before > 0.0F && now <= 0.0F) {
      crossings.push_back(static_cast<double>(i) - 1.0 + offset + before / (before - now));
    }
    before = now;
  }
  std::fill(at_frames.begin(), at_frames.end(), 0.0);
  if (crossings.size() < 3) return;
  const auto middle = [&](std::size_t j) { return 0.5 * (crossings[j] + crossings[j + 1]); };
  const auto hz = [&](std::size_t j) { return low.rate_hz / (crossings[j + 1] - crossings[j]); };
  std::size_t j = 0;
  for (std::size_t t = 0; t < at_frames.size(); ++t) {
    const double centre = low.centres[t];
    while (j + 3 < crossings.size() && middle(j + 1) < centre) ++j;
    const double u = (centre - middle(j)) / (middle(j + 1) - middle(j));
    if (u >= 0.0 && u <= 1.0) at_frames[t] = hz(j) + u * (hz(j + 1) - hz(j));
  }
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
    const double expected = before > 0.0 ? 2.0 * last - before : last;
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

std::vector<double> TrackByIntervals(const LowSignal& low, const F0Options& options) {
  const std::size_t frames = low.centres.size();
  const auto count = static_cast<std::size_t>(
      std::ceil(std::log2(options.ceil_hz / options.floor_hz) * kBandsPerOctave));
  std::vector<std::vector<Candidate>> bands(count, std::vector<Candidate>(frames));
  std::vector<float> padded, filtered(low.x.size());
  std::vector<double> crossings;
  std::array<std::vector<double>, 4> estimates;
  for (auto& e : estimates) e.resize(frames);
  for (std::size_t b = 0; b < count; ++b) {
    const double upper = options.floor_hz * std::exp2(static_cast<double>(b + 1) / kBandsPerOctave);
    const auto taps = LowPassTaps(upper, low.rate_hz);
    padded.assign(low.x.size() + taps.size() - 1, 0.0F);
    std::copy(low.x.begin(), low.x.end(),
              padded.begin() + static_cast<std::ptrdiff_t>(taps.size() / 2));
    Correlate(padded, taps, filtered);
    IntervalFrequencies(filtered, 1.0F, false, low, crossings, estimates[0]);
    IntervalFrequencies(filtered, -1.0F, false, low, crossings, estimates[1]);
    IntervalFrequencies(filtered, 1.0F, true, low, crossings, estimates[2]);
    IntervalFrequencies(filtered, -1.0F, true, low, crossings, estimates[3]);
    for (std::size_t t = 0; t < frames; ++t) {
      double sum = 0.0, squares = 0.0;
      bool all = true;
      for (const auto& e : estimates) {
        all = all && e[t] > 0.0;
        sum += e[t];
        squares += e[t] * e[t];
      }
      const double mean = sum / 4.0;
      if (!all || mean > upper || mean < upper / 2.0 || mean < options.floor_hz ||
          mean > options.ceil_hz) {
        continue;
      }
      bands[b][t] = {mean, std::sqrt(std::max(0.0, squares / 4.0 - mean * mean)) / mean};
    }
  }

  std::vector<double> track(frames, 0.0);
  for (std::size_t t = 0; t < frames; ++t) {
    double least = HUGE_VAL;
    for (const auto& band : bands) {
      if (band[t].spread < least) least = band[t].spread, track[t] = band[t].hz;
    }
  }
  // Frames that jump, then sections shorter than two periods of the lowest voice, are no voice.
  const std::vector<double> raw = track;
  for (std::size_t t = 1; t < frames; ++t) {
    if (raw[t] > 0.0 && !Continues(raw[t - 1], raw[t])) track[t] = 0.0;
  }
  const auto shortest =
      static_cast<std::size_t>(2.0 / (options.floor_hz * options.frame_period_s)) + 1;
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
    if (end - t >= shortest) {
      sections.push_back({t, end});
    } else {
      std::fill(track.begin() + static_cast<std::ptrdiff_t>(t),
                track.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    }
    t = end;
  }
  for (const Section& s : sections) Extend(bands, track, static_cast<std::ptrdiff_t>(s.end), 1);
  for (const Section& s : sections)
    Extend(bands, track, static_cast<std::ptrdiff_t>(s.begin) - 1, -1);
  return track;
}

}  // namespace sotto::f0
