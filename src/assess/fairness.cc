#include "assess/fairness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Weight of the accepted trials, in all and by group.
struct Accepted {
  std::vector<double> tar, non;
  double all_tar = 0.0, all_non = 0.0;
};

// A bootstrap draw may leave a group without trials: nothing can then be said.
bool AnyNaN(const std::vector<double>& rates) {
  return std::any_of(rates.begin(), rates.end(), [](double rate) { return std::isnan(rate); });
}

double Ratio(const std::vector<double>& rates) {
  if (AnyNaN(rates)) return kNaN;
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  return *low > 0.0 ? *high / *low : kNaN;
}

double Spread(const std::vector<double>& rates) {
  if (AnyNaN(rates)) return kNaN;
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  return *high - *low;
}

FairnessPoint MakePoint(const FairnessResult& base, double target, double threshold,
                        const Accepted& accepted) {
  FairnessPoint point;
  point.pooled_fmr_target = target;
  point.threshold = threshold;
  double n_tar = 0.0;
  double n_non = 0.0;
  for (std::size_t g = 0; g < base.groups.size(); ++g) {
    point.fmr.push_back(accepted.non[g] / base.n_non[g]);
    point.fnmr.push_back((base.n_tar[g] - accepted.tar[g]) / base.n_tar[g]);
    n_tar += base.n_tar[g];
    n_non += base.n_non[g];
  }
  point.pooled_fmr = accepted.all_non / n_non;
  point.pooled_fnmr = (n_tar - accepted.all_tar) / n_tar;
  point.fdr_terms = {Spread(point.fmr), Spread(point.fnmr)};
  point.ir_terms = {Ratio(point.fmr), Ratio(point.fnmr)};
  point.garbe_terms = {GiniOfRates(point.fmr), GiniOfRates(point.fnmr)};
  for (const double alpha : base.alphas) {
    const auto mix = [alpha](const DifferentialTerms& terms) {
      return alpha * terms.fpd + (1.0 - alpha) * terms.fnd;
    };
    point.fdr.push_back(1.0 - mix(point.fdr_terms));
    point.garbe.push_back(mix(point.garbe_terms));
    // pow(NaN, 0) is 1: a term that does not exist must not vanish at alpha 0 or 1.
    const bool exists = !std::isnan(point.ir_terms.fpd) && !std::isnan(point.ir_terms.fnd);
    point.ir.push_back(exists ? std::pow(point.ir_terms.fpd, alpha) *
                                    std::pow(point.ir_terms.fnd, 1.0 - alpha)
                              : kNaN);
  }
  return point;
}

double Trapezoid(const std::vector<FairnessPoint>& points, std::size_t alpha, bool log_axis) {
  if (points.size() < 2) return kNaN;
  const auto x = [&](std::size_t i) {
    const double fmr = points[i].pooled_fmr_target;
    return log_axis ? std::log10(fmr) : fmr;
  };
  double area = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    area += (x(i) - x(i - 1)) * (points[i].fdr[alpha] + points[i - 1].fdr[alpha]) / 2.0;
  }
  return area / (x(points.size() - 1) - x(0));
}

double Median(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }),
               values.end());
  if (values.empty()) return kNaN;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

FairnessCriteria JudgeMetric(const std::string& metric, const std::vector<FairnessPoint>& points,
                             DifferentialTerms FairnessPoint::*terms,
                             std::vector<double> FairnessPoint::*values) {
  FairnessCriteria criteria;
  criteria.metric = metric;
  std::vector<double> fpd;
  std::vector<double> fnd;
  std::vector<double> all;
  std::size_t asked = 0;
  for (const FairnessPoint& point : points) {
    fpd.push_back((point.*terms).fpd);
    fnd.push_back((point.*terms).fnd);
    for (const double value : point.*values) {
      ++asked;
      if (!std::isnan(value)) all.push_back(value);
    }
  }
  const double fnd_median = Median(fnd);
  criteria.ffmc1_ratio = fnd_median > 0.0 ? Median(fpd) / fnd_median : kNaN;
  criteria.ffmc3_computable = static_cast<double>(all.size()) / static_cast<double>(asked);
  if (all.empty()) {
    criteria.ffmc2_lowest = criteria.ffmc2_highest = kNaN;
    return criteria;
  }
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  criteria.ffmc2_lowest = *low;
  criteria.ffmc2_highest = *high;
  criteria.ffmc2_bounded = *low >= 0.0 && *high <= 1.0;
  return criteria;
}

}  // namespace

double GiniOfRates(std::span<const double> rates) {
  const auto n = static_cast<double>(rates.size());
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  if (sum == 0.0 || rates.size() < 2) return 0.0;
  double differences = 0.0;
  for (const double a : rates) {
    for (const double b : rates) differences += std::abs(a - b);
  }
  return n / (n - 1.0) * differences / (2.0 * n * sum);
}

