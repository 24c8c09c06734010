#include "assess/zebra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "assess/numeric.h"
#include "assess/verification.h"

namespace sotto {
namespace {

// Mean of Z over both classes; `llr_of` gives a step's LLR.
template <typename Steps, typename LlrOf>
double MeanZ(const Steps& steps, double n_tar, double n_non, const LlrOf& llr_of) {
  double tar = 0.0;
  double non = 0.0;
  for (const auto& step : steps) {
    const double llr = llr_of(step);
    if (step.tar > 0.0) tar += step.tar * DisclosureZ(llr);
    if (step.non > 0.0) non += step.non * DisclosureZ(-llr);
  }
  return (tar / n_tar + non / n_non) / (2.0 * std::numbers::ln2);
}

// Sums of softplus(±(score + offset)) over one class for many offsets |offset| ≤ 10 at a cost that
// hardly depends on the number of scores. Scores within ±25 are gathered in cells of width 1/64
// with their counts and moments about the cell's centre: Taylor's series to the fifth order is then
// exact to rounding (the next term is below (1/128)^6/720 = 3e-16 of the sum). Beyond ±25 the
// argument is beyond ±15, where three terms of the series of log1p are.
class SoftplusSums {
 public:
  // `sign` −1 for targets (cost of a low score), +1 for non-targets.
  SoftplusSums(const ScoreLevels& data, double Level::*count, double sign)
      : sign_(sign), cells_(2 * kNear * kCellsPerUnit + 1) {
    for (const Level& level : data.levels) {
      const double n = level.*count;
      if (n == 0.0) continue;
      const double x = sign * level.score;
      if (std::abs(x) <= kNear) {
        const double cell = std::nearbyint((x + kNear) * kCellsPerUnit);
        double power = n;
        const double delta = x - (cell / kCellsPerUnit - kNear);
        for (double& moment : cells_[static_cast<std::size_t>(cell)]) {
          moment += power;
          power *= delta;
        }
        continue;
      }
      if (x > 0.0) {
        linear_count_ += n;
        linear_sum_ += n * x;
      }
      const double e = std::exp(-std::abs(x));
      auto& far = x > 0.0 ? far_high_ : far_low_;
      far[0] += n * e;
      far[1] += n * e * e;
      far[2] += n * e * e * e;
    }
  }

  double At(double offset) const {
    const double shift = sign_ * offset;
    const double scale = std::exp(shift);
    double sum = linear_count_ > 0.0 ? linear_sum_ + linear_count_ * shift : 0.0;
    sum += Log1pSeries(far_high_, 1.0 / scale) + Log1pSeries(far_low_, scale);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto& m = cells_[i];
      if (m[0] == 0.0) continue;
      const double x = static_cast<double>(i) / kCellsPerUnit - kNear + shift;
      const double p = Sigmoid(x);
      const double pq = p * Sigmoid(-x);
      const double r = 1.0 - 2.0 * p;
      // Derivatives of softplus: p, pq, pq·r, pq(1 − 6pq), pq·r(1 − 12pq).
      sum += m[0] * Softplus(x) + m[1] * p +
             pq * (m[2] / 2.0 + m[3] * r / 6.0 + m[4] * (1.0 - 6.0 * pq) / 24.0 +
                   m[5] * r * (1.0 - 12.0 * pq) / 120.0);
    }
    return sum;
  }

 private:
  static constexpr int kNear = 25;
  static constexpr int kCellsPerUnit = 64;
  static double Log1pSeries(const std::array<double, 3>& sums, double scale) {
    return scale * (sums[0] - scale * (sums[1] / 2.0 - scale * sums[2] / 3.0));
  }
  double sign_;
  std::vector<std::array<double, 6>> cells_;
  double linear_count_ = 0.0;
  double linear_sum_ = 0.0;
  std::array<double, 3> far_high_{};
  std::array<double, 3> far_low_{};
};

}  // namespace

