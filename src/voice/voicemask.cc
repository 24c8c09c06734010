#include "voice/voicemask.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "dsp/warp.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

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

}  // namespace sotto
