#include "speaker/transport.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "speaker/hider_testing.h"
#include "speaker/hiders.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

MatrixXd Symmetric(int n, std::uint64_t seed) {
  SeededRng rng(seed);
  MatrixXd a(n, n);
  for (double& value : a.reshaped()) value = rng.Gaussian();
  return a * a.transpose() / n + 0.1 * MatrixXd::Identity(n, n);
}

// Mean and covariance of the columns of one category.
struct Moments {
  VectorXd mean;
  MatrixXd covariance;
};
Moments Of(const MatrixXf& y, const HiderData& data, int category) {
  std::vector<Index> places;
  for (Index i = 0; i < y.cols(); ++i) {
    if (data.categories(0, i) == category) places.push_back(i);
  }
  MatrixXd own(y.rows(), std::ssize(places));
  for (Index i = 0; i < own.cols(); ++i) {
    own.col(i) = y.col(places[static_cast<std::size_t>(i)]).cast<double>();
  }
  Moments moments{own.rowwise().mean(), {}};
  own.colwise() -= moments.mean;
  moments.covariance = own * own.transpose() / static_cast<double>(own.cols());
  return moments;
}

TEST(Transport, MapsOneGaussianOntoTheOther) {
  const MatrixXd from = Symmetric(6, 1), to = Symmetric(6, 2);
  const MatrixXd map = GaussianTransport(from, to);
  EXPECT_LT((map * from * map.transpose() - to).norm(), 1e-10);
  EXPECT_LT((map - map.transpose()).norm(), 1e-10);  // the optimal one is symmetric
}

TEST(Transport, BarycentreOfCommutingCovariancesHasTheMeanOfTheDeviations) {
  const MatrixXd a = Eigen::Vector3d(1.0, 4.0, 9.0).asDiagonal();
  const MatrixXd b = Eigen::Vector3d(9.0, 4.0, 25.0).asDiagonal();
  const MatrixXd middle = WassersteinBarycentre({a, b});
  EXPECT_LT((middle - MatrixXd(Eigen::Vector3d(4.0, 4.0, 16.0).asDiagonal())).norm(), 1e-10);
}

TEST(Transport, TheBarycentreIsTheFixedPointOfItsEquation) {
  const std::vector<MatrixXd> all = {Symmetric(5, 3), Symmetric(5, 4), Symmetric(5, 5)};
  const MatrixXd middle = WassersteinBarycentre(all);
  // The mean of the maps from the barycentre to the groups is the identity (Agueh & Carlier 2011).
  MatrixXd mean = MatrixXd::Zero(5, 5);
  for (const MatrixXd& one : all) mean += GaussianTransport(middle, one) / 3.0;
  EXPECT_LT((mean - MatrixXd::Identity(5, 5)).norm(), 1e-8);
}

TEST(Transport, GroupsHaveTheSameMomentsAfterwards) {
  const HiderData data = testing::AttributeVoices(400, 12, 7);
  TransportOptions options;
  options.dimension = 12;
  options.erased = options.erased_shifts = 0;
  options.shrink = 0.0;
  const AffineHider hider = FitTransport(data, options);
  EXPECT_TRUE(hider.AsksForCategories());
  const MatrixXf y = hider.Latent(data.x, data.categories);
  const Moments women = Of(y, data, 0), men = Of(y, data, 1);
  EXPECT_LT((women.mean - men.mean).norm(), 1e-4 * std::sqrt(women.covariance.trace()));
  EXPECT_LT((women.covariance - men.covariance).norm(), 0.01 * women.covariance.norm());
  const Moments before = Of(data.x, data, 0), other = Of(data.x, data, 1);
  EXPECT_GT((before.mean - other.mean).norm(), 0.4);
}

TEST(Transport, ErasesTheDirectionInWhichCorporaDisagree) {
  // Two corpora: the groups differ along coordinate 0 in one and the other way round in the other.
  HiderData data = testing::AttributeVoices(200, 8, 9, 0.0F);
  for (Index i = 0; i < data.x.cols(); ++i) {
    const int domain = data.speaker[static_cast<std::size_t>(i)] % 4 < 2 ? 0 : 1;
    data.domain[static_cast<std::size_t>(i)] = domain;
    const float sign = (data.categories(0, i) == 0) == (domain == 0) ? 1.0F : -1.0F;
    data.x(0, i) += 2.0F * sign;
  }
  TransportOptions options;
  options.dimension = 8;
  options.erased = 1;
  options.erased_shifts = 0;
  const AffineHider hider = FitTransport(data, options);
  for (const AffineMap& map : hider.Maps()) {
    EXPECT_EQ(map.matrix.rows(), 7);
    EXPECT_LT(map.matrix.col(0).norm(), 0.05F * map.matrix.norm());
  }
}

TEST(Transport, IsTheSameAfterItsFile) {
  const HiderData data = testing::AttributeVoices(60, 6, 3, 0.5F, true);
  const auto method = TransportMethod();
  const auto fitted =
      method->Fit(data, testing::GivenValues(*method, {{"dimension", "6"}, {"erased", "1"}}));
  const auto loaded =
      ParseHider(ParseTensorFile(SerialiseTensorFile(fitted->File(), StoredAs::kFloat32), "file"));
  EXPECT_EQ(loaded->Header().method, "transport");
  EXPECT_TRUE(fitted->Latent(data.x, data.categories) == loaded->Latent(data.x, data.categories));
}

TEST(Transport, RefusesWhatCannotBeMeasured) {
  HiderData few = testing::AttributeVoices(3, 4, 1);  // one man
  TransportOptions options;
  options.dimension = 4;
  options.erased = options.erased_shifts = 0;
  EXPECT_THROW(FitTransport(few, options), Error);
  const HiderData data = testing::AttributeVoices(20, 4, 1);
  EXPECT_NO_THROW(FitTransport(data, options));
  options.shrink = 1.5;
  EXPECT_THROW(FitTransport(data, options), Error);
  options.shrink = 0.0;
  options.erased = 2;
  options.erased_shifts = 1;
  EXPECT_THROW(FitTransport(data, options), Error);
}

}  // namespace
}  // namespace sotto
