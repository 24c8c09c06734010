#include "attack/quadratic.h"

#include <gtest/gtest.h>

#include "assess/numpy_testing.h"
#include "assess/verification.h"
#include "base/random.h"

namespace sotto {
namespace {

// As in logistic_test.cc.
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

Eigen::MatrixXd Densities(const Shrinkage& shrinkage) {
  std::vector<int> labels(120);
  for (std::size_t i = 1; i < labels.size(); i += 2) labels[i] = 1;
  const Eigen::VectorXd even = Eigen::VectorXd::Constant(120, 1.0 / 120);
  return GaussianLogDensities(TwoGaussians(11, 120), labels, 2, even,
                              TwoGaussians(12, 400).leftCols(3), shrinkage);
}

// scikit-learn 1.2.1: QuadraticDiscriminantAnalysis(priors=[.5, .5]).decision_function, which is
// that of the second category.
TEST(Quadratic, IsThatOfScikitLearnWithoutShrinkage) {
  const Eigen::MatrixXd found = Densities({0.0, 0.0});
  const Eigen::RowVector3d golden(-3.1290857639709677, -1.172289790645125, -2.4323894290256924);
  const Eigen::RowVector3d difference = found.row(1) - found.row(0);
  EXPECT_LT((difference - golden).cwiseAbs().maxCoeff(), 1e-9);
}

// scipy 1.10.1: multivariate_normal(mean, covariance).logpdf + 2 ln 2π with the covariances of the
// header's formula made by numpy.
TEST(Quadratic, IsTheFormulaWithShrinkage) {
  const Eigen::MatrixXd found = Densities({0.3, 0.2});
  Eigen::MatrixXd golden(2, 3);
  golden << -2.831058825512674, -2.4072443836793322, -2.353049820122222, -3.9040681961457677,
      -3.4233575632651867, -3.034346395052605;
  EXPECT_LT((found - golden).cwiseAbs().maxCoeff(), 1e-9);
}

// Sixty speakers of two vectors in 192 dimensions; the category is in the spread of twenty of them
// alone, where no line finds it.
TEST(Quadratic, FindsASpreadWithFewerVectorsThanDimensions) {
  SeededRng rng(1);
  const auto draw = [&rng](int speakers) {
    AttributeExamples some;
    some.vectors.resize(192, 2 * speakers);
    for (int i = 0; i < 2 * speakers; ++i) {
      some.speakers.push_back(i / 2);
      some.labels.push_back(i / 2 % 2);
      for (int k = 0; k < 192; ++k) {
        const double spread = k < 20 && some.labels.back() == 1 ? 3.0 : 1.0;
        some.vectors(k, i) = static_cast<float>(spread * rng.Gaussian());
      }
    }
    return some;
  };
  const AttributeExamples train = draw(60), test = draw(100);
  const Eigen::MatrixXf scores = ClassifyQuadratic(train, test.vectors);
  ASSERT_TRUE(scores.allFinite());
  ASSERT_EQ(scores.rows(), 1);
  std::vector<double> first, second;
  for (Eigen::Index i = 0; i < scores.cols(); ++i) {
    (test.labels[static_cast<std::size_t>(i)] == 0 ? first : second).push_back(scores(0, i));
  }
  EXPECT_GT(Auc(MakeLevels(first, second)), 0.85);
}

}  // namespace
}  // namespace sotto
