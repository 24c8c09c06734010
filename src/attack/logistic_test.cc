#include "nn/logistic.h"

#include <gtest/gtest.h>

#include "assess/numpy_testing.h"
#include "assess/verification.h"
#include "base/error.h"

namespace sotto {
namespace {

// numpy: r = default_rng(seed); X = r.normal(0, 1, (n, 4)); y = arange(n) % 2;
//        X[y == 0, 0] += 1; X[y == 0, 1] *= 3
Eigen::MatrixXd TwoGaussians(std::uint32_t seed, int n) {
  testing::NumpyRng rng(seed);
  Eigen::MatrixXd x(4, n);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) x(k, i) = rng.Normal(0.0, 1.0);
    if (i % 2 == 0) x(0, i) += 1.0;
    if (i % 2 == 0) x(1, i) *= 3.0;
  }
  return x;
}

std::vector<std::uint8_t> EvenOnes(int n) {
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < labels.size(); i += 2) labels[i] = 1;
  return labels;
}

// scikit-learn 1.2.1: LogisticRegression(C=1/penalty, tol=1e-12, solver="newton-cholesky")
// with sample weights 1/120.
TEST(Logistic, FindsTheMinimumThatScikitLearnFinds) {
  const Eigen::MatrixXd x = TwoGaussians(11, 120);
  const Eigen::VectorXd even = Eigen::VectorXd::Constant(120, 1.0 / 120);
  const struct {
    double penalty;
    Eigen::Vector4d weights;
    double bias;
  } golden[] = {
      {1.0,
       {0.18664480100125472, -0.05947564277579123, -0.02040293210744192, -0.010556847609315486},
       -0.10102018861558544},
      {0.01,
       {1.0775487889845248, -0.14154639696631569, -0.05035762512787484, -0.09191844804946603},
       -0.5741485434348071}};
  Logistic before;
  for (const auto& want : golden) {
    // From nothing and from the model before alike.
    for (const Logistic& start : {Logistic{}, before}) {
      const Logistic model = TrainLogistic(x, EvenOnes(120), even, want.penalty, start);
      EXPECT_LT((model.weights - want.weights).cwiseAbs().maxCoeff(), 1e-6);
      EXPECT_NEAR(model.bias, want.bias, 1e-6);
      before = model;
    }
  }
}

TEST(Logistic, StandsDataThatALineSeparates) {
  Eigen::MatrixXd x(1, 4);
  x << -2.0, -1.0, 1.0, 2.0;
  const Logistic model = TrainLogistic(x, {0, 0, 1, 1}, Eigen::VectorXd::Constant(4, 0.25), 1e-4);
  EXPECT_TRUE(model.weights.allFinite());
  EXPECT_GT(model.weights[0], 3.0);
  EXPECT_NEAR(model.bias, 0.0, 1e-6);
  EXPECT_THROW(TrainLogistic(x, {0, 0, 1, 1}, Eigen::VectorXd::Constant(4, 0.25), 0.0), Error);
}

}  // namespace
}  // namespace sotto
