#include "attack/quadratic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assess/verification.h"
#include "base/progress.h"
#include "speaker/linear_algebra.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The smoothest first: of equals the first is taken.
constexpr double kCommon[] = {1.0, 0.5, 0.0};
constexpr double kRound[] = {0.9, 0.5, 0.2, 0.05, 0.01, 0.001};
constexpr Shrinkage kOtherwise{0.5, 0.2};

struct Moments {
  std::vector<VectorXd> mean;
  std::vector<MatrixXd> covariance;
  MatrixXd common;  // the mean of all covariances
};

Moments MomentsOf(const Eigen::Ref<const MatrixXd>& x, const std::vector<int>& labels, int n,
                  const VectorXd& weights) {
  Moments moments;
  moments.common = MatrixXd::Zero(x.rows(), x.rows());
  for (int k = 0; k < n; ++k) {
    std::vector<Index> places;
    for (Index i = 0; i < x.cols(); ++i) {
      if (labels[static_cast<std::size_t>(i)] == k) places.push_back(i);
    }
    MatrixXd own = x(Eigen::all, places);
    VectorXd w = weights(places);
    w /= w.sum();
    const VectorXd mean = own * w;
    own = (own.colwise() - mean) * w.cwiseSqrt().asDiagonal();
    MatrixXd covariance = own * own.transpose();
    const double left = 1.0 - w.squaredNorm();
    if (left > 1e-12) covariance /= left;
    moments.common += covariance / n;
    moments.mean.push_back(mean);
    moments.covariance.push_back(std::move(covariance));
  }
  return moments;
}

// The densities under one `common` for several `round`: those share their eigenvectors.
std::vector<MatrixXd> LogDensities(const Moments& moments, double common,
                                   std::span<const double> rounds,
                                   const Eigen::Ref<const MatrixXd>& test) {
  const auto n = static_cast<Index>(moments.mean.size());
  const double d = static_cast<double>(test.rows());
  std::vector<MatrixXd> densities(rounds.size(), MatrixXd(n, test.cols()));
  SymmetricEigen eigen;
  for (Index k = 0; k < n; ++k) {
    ThrowIfCancelled();
    const auto at = static_cast<std::size_t>(k);
    if (k == 0 || common < 1.0) {
      eigen = DecomposeSymmetric((1.0 - common) * moments.covariance[at] + common * moments.common);
    }
    const VectorXd values = eigen.values.cwiseMax(0.0);
    const MatrixXd squares =
        (eigen.vectors.transpose() * (test.colwise() - moments.mean[at])).cwiseAbs2();
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      const VectorXd variances =
          ((1.0 - rounds[r]) * values.array() + rounds[r] * values.sum() / d).max(1e-12);
      densities[r].row(k) = -0.5 * (variances.cwiseInverse().transpose() * squares);
      densities[r].row(k).array() -= 0.5 * variances.array().log().sum();
    }
  }
  return densities;
}

// Of each category against the others.
MatrixXd AgainstTheRest(const MatrixXd& densities) {
  const Index n = densities.rows();
  const Index rows = n == 2 ? 1 : n;
  MatrixXd scores(rows, densities.cols());
  for (Index t = 0; t < densities.cols(); ++t) {
    for (Index k = 0; k < rows; ++k) {
      double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
      for (Index j = 0; j < n; ++j) highest = j == k ? highest : std::max(highest, densities(j, t));
      for (Index j = 0; j < n; ++j) sum += j == k ? 0.0 : std::exp(densities(j, t) - highest);
      scores(k, t) = densities(k, t) - highest - std::log(sum / static_cast<double>(n - 1));
    }
  }
  return scores;
}

// Mean over the rows of 1 − AUC, those of categories that are there.
double AreaLost(const MatrixXd& scores, const std::vector<int>& labels) {
  double lost = 0.0;
  int n = 0;
  for (Index k = 0; k < scores.rows(); ++k) {
    std::vector<double> tar, non;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      (labels[i] == k ? tar : non).push_back(scores(k, static_cast<Index>(i)));
    }
    if (tar.empty() || non.empty()) continue;
    lost += 1.0 - Auc(MakeLevels(tar, non));
    ++n;
  }
  return n == 0 ? 0.0 : lost / n;
}

std::vector<double> LossesOfAll(const AttributeExamples& train, const AttributeExamples& held) {
  const VectorXd weights = BalancedWeights(train);
  const Standardiser standard(train.vectors, weights);
  const Moments moments =
      MomentsOf(standard(train.vectors), train.labels, train.n_categories, weights);
  const MatrixXd test = standard(held.vectors);
  std::vector<double> losses;
  for (const double common : kCommon) {
    for (const MatrixXd& found : LogDensities(moments, common, kRound, test)) {
      losses.push_back(AreaLost(AgainstTheRest(found), held.labels));
    }
  }
  return losses;
}

}  // namespace

MatrixXd GaussianLogDensities(const Eigen::Ref<const MatrixXd>& train,
                              const std::vector<int>& labels, int n_categories,
                              const VectorXd& weights, const Eigen::Ref<const MatrixXd>& test,
                              const Shrinkage& shrinkage) {
  const double rounds[] = {shrinkage.round};
  return LogDensities(MomentsOf(train, labels, n_categories, weights), shrinkage.common, rounds,
                      test)
      .front();
}

Eigen::MatrixXf ClassifyQuadratic(const AttributeExamples& train,
                                  const Eigen::Ref<const Eigen::MatrixXf>& test) {
  AttributeExamples prepared = train;
  prepared.vectors = DirectionAndLength(train.vectors);
  const std::size_t none = std::size(kCommon) * std::size(kRound);
  const std::size_t chosen = ChooseBySpeaker(prepared, LossesOfAll, none);
  const Shrinkage shrinkage = chosen == none ? kOtherwise
                                             : Shrinkage{kCommon[chosen / std::size(kRound)],
                                                         kRound[chosen % std::size(kRound)]};
  const VectorXd weights = BalancedWeights(prepared);
  const Standardiser standard(prepared.vectors, weights);
  return AgainstTheRest(GaussianLogDensities(standard(prepared.vectors), prepared.labels,
                                             prepared.n_categories, weights,
                                             standard(DirectionAndLength(test)), shrinkage))
      .cast<float>();
}

}  // namespace sotto
