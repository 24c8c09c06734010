#include "attack/calibrated_sum.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "nn/logistic.h"

namespace sotto {
namespace {

using Eigen::Index;

// Of standardised scores; small enough not to show, and finite where the classes are apart.
constexpr double kPenalty = 1e-4;

// The fold of each name, speakers in order of name by turns.
std::map<std::string, int> DealFolds(const Trials& trials, int folds) {
  std::map<std::string, int> fold;
  for (const IdColumn* column : {&trials.enrol_spk, &trials.test_spk}) {
    for (const std::string& name : column->names) fold.emplace(name, 0);
  }
  int next = 0;
  for (auto& [name, of_name] : fold) of_name = next++ % folds;
  return fold;
}

Eigen::RowVectorXd Standardised(const std::vector<double>& scores) {
  const Eigen::Map<const Eigen::RowVectorXd> x(scores.data(), static_cast<Index>(scores.size()));
  const double mean = x.mean();
  const double deviation = std::sqrt((x.array() - mean).square().mean());
  return (x.array() - mean) / (deviation > 0.0 ? deviation : 1.0);
}

Logistic Fit(const Eigen::MatrixXd& x, const Trials& trials, const std::vector<std::size_t>& rest) {
  std::vector<std::uint8_t> labels;
  double targets = 0.0;
  for (const std::size_t t : rest) {
    labels.push_back(trials.is_target[t]);
    targets += trials.is_target[t] != 0 ? 1.0 : 0.0;
  }
  const double others = static_cast<double>(rest.size()) - targets;
  if (targets == 0.0 || others == 0.0) {
    throw Error(
        fmt::format("calibrated sum: {:.0f} targets and {:.0f} others of other speakers are "
                    "too few to fit it",
                    targets, others));
  }
  Eigen::VectorXd importance(static_cast<Index>(rest.size()));
  Eigen::MatrixXd some(2, static_cast<Index>(rest.size()));
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const auto at = static_cast<Index>(i);
    importance[at] = labels[i] != 0 ? 0.5 / targets : 0.5 / others;
    some.col(at) = x.col(static_cast<Index>(rest[i]));
  }
  return TrainLogistic(some, labels, importance, kPenalty);
}

}  // namespace

std::vector<double> CalibratedSum(const Trials& trials, const std::vector<double>& other,
                                  int folds) {
  if (!trials.HasSpeakers() || other.size() != trials.size() || folds < 3) {
    throw Error(
        fmt::format("calibrated sum: {} scores for {} trials, which must name speakers; "
                    "{} folds, of which 3 are the fewest",
                    other.size(), trials.size(), folds));
  }
  const std::map<std::string, int> fold_of = DealFolds(trials, folds);
  // The two folds of a trial, the lower first.
  std::map<std::pair<int, int>, std::vector<std::size_t>> by_folds;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const int a = fold_of.at(trials.enrol_spk.At(t)), b = fold_of.at(trials.test_spk.At(t));
    by_folds[{std::min(a, b), std::max(a, b)}].push_back(t);
  }
  Eigen::MatrixXd x(2, static_cast<Index>(trials.size()));
  x << Standardised(trials.scores), Standardised(other);
  std::vector<double> sums(trials.size());
  for (const auto& [tested, places] : by_folds) {
    std::vector<std::size_t> rest;
    for (const auto& [folds_of_rest, members] : by_folds) {
      const auto shares = [&folds_of_rest = folds_of_rest](int fold) {
        return folds_of_rest.first == fold || folds_of_rest.second == fold;
      };
      if (shares(tested.first) || shares(tested.second)) continue;
      rest.insert(rest.end(), members.begin(), members.end());
    }
    std::sort(rest.begin(), rest.end());
    const Logistic fitted = Fit(x, trials, rest);
    for (const std::size_t t : places) {
      sums[t] = fitted.weights.dot(x.col(static_cast<Index>(t))) + fitted.bias;
    }
  }
  return sums;
}

}  // namespace sotto
