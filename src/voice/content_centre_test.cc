#include "voice/content_centre.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sotto {
namespace {

Eigen::MatrixXf Noise(Eigen::Index size, Eigen::Index frames, std::uint64_t seed) {
  SeededRng random(seed);
  Eigen::MatrixXf x(size, frames);
  for (float& v : x.reshaped()) v = static_cast<float>(random.Gaussian());
  return x;
}

TEST(ContentCentre, FindsWhatDoesNotChange) {
  const Eigen::VectorXf offset = Eigen::VectorXf::LinSpaced(4, -2.0f, 3.0f);
  ContentCentre centre(4, 50.0);
  Eigen::MatrixXf x = Noise(4, 2000, 1);
  x.colwise() += offset;
  centre.Hear(x);
  const Eigen::VectorXf exact = x.cast<double>().rowwise().sum().cast<float>() / 2050.0f;
  EXPECT_LT((centre.Mean() - exact).cwiseAbs().maxCoeff(), 1e-5f);
  EXPECT_LT((centre.Mean() - offset).cwiseAbs().maxCoeff(), 0.15f);
}

TEST(ContentCentre, FewFramesMoveItLittleAndNoneNotAtAll) {
  ContentCentre centre(3, 50.0);
  EXPECT_EQ(centre.Mean(), Eigen::VectorXf::Zero(3));
  centre.Hear(Eigen::MatrixXf::Constant(3, 2, 1.0f));
  EXPECT_NEAR(centre.Mean()[0], 2.0f / 52.0f, 1e-6f);
}

TEST(ContentCentre, DoesNotDependOnHowFramesCome) {
  const Eigen::MatrixXf x = Noise(5, 400, 2);
  ContentCentre whole(5, 10.0), pieces(5, 10.0);
  whole.Hear(x);
  for (Eigen::Index t = 0; t < x.cols(); ++t) pieces.Hear(x.col(t));
  EXPECT_EQ(whole.Mean(), pieces.Mean());
}

TEST(ContentCentre, AnotherSpeakerTakesOverWithinMinutes) {
  ContentCentre centre(1, 50.0);
  centre.Hear(Eigen::MatrixXf::Constant(1, 60 * 60 * 50, 1.0f));  // an hour
  EXPECT_NEAR(centre.Mean()[0], 1.0f, 0.02f);
  centre.Hear(Eigen::MatrixXf::Constant(1, 5 * 60 * 50, -1.0f));
  EXPECT_NEAR(centre.Mean()[0], -1.0f, 0.04f);
}

}  // namespace
}  // namespace sotto
