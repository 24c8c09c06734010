#include "attack/logistic.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <iterator>

#include "assess/numeric.h"
#include "base/error.h"
#include "base/progress.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostSteps = 100;
constexpr double kGradientLeft = 1e-9;

double LogLoss(const VectorXd& logits, const std::vector<std::uint8_t>& positive,
               const VectorXd& importance) {
  double loss = 0.0;
  for (Index i = 0; i < logits.size(); ++i) {
    loss += importance[i] *
            Softplus(positive[static_cast<std::size_t>(i)] != 0 ? -logits[i] : logits[i]);
  }
  return loss;
}

std::vector<std::uint8_t> IsCategory(const std::vector<int>& labels, int category) {
  std::vector<std::uint8_t> is;
  is.reserve(labels.size());
  for (const int label : labels) is.push_back(label == category ? 1 : 0);
  return is;
}

// Halves of the weight for a category and for the rest of them.
VectorXd HalfEach(VectorXd weights, const std::vector<std::uint8_t>& positive) {
  double sum[2] = {0.0, 0.0};
  for (Index i = 0; i < weights.size(); ++i)
    sum[positive[static_cast<std::size_t>(i)]] += weights[i];
  for (Index i = 0; i < weights.size(); ++i) {
    const double whole = sum[positive[static_cast<std::size_t>(i)]];
    if (whole > 0.0) weights[i] *= 0.5 / whole;
  }
  return weights;
}

}  // namespace

VectorXd Logistic::Logits(const Eigen::Ref<const MatrixXd>& x) const {
  return (x.transpose() * weights).array() + bias;
}

Logistic TrainLogistic(const Eigen::Ref<const MatrixXd>& x,
                       const std::vector<std::uint8_t>& positive, const VectorXd& importance,
                       double penalty, const Logistic& start) {
  if (!(penalty > 0.0)) throw Error(fmt::format("logistic: penalty {} must be above 0", penalty));
  const Index d = x.rows(), n = x.cols();
  Logistic model = start;
  if (model.weights.size() != d) model = {VectorXd::Zero(d), 0.0};
  VectorXd logits = model.Logits(x);
  const auto loss_of = [&](const Logistic& m, const VectorXd& z) {
    return LogLoss(z, positive, importance) + 0.5 * penalty * m.weights.squaredNorm();
  };
  double loss = loss_of(model, logits);
  for (int step = 0; step < kMostSteps; ++step) {
    ThrowIfCancelled();
    VectorXd slope(n), curve(n);
    for (Index i = 0; i < n; ++i) {
      const double p = Sigmoid(logits[i]);
      slope[i] = importance[i] * (p - (positive[static_cast<std::size_t>(i)] != 0 ? 1.0 : 0.0));
      curve[i] = importance[i] * p * (1.0 - p);
    }
    VectorXd gradient(d + 1);
    gradient << x * slope + penalty * model.weights, slope.sum();
    if (gradient.cwiseAbs().maxCoeff() < kGradientLeft) break;
    const MatrixXd root = x * curve.cwiseSqrt().asDiagonal();
    MatrixXd hessian = MatrixXd::Zero(d + 1, d + 1);
    hessian.topLeftCorner(d, d).selfadjointView<Eigen::Lower>().rankUpdate(root);
    hessian.bottomLeftCorner(1, d) = (x * curve).transpose();
    hessian(d, d) = curve.sum();
    hessian.diagonal().array() += 1e-12;  // of a bias that nothing holds
    hessian.diagonal().head(d).array() += penalty;
    const VectorXd move = hessian.selfadjointView<Eigen::Lower>().llt().solve(gradient);
    // Half as far until the loss falls: far from the minimum a whole step may overshoot.
    double far = 1.0;
    for (; far > 1e-6; far *= 0.5) {
      const Logistic next{model.weights - far * move.head(d), model.bias - far * move[d]};
      VectorXd next_logits = next.Logits(x);
      const double next_loss = loss_of(next, next_logits);
      if (!(next_loss <= loss)) continue;
      model = next;
      logits = std::move(next_logits);
      loss = next_loss;
      break;
    }
    if (far <= 1e-6) break;  // as low as doubles tell
  }
  return model;
}

namespace {

// The logistic of every penalty, each beginning where the one before it ended.
std::vector<Logistic> AllPenalties(const MatrixXd& x, const std::vector<std::uint8_t>& positive,
                                   const VectorXd& importance) {
  std::vector<Logistic> models;
  for (const double penalty : kLogisticPenalties) {
    models.push_back(TrainLogistic(x, positive, importance, penalty,
                                   models.empty() ? Logistic{} : models.back()));
  }
  return models;
}

// Logits of the category against the rest.
VectorXd OneCategory(const AttributeExamples& train, const MatrixXd& x, const VectorXd& weights,
                     int category, const MatrixXd& test) {
  const auto losses = [category](const AttributeExamples& some, const AttributeExamples& held) {
    const VectorXd balance = BalancedWeights(some);
    const Standardiser standard(some.vectors, balance);
    const auto here = IsCategory(some.labels, category), there = IsCategory(held.labels, category);
    const MatrixXd held_x = standard(held.vectors);
    const VectorXd importance = HalfEach(BalancedWeights(held), there);
    std::vector<double> found;
    for (const Logistic& model :
         AllPenalties(standard(some.vectors), here, HalfEach(balance, here))) {
      found.push_back(LogLoss(model.Logits(held_x), there, importance));
    }
    return found;
  };
  constexpr std::size_t kMiddle = std::size(kLogisticPenalties) / 2;
  const double penalty = kLogisticPenalties[ChooseBySpeaker(train, losses, kMiddle)];
  const auto positive = IsCategory(train.labels, category);
  return TrainLogistic(x, positive, HalfEach(weights, positive), penalty).Logits(test);
}

}  // namespace

Eigen::MatrixXf ClassifyLogistic(const AttributeExamples& train,
                                 const Eigen::Ref<const Eigen::MatrixXf>& test) {
  AttributeExamples prepared = train;
  prepared.vectors = DirectionAndLength(train.vectors);
  const VectorXd weights = BalancedWeights(train);
  const Standardiser standard(prepared.vectors, weights);
  const MatrixXd x = standard(prepared.vectors), y = standard(DirectionAndLength(test));
  const int rows = train.n_categories == 2 ? 1 : train.n_categories;
  Eigen::MatrixXf scores(rows, test.cols());
  for (int k = 0; k < rows; ++k) {
    scores.row(k) = OneCategory(prepared, x, weights, k, y).cast<float>().transpose();
  }
  return scores;
}

}  // namespace sotto
