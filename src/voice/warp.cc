#include "voice/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

float Interpolate(std::span<const float> in, float place) {
  const auto below = std::min(static_cast<std::size_t>(place), in.size() - 2);
  const float part = place - static_cast<float>(below);
  return in[below] + part * (in[below + 1] - in[below]);
}

// The distortion as a function of β for one α: Σ |f − ω + β·t(1 − t)| with t = f/π, by the midpoint
// rule; 2000 points leave an error below 1e-6 even at the kink where h crosses ω.
class Distortion {
 public:
  explicit Distortion(double alpha) {
    for (int i = 0; i < kPoints; ++i) {
      const double omega = kPi * (i + 0.5) / kPoints;
      const double f = BilinearWarp(omega, alpha), t = f / kPi;
      offset_[static_cast<std::size_t>(i)] = f - omega;
      slope_[static_cast<std::size_t>(i)] = t - t * t;
    }
  }

  double At(double beta) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < kPoints; ++i) sum += std::abs(offset_[i] + beta * slope_[i]);
    return sum * kPi / kPoints;
  }

  // The β of the least distortion between −edge and edge, by golden sections.
  double Least(double edge) const {
    double lo = -edge, hi = edge;
    for (int i = 0; i < 60; ++i) {
      const double step = (hi - lo) / std::numbers::phi;
      if (At(hi - step) < At(lo + step)) {
        hi = lo + step;
      } else {
        lo = hi - step;
      }
    }
    return 0.5 * (lo + hi);
  }

  // Where it crosses `level` between `below` and `above`, two β on either side of it.
  double Crossing(double level, double below, double above) const {
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (below + above);
      (At(middle) <= level ? below : above) = middle;
    }
    return below;
  }

 private:
  static constexpr int kPoints = 2000;
  std::array<double, kPoints> offset_, slope_;
};

}  // namespace

double BilinearWarp(double omega, double alpha) {
  return omega + 2.0 * std::atan2(alpha * std::sin(omega), 1.0 - alpha * std::cos(omega));
}

double QuadraticWarp(double omega, double beta) {
  const double t = omega / kPi;
  return omega + beta * (t - t * t);
}

double VoiceMaskWarp(double omega, double alpha, double beta) {
  return QuadraticWarp(BilinearWarp(omega, alpha), beta);
}

double PowerWarp(double omega, double a) { return kPi * std::pow(omega / kPi, 1.0 - a); }

double VoiceMaskDistortion(double alpha, double beta) { return Distortion(alpha).At(beta); }

void VoiceMaskOptions::Validate() const {
  if (!(min_alpha >= 0.0 && min_alpha <= max_alpha && max_alpha < 1.0)) {
    throw Error(
        fmt::format("VoiceMask |alpha| {}:{}: 0 <= lo <= hi < 1 is allowed", min_alpha, max_alpha));
  }
  if (!(max_beta > 0.0 && max_beta < kPi)) {
    throw Error(
        fmt::format("VoiceMask |beta| up to {}: more than 0 and less than pi is allowed, "
                    "where the warp is monotone",
                    max_beta));
  }
  if (!(min_distortion >= 0.0 && min_distortion <= max_distortion)) {
    throw Error(fmt::format("VoiceMask distortion {}:{}: 0 <= lo <= hi is allowed", min_distortion,
                            max_distortion));
  }
}

std::vector<BetaInterval> AllowedBetas(double alpha, const VoiceMaskOptions& options) {
  const Distortion distortion(alpha);
  const double best = distortion.Least(options.max_beta);
  const double least = distortion.At(best);
  if (least > options.max_distortion) return {};
  std::vector<BetaInterval> allowed;
  for (const double end : {-options.max_beta, options.max_beta}) {
    const double strongest = distortion.At(end);
    if (strongest < options.min_distortion) continue;
    const double outer = strongest <= options.max_distortion
                             ? end
                             : distortion.Crossing(options.max_distortion, best, end);
    const double inner = least >= options.min_distortion
                             ? best
                             : distortion.Crossing(options.min_distortion, best, end);
    allowed.push_back({std::min(inner, outer), std::max(inner, outer)});
  }
  return allowed;
}

