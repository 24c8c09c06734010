#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "dsp/f0_internal.h"
#include "dsp/vector_math.h"

namespace sotto::f0 {
namespace {

constexpr double kWindowS = 0.025;
constexpr std::size_t kCandidates = 8;  // a frame, beside "unvoiced"
constexpr double kLeastPeak = 0.25;
// Favours the shorter of periods that correlate equally well: every multiple of a period does.
constexpr double kLagWeight = 0.2;
constexpr double kVoicedBias = 0.6;    // correlation from which a lone frame is voiced
constexpr double kOctaveCost = 0.5;    // of a jump by one octave between frames
constexpr double kVoicingCost = 0.15;  // of a change between voiced and unvoiced

struct State {
  double hz = 0.0;  // 0: unvoiced
  double cost = 0.0;
};

// A windowed sinc with six zero crossings a side.
std::vector<float> LowPassTaps(double cutoff_hz, double rate_hz) {
  constexpr double kPi = std::numbers::pi;
  const double half = std::ceil(6.0 * rate_hz / (2.0 * cutoff_hz));
  std::vector<float> taps;
  for (double t = -half; t <= half; t += 1.0) {
    const double u = 2.0 * kPi * cutoff_hz * t / rate_hz;
    const double w = 0.5 + 0.5 * std::cos(kPi * t / (half + 1.0));
    taps.push_back(
        static_cast<float>(2.0 * cutoff_hz / rate_hz * w * (t == 0.0 ? 1.0 : std::sin(u) / u)));
  }
  return taps;
}

// Below 1 kHz and at twice the rate, a peak of the correlation is wide enough to be found between
// whole lags. (Zeros between the samples double the rate; the filter removes the image.)
LowSignal MakeSmooth(const LowSignal& low) {
  LowSignal sparse{std::vector<float>(2 * low.x.size(), 0.0F), 2.0 * low.rate_hz};
  for (std::size_t i = 0; i < low.x.size(); ++i) sparse.x[2 * i] = 2.0F * low.x[i];
  LowSignal smooth{{}, sparse.rate_hz};
  FilterBand(sparse, LowPassTaps(1000.0, sparse.rate_hz), smooth.x);
  return smooth;
}

// Normalised cross-correlation of two windows one lag apart, both as far from the centre.
class Correlator {
 public:
  Correlator(const LowSignal& signal, const F0Options& options)
      : rate_hz_(signal.rate_hz),
        size_(signal.x.size()),
        window_(static_cast<std::size_t>(kWindowS * rate_hz_)),
        least_(std::max<std::size_t>(3, static_cast<std::size_t>(rate_hz_ / options.ceil_hz) - 1)),
        most_(static_cast<std::size_t>(std::ceil(rate_hz_ / options.floor_hz)) + 1),
        margin_(window_ + most_ + 2),
        padded_(size_ + 2 * margin_),
        energy_(padded_.size() + 1),
        score_(most_ + 1) {
    std::copy(signal.x.begin(), signal.x.end(),
              padded_.begin() + static_cast<std::ptrdiff_t>(margin_));
    for (std::size_t i = 0; i < padded_.size(); ++i) {
      energy_[i + 1] = energy_[i] + static_cast<double>(padded_[i]) * padded_[i];
    }
  }

  // The states of the frame around sample `centre`, unvoiced first.
  void States(double centre, const F0Options& options, std::vector<State>& states) {
    const auto middle = static_cast<std::size_t>(
        std::clamp(centre, 0.0, static_cast<double>(size_)) + static_cast<double>(margin_));
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
      const double hz = rate_hz_ / period;
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
  double rate_hz_;
  std::size_t size_, window_, least_, most_, margin_;
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
  Correlator correlator(MakeSmooth(low), options);
  std::vector<std::vector<State>> states(frames);
  std::vector<std::vector<std::uint8_t>> from(frames);
  std::vector<double> total, next;
  for (std::size_t t = 0; t < frames; ++t) {
    correlator.States(2.0 * centres[t], options, states[t]);
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