double DisclosureZ(double l) {
  if (std::isinf(l)) return l > 0.0 ? 0.5 : l;
  if (std::abs(l) < 0.5) {
    // (e^l − 1 − l)/l² by its series, where the difference would cancel.
    double term = 0.5;
    double sum = 0.0;
    for (int k = 3; k < 20; ++k) {
      sum += term;
      term *= l / k;
    }
    const double slope = l == 0.0 ? 1.0 : std::expm1(l) / l;
    return 0.5 - sum / (slope * slope);
  }
  const double e = std::expm1(l);  // may be +inf: both quotients are then 0
  return 0.5 + (l / e - 1.0) / e;
}

double ExpectedDisclosure(const Pav& pav) {
  return MeanZ(pav.blocks, pav.n_tar, pav.n_non, [](const PavBlock& b) { return b.llr; });
}

double ExpectedDisclosure(const ScoreLevels& llrs) {
  return MeanZ(llrs.levels, llrs.n_tar, llrs.n_non, [](const Level& l) { return l.score; });
}

double LargestAbsLlrLog10(const Pav& laplace) {
  double largest = 0.0;
  for (const PavBlock& block : laplace.blocks) largest = std::max(largest, std::abs(block.llr));
  return largest / std::numbers::ln10;
}

char ZebraTag(double worst_case_log10) {
  if (worst_case_log10 <= std::numeric_limits<double>::epsilon()) return '0';
  constexpr double kUpper[] = {1.0, 2.0, 4.0, 5.0, 6.0};
  char tag = 'A';
  for (const double upper : kUpper) {
    if (worst_case_log10 <= upper) return tag;
    ++tag;
  }
  return tag;
}

Zebra MeasureZebra(const Pav& plain, const Pav& laplace) {
  Zebra zebra;
  zebra.d_ece_bits = ExpectedDisclosure(plain);
  zebra.worst_case_log10 = LargestAbsLlrLog10(laplace);
  zebra.tag = ZebraTag(zebra.worst_case_log10);
  return zebra;
}

Zebra MeasureZebra(const ScoreLevels& data) {
  const Pav plain = FitPav(data);
  return MeasureZebra(plain, WithLaplace(plain));
}

EceProfile MakeEceProfile(const ScoreLevels& data, const Pav& pav) {
  constexpr int kSteps = 100;  // on each side of 0
  EceProfile profile;
  std::vector<double> thresholds;
  for (int i = -kSteps; i <= kSteps; ++i) {
    profile.prior_log_odds.push_back(i / 10.0);
    thresholds.push_back(-profile.prior_log_odds.back());
  }
  const std::vector<RocPoint> actual = RocAt(data, thresholds);
  const SoftplusSums tar(data, &Level::tar, -1.0);
  const SoftplusSums non(data, &Level::non, 1.0);
  for (std::size_t i = 0; i < profile.prior_log_odds.size(); ++i) {
    const double odds = profile.prior_log_odds[i];
    const double prior = Sigmoid(odds);
    const double other = Sigmoid(-odds);
    const auto ece = [&](double mean_tar, double mean_non) {
      return (prior * mean_tar + other * mean_non) / std::numbers::ln2;
    };
    double min_tar = 0.0;
    double min_non = 0.0;
    double missed = 0.0;
    double accepted = pav.n_non;
    double best = other;  // accept all
    for (const PavBlock& block : pav.blocks) {
      if (block.tar > 0.0) min_tar += block.tar * Softplus(-block.llr - odds);
      if (block.non > 0.0) min_non += block.non * Softplus(block.llr + odds);
      missed += block.tar;
      accepted -= block.non;
      best = std::min(best, prior * missed / pav.n_tar + other * accepted / pav.n_non);
    }
    profile.ece_default.push_back(ece(Softplus(-odds), Softplus(odds)));
    profile.ece_min.push_back(ece(min_tar / pav.n_tar, min_non / pav.n_non));
    profile.ece_act.push_back(ece(tar.At(odds) / data.n_tar, non.At(odds) / data.n_non));
    profile.dcf_default.push_back(std::min(prior, other));
    profile.dcf_min.push_back(best);
    profile.dcf_act.push_back(prior * actual[i].miss + other * actual[i].false_alarm);
  }
  return profile;
}

}  // namespace sotto
