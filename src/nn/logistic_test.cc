#include "nn/logistic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

// At the minimum Σ v_i (p_i − y_i) = 0 and Σ v_i (p_i − y_i) x_i = −penalty·w. Values of another
// program: attack/logistic_test.cc.
TEST(Logistic, TheGradientVanishesAtWhatItFinds) {
  SeededRng rng(2);
  Eigen::MatrixXd x(3, 200);
  std::vector<std::uint8_t> positive;
  Eigen::VectorXd weights(200);
  for (Eigen::Index i = 0; i < 200; ++i) {
    for (double& value : x.col(i)) value = rng.Gaussian();
    positive.push_back(x(0, i) + rng.Gaussian() > 0.3 ? 1 : 0);
    weights[i] = rng.Uniform();
  }
  weights /= weights.sum();
  for (const double penalty : {1.0, 1e-2, 1e-5}) {
    const Logistic model = TrainLogistic(x, positive, weights, penalty);
    Eigen::VectorXd excess(200);
    const Eigen::VectorXd logits = model.Logits(x);
    for (Eigen::Index i = 0; i < 200; ++i) {
      excess[i] =
          weights[i] * (1.0 / (1.0 + std::exp(-logits[i])) - positive[static_cast<std::size_t>(i)]);
    }
    EXPECT_NEAR(excess.sum(), 0.0, 1e-8);
    EXPECT_LT((x * excess + penalty * model.weights).norm(), 1e-8);
  }
}

TEST(Logistic, LossOfLogitsThatExpCannotHold) {
  const Eigen::Vector4d quarter = Eigen::Vector4d::Constant(0.25);
  EXPECT_NEAR(LogLoss(Eigen::Vector4d::Zero(), {0, 1, 0, 1}, quarter), std::log(2.0), 1e-15);
  EXPECT_NEAR(LogLoss(Eigen::Vector4d(1000.0, 1000.0, -1000.0, -1000.0), {0, 1, 0, 1}, quarter),
              500.0, 1e-12);
}

TEST(Logistic, AnswersToNobodyWithoutAPenalty) {
  const Eigen::MatrixXd x = Eigen::MatrixXd::Ones(1, 2);
  EXPECT_THROW(TrainLogistic(x, {0, 1}, Eigen::VectorXd::Constant(2, 0.5), 0.0), Error);
}

}  // namespace
}  // namespace sotto
