#include "nn/svm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

using Labels = std::vector<std::uint8_t>;

SvmOptions Linear(double c) { return {.kernel = SvmKernel::kLinear, .c = c, .tolerance = 1e-5}; }

TEST(Svm, TwoPointsAreSeparatedInTheirMiddle) {
  // Of −1 and 3 the widest margin has w = ½, b = −½; Σ α = ‖w‖², so both α = 1/8.
  Eigen::MatrixXf x(1, 2);
  x << -1.0F, 3.0F;
  const Svm svm = Svm::Train(x, {0, 1}, Linear(10.0));
  EXPECT_NEAR(svm.Alpha()[0], 0.125, 1e-6);
  EXPECT_NEAR(svm.Alpha()[1], 0.125, 1e-6);
  EXPECT_NEAR(svm.Bias(), -0.5, 1e-6);
  Eigen::MatrixXf at(1, 3);
  at << -1.0F, 1.0F, 3.0F;
  const Eigen::VectorXd scores = svm.Scores(at);
  EXPECT_NEAR(scores[0], -1.0, 1e-6);
  EXPECT_NEAR(scores[1], 0.0, 1e-6);
  EXPECT_NEAR(scores[2], 1.0, 1e-6);
  // A C below 1/8 binds: w = C·(3 + 1).
  const Svm soft = Svm::Train(x, {0, 1}, Linear(0.05));
  const Eigen::VectorXd softer = soft.Scores(at);
  EXPECT_NEAR(softer[2] - softer[0], 0.05 * 4.0 * 4.0, 1e-6);
}

// Two clouds that overlap, and their labels.
Eigen::MatrixXf Clouds(Labels& labels, double apart, int n = 200) {
  SeededRng rng(5);
  Eigen::MatrixXf x(3, n);
  for (int i = 0; i < n; ++i) {
    labels.push_back(i % 3 == 0 ? 1 : 0);
    for (int d = 0; d < 3; ++d) x(d, i) = static_cast<float>(rng.Gaussian());
    if (i % 3 == 0) x(0, i) += static_cast<float>(apart);
  }
  return x;
}

// y f(x) ≥ 1 where α = 0, = 1 in between, ≤ 1 where α = C; Σ y α = 0.
void ExpectOptimal(const Svm& svm, const Eigen::MatrixXf& x, const Labels& labels, double c,
                   double tolerance) {
  const Eigen::VectorXd scores = svm.Scores(x);
  double balance = 0.0;
  int free = 0;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const double y = labels[static_cast<std::size_t>(i)] != 0 ? 1.0 : -1.0;
    const double alpha = svm.Alpha()[i], margin = y * scores[i];
    EXPECT_GE(alpha, 0.0);
    EXPECT_LE(alpha, c);
    balance += y * alpha;
    if (alpha < c) {
      EXPECT_GE(margin, 1.0 - tolerance) << i;
    }
    if (alpha > 0.0) {
      EXPECT_LE(margin, 1.0 + tolerance) << i;
    }
    if (alpha > 0.0 && alpha < c) ++free;
  }
  EXPECT_NEAR(balance, 0.0, 1e-6);
  EXPECT_GT(free, 0);
}

TEST(Svm, MeetsTheConditionsOfKarushKuhnAndTucker) {
  Labels labels;
  const Eigen::MatrixXf x = Clouds(labels, 2.0);
  for (const SvmKernel kernel : {SvmKernel::kLinear, SvmKernel::kGaussian}) {
    const Svm svm = Svm::Train(x, labels, {.kernel = kernel, .c = 0.7, .tolerance = 1e-4});
    EXPECT_LE(svm.Violation(), 1e-4);
    ExpectOptimal(svm, x, labels, 0.7, 2e-3);
  }
}

TEST(Svm, TheLinearOneMinimisesItsPrimal) {
  Labels labels;
  const Eigen::MatrixXf x = Clouds(labels, 1.5);
  const Svm svm = Svm::Train(x, labels, Linear(0.5));
  // w and b by scores at 0 and at the unit vectors.
  Eigen::MatrixXf at = Eigen::MatrixXf::Zero(3, 4);
  at.rightCols(3).setIdentity();
  const Eigen::VectorXd scores = svm.Scores(at);
  Eigen::Vector4d wb;
  wb << scores.tail(3).array() - scores[0], scores[0];
  const auto primal = [&](const Eigen::Vector4d& p) {
    double sum = 0.5 * p.head(3).squaredNorm();
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      const double y = labels[static_cast<std::size_t>(i)] != 0 ? 1.0 : -1.0;
      sum += 0.5 * std::max(0.0, 1.0 - y * (p.head(3).dot(x.col(i).cast<double>()) + p[3]));
    }
    return sum;
  };
  const double here = primal(wb);
  for (Eigen::Index d = 0; d < 4; ++d) {
    for (const double step : {-0.02, 0.02}) {
      Eigen::Vector4d there = wb;
      there[d] += step;
      EXPECT_GT(primal(there), here - 1e-4);
    }
  }
  // Strong duality: Σ α − ½‖w‖² is the same number.
  EXPECT_NEAR(svm.Alpha().sum() - 0.5 * wb.head(3).squaredNorm(), here, 1e-2);
}

TEST(Svm, AGaussianKernelLearnsARingAndALineDoesNot) {
  SeededRng rng(2);
  Eigen::MatrixXf x(2, 300);
  Labels labels;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const double angle = 6.283 * rng.Uniform(), radius = i % 2 == 0 ? 1.0 : 3.0;
    x.col(i) << static_cast<float>(radius * std::cos(angle)),
        static_cast<float>(radius * std::sin(angle));
    labels.push_back(i % 2 == 0 ? 1 : 0);
  }
  const auto right = [&](const SvmOptions& options) {
    const Eigen::VectorXd scores = Svm::Train(x, labels, options).Scores(x);
    int n = 0;
    for (Eigen::Index i = 0; i < x.cols(); ++i) n += (scores[i] > 0.0) == (i % 2 == 0) ? 1 : 0;
    return n;
  };
  EXPECT_EQ(right({}), 300);
  EXPECT_LT(right(Linear(1.0)), 230);
}

TEST(Svm, RefusesWhatItCannotLearn) {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(2, 3);
  EXPECT_THROW(Svm::Train(x, {1, 1, 1}), Error);
  EXPECT_THROW(Svm::Train(x, {0, 1}), Error);
  EXPECT_THROW(Svm::Train(x, {0, 1, 1}, {.c = 0.0}), Error);
  EXPECT_THROW(Svm::Train(Eigen::MatrixXf(2, 0), {}), Error);
}

}  // namespace
}  // namespace sotto
