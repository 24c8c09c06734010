#include "assess/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assess/numeric.h"
#include "base/error.h"

namespace sotto {
namespace {

struct Moments {
  double mean = 0.0;
  double deviation = 1.0;
};

// Over both classes with equal weight, so that Newton's 2×2 system is well conditioned.
Moments Standardise(const ScoreLevels& data) {
  double first = 0.0;
  for (const Level& l : data.levels) {
    first += l.score * (l.tar / data.n_tar + l.non / data.n_non) / 2.0;
  }
  double second = 0.0;
  for (const Level& l : data.levels) {
    const double d = l.score - first;
    second += d * d * (l.tar / data.n_tar + l.non / data.n_non) / 2.0;
  }
  return {first, std::sqrt(second)};
}

void RefuseWithoutOptimum(const ScoreLevels& data) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  double min_tar = kInf;
  double max_tar = -kInf;
  double min_non = kInf;
  double max_non = -kInf;
  for (const Level& l : data.levels) {
    if (l.tar + l.non > 0.0 && std::isinf(l.score)) {
      throw Error("linear calibration needs finite scores, found an infinite one");
    }
    if (l.tar > 0.0) {
      min_tar = std::min(min_tar, l.score);
      max_tar = std::max(max_tar, l.score);
    }
    if (l.non > 0.0) {
      min_non = std::min(min_non, l.score);
      max_non = std::max(max_non, l.score);
    }
  }
  if (min_tar >= max_non || max_tar <= min_non) {
    throw Error(
        fmt::format("linear calibration has no finite optimum: targets lie in [{}, {}], "
                    "non-targets in [{}, {}]; the classes must overlap",
                    min_tar, max_tar, min_non, max_non));
  }
}

// The objective, its gradient and Hessian in (a, b) for standardised scores.
struct Objective {
  double value = 0.0;
  double ga = 0.0, gb = 0.0;
  double haa = 0.0, hab = 0.0, hbb = 0.0;
};

Objective Evaluate(const ScoreLevels& data, Moments m, double prior, double a, double b) {
  const double offset = std::log(prior) - std::log1p(-prior);
  const double tar_weight = prior / data.n_tar;
  const double non_weight = (1.0 - prior) / data.n_non;
  Objective o;
  for (const Level& l : data.levels) {
    const double wt = l.tar * tar_weight;
    const double wn = l.non * non_weight;
    if (wt + wn == 0.0) continue;
    const double x = (l.score - m.mean) / m.deviation;
    const double logit = a * x + b + offset;
    const double p = Sigmoid(logit);
    o.value += wt * Softplus(-logit) + wn * Softplus(logit);
    const double slope = wn * p - wt * Sigmoid(-logit);
    const double curve = (wt + wn) * p * Sigmoid(-logit);
    o.ga += slope * x;
    o.gb += slope;
    o.haa += curve * x * x;
    o.hab += curve * x;
    o.hbb += curve;
  }
  return o;
}

}  // namespace

LinearCalibration FitLinearCalibration(const ScoreLevels& data, double prior) {
  if (!(prior > 0.0 && prior < 1.0)) {
    throw Error(fmt::format("prior {} of the calibration must lie between 0 and 1", prior));
  }
  RefuseWithoutOptimum(data);
  const Moments m = Standardise(data);
  constexpr int kMaxSteps = 200;
  // Twice the fall of the objective that the next step promises. Below the first bound Newton's
  // method converges quadratically and needs no check; below the second a step is rounding alone.
  constexpr double kQuadratic = 1e-8;
  constexpr double kConverged = 1e-27;
  double a = 0.0;
  double b = 0.0;
  Objective now = Evaluate(data, m, prior, a, b);
  for (int step = 0; step < kMaxSteps; ++step) {
    const double det = now.haa * now.hbb - now.hab * now.hab;
    if (!(det > 0.0)) throw Error("linear calibration met a singular system");
    const double da = -(now.hbb * now.ga - now.hab * now.gb) / det;
    const double db = -(now.haa * now.gb - now.hab * now.ga) / det;
    const double decrement = -(now.ga * da + now.gb * db) / std::min(prior, 1.0 - prior);
    double size = 1.0;
    Objective next = Evaluate(data, m, prior, a + da, b + db);
    while (decrement > kQuadratic && !(next.value < now.value) && size > 1e-9) {
      size /= 2.0;
      next = Evaluate(data, m, prior, a + size * da, b + size * db);
    }
    a += size * da;
    b += size * db;
    now = next;
    if (decrement < kConverged) break;
  }
  return {a / m.deviation, b - a * m.mean / m.deviation};
}

std::vector<double> ApplyCalibration(const LinearCalibration& calibration,
                                     std::span<const double> scores) {
  std::vector<double> llrs;
  llrs.reserve(scores.size());
  for (const double score : scores) llrs.push_back(calibration.Apply(score));
  return llrs;
}

}  // namespace sotto