VoiceMaskWarpParameters DrawVoiceMask(const TargetDraws& draws, const VoiceMaskOptions& options,
                                      const std::string& speaker, const std::string& utterance) {
  options.Validate();
  VoiceMaskWarpParameters drawn;
  drawn.alpha = draws.Uniform("alpha", options.min_alpha, options.max_alpha, speaker, utterance);
  if (draws.Uniform("alpha sign", 0.0, 1.0, speaker, utterance) < 0.5) drawn.alpha = -drawn.alpha;
  const std::vector<BetaInterval> allowed = AllowedBetas(drawn.alpha, options);
  double total = 0.0;
  for (const BetaInterval& interval : allowed) total += interval.hi - interval.lo;
  if (total <= 0.0) {
    throw Error(
        fmt::format("VoiceMask: no beta in (-{0}, {0}) gives a distortion in [{1}, {2}] for "
                    "every alpha in the range",
                    options.max_beta, options.min_distortion, options.max_distortion));
  }
  double place = draws.Uniform("beta", 0.0, total, speaker, utterance);
  for (const BetaInterval& interval : allowed) {
    drawn.beta = std::min(interval.hi, interval.lo + place);
    if (place < interval.hi - interval.lo) break;
    place -= interval.hi - interval.lo;
  }
  return drawn;
}

SpectrumWarp::SpectrumWarp(std::size_t bins, double top_hz,
                           const std::function<double(double)>& warp)
    : source_(bins) {
  const double top_bin = static_cast<double>(bins - 1) * kWarpTopHz / top_hz;
  if (std::abs(warp(0.0)) > 1e-9 || std::abs(warp(kPi) - kPi) > 1e-9) {
    throw Error("a frequency warp must keep 0 and pi");
  }
  // h is sampled four times as finely as the bins and inverted between its samples.
  const auto steps = static_cast<std::size_t>(std::ceil(4.0 * top_bin));
  const double step = kPi / static_cast<double>(steps);
  std::vector<double> warped(steps + 1);
  for (std::size_t i = 1; i <= steps; ++i) {
    warped[i] = i == steps ? kPi : warp(step * static_cast<double>(i));
    if (warped[i] <= warped[i - 1]) throw Error("a frequency warp must be monotone");
  }
  std::size_t i = 1;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double target = static_cast<double>(bin) / top_bin * kPi;
    if (target >= kPi) {
      source_[bin] = static_cast<float>(bin);
      continue;
    }
    while (warped[i] < target) ++i;
    const double part = (target - warped[i - 1]) / (warped[i] - warped[i - 1]);
    source_[bin] = static_cast<float>(step * (static_cast<double>(i - 1) + part) / kPi * top_bin);
  }
}

void SpectrumWarp::Apply(std::span<const float> in, std::span<float> out) const {
  for (std::size_t bin = 0; bin < out.size(); ++bin) out[bin] = Interpolate(in, source_[bin]);
}

PowerSpectrumWarp::PowerSpectrumWarp(std::size_t bins, double top_hz)
    : top_bin_(static_cast<double>(bins - 1) * kWarpTopHz / top_hz) {
  for (std::size_t bin = 1; bin < bins && static_cast<double>(bin) < top_bin_; ++bin) {
    log_bin_.push_back(std::log(static_cast<double>(bin) / top_bin_));
  }
}

void PowerSpectrumWarp::Apply(double a, std::span<const float> in, std::span<float> out) const {
  std::copy(in.begin(), in.end(), out.begin());  // 0 Hz and what lies above 8 kHz stay
  const double exponent = 1.0 / (1.0 - a);
  for (std::size_t i = 0; i < log_bin_.size(); ++i) {
    out[i + 1] = Interpolate(in, static_cast<float>(top_bin_ * std::exp(exponent * log_bin_[i])));
  }
}

}  // namespace sotto
