#include "assess/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "assess/numeric.h"
#include "base/error.h"

namespace sotto {
namespace {

// Where the line between two points (miss, false alarm) meets miss = false alarm. The first lies
// above that diagonal, the second on it or below.
double CrossDiagonal(double miss0, double fa0, double miss1, double fa1) {
  const double above = fa0 - miss0;
  const double below = miss1 - fa1;
  const double share = above + below > 0.0 ? above / (above + below) : 0.0;
  return miss0 + share * (miss1 - miss0);
}

// Walks from accept-all (miss 0, false alarm 1) to reject-all over steps with counts tar and non,
// and returns the equal error rate of the piecewise linear curve.
template <typename Steps>
double WalkToEqualError(const Steps& steps, double n_tar, double n_non) {
  double missed = 0.0;
  double accepted = n_non;
  for (const auto& step : steps) {
    const double missed_next = missed + step.tar;
    const double accepted_next = accepted - step.non;
    if (missed_next * n_non >= accepted_next * n_tar) {
      return CrossDiagonal(missed / n_tar, accepted / n_non, missed_next / n_tar,
                           accepted_next / n_non);
    }
    missed = missed_next;
    accepted = accepted_next;
  }
  return 1.0;  // not reached: the last point is (1, 0)
}

double NormalisedCost(const OperatingPoint& point, double miss, double false_alarm) {
  const double a = point.prior * point.cost_miss;
  const double b = (1.0 - point.prior) * point.cost_false_alarm;
  return (a * miss + b * false_alarm) / std::min(a, b);
}

template <typename Steps, typename LlrOf>
double CllrOf(const Steps& steps, double n_tar, double n_non, const LlrOf& llr_of) {
  double tar = 0.0;
  double non = 0.0;
  for (const auto& step : steps) {
    const double llr = llr_of(step);
    if (step.tar > 0.0) tar += step.tar * Softplus(-llr);
    if (step.non > 0.0) non += step.non * Softplus(llr);
  }
  return (tar / n_tar + non / n_non) / (2.0 * std::numbers::ln2);
}

}  // namespace

double EerInterpolated(const ScoreLevels& data) {
  return WalkToEqualError(data.levels, data.n_tar, data.n_non);
}

double EerRocch(const Pav& pav) { return WalkToEqualError(pav.blocks, pav.n_tar, pav.n_non); }

double EerKaldi(const ScoreLevels& data) {
  // Position p in the rising targets stands against position N − 1 − ⌊N·p/T⌋ in the rising
  // non-targets; the first p whose target is strictly higher wins. Targets of one value share the
  // number of non-targets below them, so per value one division finds the first p.
  const double n_tar = data.n_tar;
  const double n_non = data.n_non;
  const auto opposite = [&](double p) {
    return std::max(n_non - 1.0 - std::floor(n_non * p / n_tar), 0.0);
  };
  double tar_below = 0.0;
  double non_below = 0.0;
  const auto& levels = data.levels;
  for (std::size_t i = 0; i < levels.size();) {
    const auto value = static_cast<float>(levels[i].score);
    double tar = 0.0;
    double non = 0.0;
    for (; i < levels.size() && static_cast<float>(levels[i].score) == value; ++i) {
      tar += levels[i].tar;
      non += levels[i].non;
    }
    if (tar > 0.0 && opposite(tar_below + tar - 1.0) < non_below) {
      double low = tar_below;
      double high = tar_below + tar - 1.0;
      while (low < high) {
        const double middle = std::floor((low + high) / 2.0);
        if (opposite(middle) < non_below) {
          high = middle;
        } else {
          low = middle + 1.0;
        }
      }
      return std::min(low, n_tar - 1.0) / n_tar;
    }
    tar_below += tar;
    non_below += non;
  }
  return (n_tar - 1.0) / n_tar;
}

double EerArgmin(const ScoreLevels& data) {
  double missed = 0.0;
  double accepted = data.n_non;
  double smallest = std::numeric_limits<double>::infinity();
  double eer = 0.0;
  const auto consider = [&](double m, double a) {
    const double miss = m / data.n_tar;
    const double false_alarm = a / data.n_non;
    const double difference = std::abs(miss - false_alarm);
    if (difference < smallest) {
      smallest = difference;
      eer = (miss + false_alarm) / 2.0;
    }
  };
  // Along one level first the misses rise, then the false alarms fall; the difference of the rates
  // is monotone on each leg, so the two whole counts around the crossing decide.
  const auto leg = [&](double from, double to, double target, auto&& at) {
    const double low = std::min(from, to);
    const double high = std::max(from, to);
    const double floor = std::clamp(std::floor(target), low, high);
    const double ceil = std::clamp(std::ceil(target), low, high);
    at(from <= to ? floor : ceil);
    at(from <= to ? ceil : floor);
  };
  consider(missed, accepted);
  for (const Level& level : data.levels) {
    if (level.tar > 0.0) {
      leg(missed, missed + level.tar, accepted / data.n_non * data.n_tar,
          [&](double m) { consider(m, accepted); });
      missed += level.tar;
    }
    if (level.non > 0.0) {
      leg(accepted, accepted - level.non, missed / data.n_tar * data.n_non,
          [&](double a) { consider(missed, a); });
      accepted -= level.non;
    }
    if (missed / data.n_tar - accepted / data.n_non > smallest) break;
  }
  return eer;
}

double RocchAreaError(const Pav& pav) {
  double missed = 0.0;
  double area = 0.0;
  for (const PavBlock& block : pav.blocks) {
    area += (missed + block.tar / 2.0) * block.non;
    missed += block.tar;
  }
  return area / pav.n_tar / pav.n_non;
}

double Auc(const ScoreLevels& data) {
  double non_below = 0.0;
  double wins = 0.0;
  for (const Level& level : data.levels) {
    wins += level.tar * (non_below + level.non / 2.0);
    non_below += level.non;
  }
  return wins / data.n_tar / data.n_non;
}

void OperatingPoint::Validate() const {
  if (!(prior > 0.0 && prior < 1.0)) {
    throw Error(fmt::format("prior {} must lie between 0 and 1", prior));
  }
  for (const double cost : {cost_miss, cost_false_alarm}) {
    if (!(cost > 0.0 && std::isfinite(cost))) {
      throw Error(fmt::format("cost {} must be positive and finite", cost));
    }
  }
}

double OperatingPoint::BayesThreshold() const {
  return std::log((1.0 - prior) * cost_false_alarm) - std::log(prior * cost_miss);
}

double MinDcf(const Pav& pav, const OperatingPoint& point) {
  double missed = 0.0;
  double accepted = pav.n_non;
  double best = NormalisedCost(point, 0.0, 1.0);
  for (const PavBlock& block : pav.blocks) {
    missed += block.tar;
    accepted -= block.non;
    best = std::min(best, NormalisedCost(point, missed / pav.n_tar, accepted / pav.n_non));
  }
  return best;
}

std::vector<double> ActDcf(const ScoreLevels& data, std::span<const OperatingPoint> points) {
  std::vector<double> thresholds;
  for (const OperatingPoint& point : points) thresholds.push_back(point.BayesThreshold());
  const std::vector<RocPoint> at = RocAt(data, thresholds);
  std::vector<double> costs;
  for (std::size_t i = 0; i < points.size(); ++i) {
    costs.push_back(NormalisedCost(points[i], at[i].miss, at[i].false_alarm));
  }
  return costs;
}

LevelCosts MakeLevelCosts(const ScoreLevels& data) {
  LevelCosts costs;
  costs.tar.reserve(data.levels.size());
  costs.non.reserve(data.levels.size());
  for (const Level& level : data.levels) {
    costs.tar.push_back(Softplus(-level.score));
    costs.non.push_back(Softplus(level.score));
  }
  return costs;
}

double Cllr(const ScoreLevels& data, const LevelCosts& costs) {
  double tar = 0.0;
  double non = 0.0;
  for (std::size_t i = 0; i < data.levels.size(); ++i) {
    // A cost may be infinite where the count is zero.
    if (data.levels[i].tar > 0.0) tar += data.levels[i].tar * costs.tar[i];
    if (data.levels[i].non > 0.0) non += data.levels[i].non * costs.non[i];
  }
  return (tar / data.n_tar + non / data.n_non) / (2.0 * std::numbers::ln2);
}

double Cllr(const ScoreLevels& data) {
  return CllrOf(data.levels, data.n_tar, data.n_non, [](const Level& l) { return l.score; });
}

double CllrMin(const Pav& pav) {
  return CllrOf(pav.blocks, pav.n_tar, pav.n_non, [](const PavBlock& b) { return b.llr; });
}

std::vector<RocPoint> RocAt(const ScoreLevels& data, std::span<const double> thresholds) {
  std::vector<std::size_t> rising(thresholds.size());
  std::iota(rising.begin(), rising.end(), 0U);
  std::sort(rising.begin(), rising.end(),
            [&](std::size_t a, std::size_t b) { return thresholds[a] < thresholds[b]; });
  std::vector<RocPoint> points(thresholds.size());
  double tar_below = 0.0;
  double non_below = 0.0;
  std::size_t i = 0;
  for (const std::size_t k : rising) {
    for (; i < data.levels.size() && data.levels[i].score < thresholds[k]; ++i) {
      tar_below += data.levels[i].tar;
      non_below += data.levels[i].non;
    }
    points[k] = {thresholds[k], tar_below / data.n_tar, (data.n_non - non_below) / data.n_non};
  }
  return points;
}

std::vector<RocPoint> RocPoints(const ScoreLevels& data, std::size_t max_points) {
  // Evenly along the length of the curve in the (miss, false alarm) square, which is 2 in all: both
  // steep ends keep their corners.
  const double step = 2.0 / static_cast<double>(std::max<std::size_t>(max_points, 2));
  std::vector<RocPoint> points;
  RocPoint before;
  double tar_below = 0.0;
  double non_below = 0.0;
  double last_kept = -step;
  bool crossed = false;
  for (const Level& level : data.levels) {
    const RocPoint point{level.score, tar_below / data.n_tar,
                         (data.n_non - non_below) / data.n_non};
    const double length = point.miss + 1.0 - point.false_alarm;
    const bool crosses = !crossed && point.miss >= point.false_alarm;
    if (crosses && !points.empty() && points.back().threshold != before.threshold) {
      points.push_back(before);
    }
    if (crosses || length - last_kept >= step) {
      points.push_back(point);
      last_kept = length;
    }
    crossed = crossed || crosses;
    before = point;
    tar_below += level.tar;
    non_below += level.non;
  }
  points.push_back({std::numeric_limits<double>::infinity(), 1.0, 0.0});
  return points;
}

}  // namespace sotto
