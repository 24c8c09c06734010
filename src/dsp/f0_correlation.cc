#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dsp/f0_internal.h"
#include "dsp/vector_math.h"

namespace sotto::f0 {
namespace {

constexpr double kWindowS = 0.025;
constexpr std::size_t kCandidates = 8;  // a frame, beside "unvoiced"
constexpr double kLeastPeak = 0.25;
// Favours the shorter of periods that correlate equally well: every multiple of a period does.
constexpr double kLagWeight = 0.12;
constexpr double kVoicedBias = 0.45;   // correlation from which a lone frame is voiced
constexpr double kOctaveCost = 0.5;    // of a jump by one octave between frames
constexpr double kVoicingCost = 0.15;  // of a change between voiced and unvoiced

struct State {
  double hz = 0.0;  // 0: unvoiced
  double cost = 0.0;
};

// Normalised cross-correlation of two windows one lag apart, both as far from the centre.
class Correlator {
 public:
  Correlator(const LowSignal& low, const F0Options& options)
      : low_(low),
        window_(static_cast<std::size_t>(kWindowS * low.rate_hz)),
        least_(
            std::max<std::size_t>(3, static_cast<std::size_t>(low.rate_hz / options.ceil_hz) - 1)),
        most_(static_cast<std::size_t>(std::ceil(low.rate_hz / options.floor_hz)) + 1),
        margin_(window_ + most_ + 2),
        padded_(low.x.size() + 2 * margin_),
        energy_(padded_.size() + 1),
        score_(most_ + 1) {
    std::copy(low.x.begin(), low.x.end(), padded_.begin() + static_cast<std::ptrdiff_t>(margin_));
    for (std::size_t i = 0; i < padded_.size(); ++i) {
      energy_[i + 1] = energy_[i] + static_cast<double>(padded_[i]) * padded_[i];
    }
  }

  // The states of one frame, unvoiced first.
  void States(double centre, const F0Options& options, std::vector<State>& states) {
    const auto middle = static_cast<std::size_t>(
        std::clamp(centre, 0.0, static_cast<double>(low_.x.size())) + static_cast<double>(margin_));
    for (std::size_t lag = least_; lag <= most_; ++lag) {
      const std::size_t a = middle - (window_ + lag) / 2, b = a + lag;
      const double energy =
          (energy_[a + window_] - energy_[a]) * (energy_[b + window_] - energy_[b]);
      score_[lag] = energy > kTiny
                        ? Dot({padded_.data() + a, window_}, {padded_.data() + b, window_}) /
                              std::sqrt(energy)
                        : 0.0;
    }
    states.assign(1, {0.0, 0.0});
    double best = 0.0;
    for (std::size_t lag = least_ + 1; lag < most_; ++lag) {
      const double before = score_[lag - 1], at = score_[lag], after = score_[lag + 1];
      if (at < kLeastPeak || at < before || at <= after) continue;
      const double curve = before - 2.0 * at + after;
      const double shift = 0.5 * (before - after) / curve;
      const double peak = std::min(1.0, at - 0.25 * (before - after) * shift);
      const double period = static_cast<double>(lag) + shift;
      const double hz = low_.rate_hz / period;
      if (hz < options.floor_hz || hz > options.ceil_hz) continue;
      best = std::max(best, peak);
      states.push_back({hz, 1.0 - peak * (1.0 - kLagWeight * period / static_cast<double>(most_))});
    }
    if (states.size() > kCandidates + 1) {
      std::nth_element(states.begin() + 1, states.begin() + kCandidates, states.end(),
                       [](const State& s, const State& t) { return s.cost < t.cost; });
      states.resize(kCandidates + 1);
    }
    states[0].cost = 1.0 - 2.0 * kVoicedBias + best;
  }

 private:
  static constexpr double kTiny = 1e-24;  // −120 dB of full scale, squared, over the window
  const LowSignal& low_;
  std::size_t window_, least_, most_, margin_;
  std::vector<float> padded_;
  std::vector<double> energy_, score_;
};

double Change(const State& from, const State& to) {
  if (from.hz <= 0.0 && to.hz <= 0.0) return 0.0;
  if (from.hz <= 0.0 || to.hz <= 0.0) return kVoicingCost;
  return kOctaveCost * std::abs(std::log2(from.hz / to.hz));
}

}  // namespace

std::vector<double> TrackByCorrelation(const LowSignal& low, std::span<const double> centres,
                                       const F0Options& options) {
  const std::size_t frames = centres.size();
  Correlator correlator(low, options);
  std::vector<std::vector<State>> states(frames);
  std::vector<std::vector<std::uint8_t>> from(frames);
  std::vector<double> total, next;
  for (std::size_t t = 0; t < frames; ++t) {
    correlator.States(centres[t], options, states[t]);
    next.assign(states[t].size(), 0.0);
    from[t].assign(states[t].size(), 0);
    for (std::size_t j = 0; j < states[t].size(); ++j) {
      double least = t == 0 ? 0.0 : HUGE_VAL;
      for (std::size_t i = 0; i < total.size(); ++i) {
        const double cost = total[i] + Change(states[t - 1][i], states[t][j]);
        if (cost < least) least = cost, from[t][j] = static_cast<std::uint8_t>(i);
      }
      next[j] = least + states[t][j].cost;
    }
    std::swap(total, next);
  }
  std::vector<double> track(frames, 0.0);
  if (frames == 0) return track;
  auto j = static_cast<std::size_t>(std::min_element(total.begin(), total.end()) - total.begin());
  for (std::size_t t = frames; t-- > 0;) {
    track[t] = states[t][j].hz;
    j = from[t][j];
  }
  return track;
}

}  // namespace sotto::f0