Grouping GroupTrials(const Trials& trials, const IdColumn& group, const IdColumn* enrol_group,
                     const IdColumn* test_group, bool include_cross_group) {
  Grouping out;
  GroupedTrials& grouped = out.trials;
  grouped.groups = group.names;
  std::sort(grouped.groups.begin(), grouped.groups.end());
  std::vector<std::uint32_t> rank(group.names.size());
  for (std::size_t g = 0; g < rank.size(); ++g) {
    const auto found =
        std::lower_bound(grouped.groups.begin(), grouped.groups.end(), group.names[g]);
    rank[g] = static_cast<std::uint32_t>(found - grouped.groups.begin());
  }
  const bool sides = enrol_group != nullptr && test_group != nullptr;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (sides && trials.is_target[i] == 0 && enrol_group->At(i) != test_group->At(i)) {
      ++out.n_cross_group;
      if (!include_cross_group) continue;
    }
    grouped.scores.push_back(trials.scores[i]);
    grouped.is_target.push_back(trials.is_target[i]);
    grouped.group.push_back(rank[group.index[i]]);
    out.kept.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

void FairnessOptions::Validate() const {
  double last = 0.0;
  for (const double target : fmr_targets) {
    if (!(target > last && target < 1.0)) {
      throw Error(fmt::format("pooled FMR target {}: targets must rise inside (0, 1)", target));
    }
    last = target;
  }
  if (fmr_targets.empty()) throw Error("no pooled FMR target given");
  for (const double alpha : alphas) {
    if (!(alpha >= 0.0 && alpha <= 1.0)) {
      throw Error(fmt::format("alpha {} is not in [0, 1]", alpha));
    }
  }
  if (alphas.empty()) throw Error("no alpha given");
}

FairnessMeter::FairnessMeter(GroupedTrials trials, FairnessOptions options)
    : trials_(std::move(trials)), options_(std::move(options)) {
  options_.Validate();
  const std::size_t groups = trials_.groups.size();
  if (groups < 2) {
    throw Error(fmt::format("fairness needs at least two groups, found {}", groups));
  }
  std::vector<std::size_t> n_tar(groups);
  std::vector<std::size_t> n_non(groups);
  for (std::size_t i = 0; i < trials_.scores.size(); ++i) {
    if (std::isnan(trials_.scores[i])) throw Error(fmt::format("trial {}: score is NaN", i + 1));
    ++(trials_.is_target[i] != 0 ? n_tar : n_non)[trials_.group[i]];
  }
  for (std::size_t g = 0; g < groups; ++g) {
    if (n_tar[g] == 0 || n_non[g] == 0) {
      throw Error(
          fmt::format("group '{}' has {} target and {} non-target trials; every group needs both",
                      trials_.groups[g], n_tar[g], n_non[g]));
    }
  }
  order_.resize(trials_.scores.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return trials_.scores[a] > trials_.scores[b];
  });
}

FairnessResult FairnessMeter::Measure(std::span<const double> weights) const {
  FairnessResult result;
  result.groups = trials_.groups;
  result.alphas = options_.alphas;
  result.n_tar.resize(trials_.groups.size());
  result.n_non.resize(trials_.groups.size());
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double n_non = 0.0;
  for (std::size_t i = 0; i < trials_.scores.size(); ++i) {
    const bool target = trials_.is_target[i] != 0;
    (target ? result.n_tar : result.n_non)[trials_.group[i]] += weight(i);
    n_non += target ? 0.0 : weight(i);
  }

  // Going down the distinct scores, a target is settled just before its FMR would be exceeded.
  Accepted accepted;
  accepted.tar.resize(trials_.groups.size());
  accepted.non.resize(trials_.groups.size());
  double threshold = std::numeric_limits<double>::infinity();
  const auto settle_until = [&](double fmr) {
    while (result.points.size() < options_.fmr_targets.size() &&
           fmr > options_.fmr_targets[result.points.size()]) {
      const double target = options_.fmr_targets[result.points.size()];
      result.points.push_back(MakePoint(result, target, threshold, accepted));
    }
  };
  for (std::size_t begin = 0; begin < order_.size();) {
    const double score = trials_.scores[order_[begin]];
    std::size_t end = begin;
    double non_here = 0.0;
    for (; end < order_.size() && trials_.scores[order_[end]] == score; ++end) {
      if (trials_.is_target[order_[end]] == 0) non_here += weight(order_[end]);
    }
    settle_until((accepted.all_non + non_here) / n_non);
    for (; begin < end; ++begin) {
      const std::uint32_t i = order_[begin];
      const bool target = trials_.is_target[i] != 0;
      (target ? accepted.tar : accepted.non)[trials_.group[i]] += weight(i);
      (target ? accepted.all_tar : accepted.all_non) += weight(i);
    }
    threshold = score;
  }
  settle_until(std::numeric_limits<double>::infinity());

  for (std::size_t a = 0; a < options_.alphas.size(); ++a) {
    result.au_fdr_linear.push_back(Trapezoid(result.points, a, false));
    result.au_fdr_log.push_back(Trapezoid(result.points, a, true));
  }
  result.criteria = {
      JudgeMetric("fdr", result.points, &FairnessPoint::fdr_terms, &FairnessPoint::fdr),
      JudgeMetric("ir", result.points, &FairnessPoint::ir_terms, &FairnessPoint::ir),
      JudgeMetric("garbe", result.points, &FairnessPoint::garbe_terms, &FairnessPoint::garbe)};
  return result;
}

FairnessResult FairnessCurve(const GroupedTrials& trials, FairnessOptions options) {
  constexpr int kSteps = 60;
  const double first = options.fmr_targets.front();
  const double span = options.fmr_targets.back() / first;
  if (span > 1.0) {
    options.fmr_targets.clear();
    for (int k = 0; k <= kSteps; ++k) {
      options.fmr_targets.push_back(first * std::pow(span, static_cast<double>(k) / kSteps));
    }
  }
  return FairnessMeter(trials, options).Measure();
}

}  // namespace sotto
