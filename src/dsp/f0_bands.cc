#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsp/f0_internal.h"

namespace sotto::f0 {
namespace {

constexpr double kBandsPerOctave = 40.0;
constexpr double kBandTolerance = 0.1;    // how far a band's frequency may lie from its centre
constexpr std::size_t kLeastBands = 10;   // neighbouring bands that must see the same component
constexpr std::size_t kOverlap = 3;       // frames whose candidates are tried here too
constexpr double kSame = 0.002;           // candidates this close are one
constexpr double kMostDeviation = 0.4;    // of the harmonics from a candidate
constexpr double kAllowedChange = 0.008;  // from one frame to the next, 1 ms later
constexpr double kNeighbour = 0.05;  // a candidate without one this close in a neighbour is noise
constexpr double kGuided = 0.05;
// Frames of a section. Chosen by trial: with 6, voicing agreed with Harvest on 91.6 % of frames,
// most of the rest noise that was voiced here; with 9 on 93.6 % (docs/differences.md).
constexpr std::size_t kShortest = 9;
constexpr std::size_t kReach = 100;  // frames by which a section may grow
constexpr double kReachChange = 0.18;
constexpr int kMisses = 4;             // frames without a candidate that end its growth
constexpr double kLeastPeriods = 2.2;  // of a grown section
constexpr std::size_t kGap = 9;        // shorter gaps are filled

using Candidates = std::vector<std::vector<Refiner::Result>>;

// Nuttall's window of four periods times a cosine: zeros at 0 and twice the centre, so that around
// the fundamental of any voice several bands hold it alone.
std::vector<float> BandTaps(double centre_hz, double rate_hz) {
  const auto half = static_cast<std::size_t>(std::lround(2.0 * rate_hz / centre_hz));
  std::vector<float> taps(2 * half + 1);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double n = static_cast<double>(i) - static_cast<double>(half);
    taps[i] =
        static_cast<float>(Nuttall(static_cast<double>(i) / (2.0 * static_cast<double>(half))) *
                           std::cos(2.0 * std::numbers::pi * centre_hz * n / rate_hz));
  }
  return taps;
}

// Where enough neighbouring bands agree with their own centres, the mean of what they see.
std::vector<std::vector<double>> BaseCandidates(const LowSignal& low,
                                                std::span<const double> centres,
                                                const F0Options& options) {
  const double lowest = 0.9 * options.floor_hz;
  const auto bands = static_cast<std::size_t>(
      std::ceil(std::log2(1.1 * options.ceil_hz / lowest) * kBandsPerOctave));
  struct Run {
    std::size_t count = 0;
    double sum = 0.0;
  };
  std::vector<Run> runs(centres.size());
  std::vector<std::vector<double>> candidates(centres.size());
  const auto close = [&](std::size_t t) {
    if (runs[t].count >= kLeastBands)
      candidates[t].push_back(runs[t].sum / static_cast<double>(runs[t].count));
    runs[t] = {};
  };
  std::vector<float> filtered;
  IntervalFrequencies frequencies;
  for (std::size_t b = 0; b < bands; ++b) {
    const double centre_hz = lowest * std::exp2(static_cast<double>(b) / kBandsPerOctave);
    FilterBand(low, BandTaps(centre_hz, low.rate_hz), filtered);
    frequencies.Measure(filtered, low.rate_hz, centres);
    for (std::size_t t = 0; t < centres.size(); ++t) {
      const double hz = frequencies.At(t).mean_hz;
      if (std::abs(hz - centre_hz) < kBandTolerance * centre_hz && hz >= options.floor_hz &&
          hz <= options.ceil_hz) {
        ++runs[t].count;
        runs[t].sum += hz;
      } else {
        close(t);
      }
    }
  }
  for (std::size_t t = 0; t < centres.size(); ++t) close(t);
  return candidates;
}

// Each frame's candidates and those of its neighbours, refined there, with their deviations.
Candidates RefinedCandidates(const LowSignal& low, std::span<const double> centres,
                             std::span<const double> guide_hz, const F0Options& options) {
  auto base = BaseCandidates(low, centres, options);
  // A voice whose fundamental is missing or buried is seen by the guide alone.
  for (std::size_t t = 0; t < centres.size(); ++t) {
    if (guide_hz[t] > 0.0) base[t].push_back(guide_hz[t]);
  }
  Candidates refined(centres.size());
  Refiner refiner(low);
  std::vector<double> tried;
  for (std::size_t t = 0; t < centres.size(); ++t) {
    tried.clear();
    const std::size_t end = std::min(centres.size(), t + kOverlap + 1);
    for (std::size_t u = t - std::min(t, kOverlap); u < end; ++u) {
      for (const double hz : base[u]) {
        const auto same = [&](double other) { return std::abs(other - hz) < kSame * hz; };
        if (std::any_of(tried.begin(), tried.end(), same)) continue;
        tried.push_back(hz);
        const auto result = refiner.Step(centres[t], hz, 6);
        if (result.hz >= options.floor_hz && result.hz <= options.ceil_hz &&
            result.deviation < kMostDeviation) {
          refined[t].push_back(result);
        }
      }
    }
  }
  return refined;
}

// The candidate nearest to `hz`, when within `tolerance` of it; else 0.
double Nearest(const std::vector<Refiner::Result>& candidates, double hz, double tolerance) {
  double best = 0.0, distance = tolerance * hz;
  for (const auto& c : candidates) {
    if (std::abs(c.hz - hz) < distance) distance = std::abs(c.hz - hz), best = c.hz;
  }
  return best;
}

std::vector<double> BestCandidates(const Candidates& candidates, std::span<const double> guide_hz) {
  std::vector<double> track(candidates.size(), 0.0);
  for (std::size_t t = 1; t + 1 < candidates.size(); ++t) {
    double least = HUGE_VAL;
    for (const auto& c : candidates[t]) {
      if (Nearest(candidates[t - 1], c.hz, kNeighbour) <= 0.0 &&
          Nearest(candidates[t + 1], c.hz, kNeighbour) <= 0.0) {
        continue;
      }
      const bool guided = std::abs(c.hz - guide_hz[t]) < kGuided * guide_hz[t];
      const double cost = guided ? c.deviation - 1.0 : c.deviation;
      if (cost < least) least = cost, track[t] = c.hz;
    }
  }
  return track;
}

struct Section {
  std::size_t begin, end;
};

// Smooth stretches of the track.
std::vector<Section> SmoothSections(std::span<const double> track) {
  std::vector<bool> smooth(track.size(), false);
  for (std::size_t t = 2; t < track.size(); ++t) {
    const double expected = 2.0 * track[t - 1] - track[t - 2];
    smooth[t] =
        track[t] > 0.0 && (std::abs(track[t] - expected) <= kAllowedChange * expected ||
                           std::abs(track[t] - track[t - 1]) <= kAllowedChange * track[t - 1]);
  }
  std::vector<Section> sections;
  for (std::size_t t = 0; t < track.size(); ++t) {
    if (!smooth[t]) continue;
    std::size_t end = t;
    while (end < track.size() && smooth[end]) ++end;
    if (end - t >= kShortest) sections.push_back({t, end});
    t = end;
  }
  return sections;
}

struct Point {
  std::size_t frame;
  double hz;
};

// The candidates that carry a section on from frame `from` (its last, or first) in one direction.
std::vector<Point> Grow(const Candidates& candidates, std::size_t from, double hz, bool forward) {
  std::vector<Point> points;
  int misses = 0;
  for (std::size_t i = 1; i <= kReach && misses < kMisses; ++i) {
    if (forward ? from + i >= candidates.size() : i > from) break;
    const std::size_t t = forward ? from + i : from - i;
    const double next = Nearest(candidates[t], hz, kReachChange);
    if (next <= 0.0) {
      ++misses;
      continue;
    }
    misses = 0;
    points.push_back({t, hz = next});
  }
  return points;
}

void FillGaps(std::vector<double>& track) {
  for (std::size_t t = 1; t < track.size(); ++t) {
    if (track[t] > 0.0 || track[t - 1] <= 0.0) continue;
    std::size_t end = t;
    while (end < track.size() && track[end] <= 0.0) ++end;
    if (end == track.size() || end - t >= kGap) continue;
    const double step = (track[end] - track[t - 1]) / static_cast<double>(end - t + 1);
    for (; t < end; ++t) track[t] = track[t - 1] + step;
  }
}

}  // namespace

