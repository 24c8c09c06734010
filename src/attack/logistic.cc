#include "attack/logistic.h"

#include <iterator>

#include "nn/logistic.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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