std::vector<double> TrackByBands(const LowSignal& low, std::span<const double> centres,
                                 std::span<const double> guide_hz, const F0Options& options) {
  const Candidates candidates = RefinedCandidates(low, centres, guide_hz, options);
  const std::vector<double> best = BestCandidates(candidates, guide_hz);
  const std::vector<Section> sections = SmoothSections(best);
  std::vector<double> track(centres.size(), 0.0), sure(centres.size(), 0.0);
  for (const Section& s : sections) {
    std::copy(best.begin() + static_cast<std::ptrdiff_t>(s.begin),
              best.begin() + static_cast<std::ptrdiff_t>(s.end),
              sure.begin() + static_cast<std::ptrdiff_t>(s.begin));
  }
  const double frame_s = centres.size() > 1 ? (centres[1] - centres[0]) / low.rate_hz : 0.001;
  for (const Section& s : sections) {
    const auto before = Grow(candidates, s.begin, best[s.begin], false);
    const auto after = Grow(candidates, s.end - 1, best[s.end - 1], true);
    const std::size_t begin = before.empty() ? s.begin : before.back().frame;
    const std::size_t end = after.empty() ? s.end : after.back().frame + 1;
    double sum = 0.0;
    for (std::size_t t = s.begin; t < s.end; ++t) sum += best[t];
    const double mean = sum / static_cast<double>(s.end - s.begin);
    if (static_cast<double>(end - begin) * frame_s * mean < kLeastPeriods) continue;
    for (std::size_t t = s.begin; t < s.end; ++t) track[t] = best[t];
    for (const auto* points : {&before, &after}) {
      for (const Point& p : *points) {
        if (track[p.frame] <= 0.0 && sure[p.frame] <= 0.0) track[p.frame] = p.hz;
      }
    }
  }
  FillGaps(track);
  return track;
}

}  // namespace sotto::f0
