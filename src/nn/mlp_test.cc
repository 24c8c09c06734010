#include "nn/mlp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

struct Data {
  Eigen::MatrixXf x;
  std::vector<std::uint8_t> labels;
};

// Inside or outside a ring: no line separates them. A fifth are inside.
Data Ring(std::uint64_t seed, int n) {
  SeededRng rng(seed);
  Data data{Eigen::MatrixXf(3, n), {}};
  for (int i = 0; i < n; ++i) {
    const bool inside = i % 5 == 0;
    const double angle = 2.0 * M_PI * rng.Uniform();
    const double radius = inside ? 0.7 * rng.Uniform() : 1.3 + 0.7 * rng.Uniform();
    data.x.col(i) << static_cast<float>(50.0 + radius * std::cos(angle)),
        static_cast<float>(0.01 * radius * std::sin(angle)), static_cast<float>(rng.Gaussian());
    data.labels.push_back(inside ? 1 : 0);
  }
  return data;
}

double Accuracy(const Mlp& net, const Data& data) {
  const Eigen::VectorXf logits = net.Logits(data.x);
  int right = 0;
  for (Eigen::Index i = 0; i < logits.size(); ++i) {
    right += (logits[i] > 0.0F) == (data.labels[static_cast<std::size_t>(i)] == 1) ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(logits.size());
}

TEST(Mlp, LearnsWhatNoLineSeparates) {
  const Mlp net = Mlp::Train(Ring(1, 1000).x, Ring(1, 1000).labels);
  EXPECT_GT(Accuracy(net, Ring(2, 500)), 0.97);
}

TEST(Mlp, TheSameSeedGivesTheSameNet) {
  const Data data = Ring(1, 200);
  const Eigen::VectorXf once = Mlp::Train(data.x, data.labels).Logits(data.x);
  EXPECT_EQ(once, Mlp::Train(data.x, data.labels).Logits(data.x));
  MlpOptions other;
  other.seed = 2;
  EXPECT_NE(once, Mlp::Train(data.x, data.labels, other).Logits(data.x));
}

// Both classes are N(±1, 1): the best logit is 2x whatever the numbers of examples.
TEST(Mlp, ClassesWeighTheSame) {
  SeededRng rng(3);
  Eigen::MatrixXf x(1, 4000);
  std::vector<std::uint8_t> labels;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    labels.push_back(i % 10 == 0 ? 1 : 0);
    x(0, i) = static_cast<float>(rng.Gaussian() + (labels.back() == 1 ? 1.0 : -1.0));
  }
  Eigen::MatrixXf points(1, 3);
  points << -1.0F, 0.0F, 1.0F;
  const Eigen::VectorXf logits = Mlp::Train(x, labels).Logits(points);
  EXPECT_NEAR(logits[0], -2.0F, 0.5F);
  EXPECT_NEAR(logits[1], 0.0F, 0.4F);
  EXPECT_NEAR(logits[2], 2.0F, 0.5F);
}

TEST(Mlp, TheLowestLossIsKept) {
  Data data = Ring(1, 200);
  SeededRng rng(4);
  for (std::uint8_t& label : data.labels) label = static_cast<std::uint8_t>(rng.Below(2));
  MlpOptions options;
  options.keep_lowest = true;
  options.learning_rate = 3.0;  // with labels of chance: the loss goes up and down
  options.epochs = 20;
  const Mlp net = Mlp::Train(data.x, data.labels, options);
  ASSERT_EQ(net.Losses().size(), 20U);
  const auto lowest = std::min_element(net.Losses().begin(), net.Losses().end());
  ASSERT_NE(lowest, net.Losses().end() - 1);
  options.epochs = static_cast<int>(lowest - net.Losses().begin()) + 1;
  EXPECT_EQ(Mlp::Train(data.x, data.labels, options).Logits(data.x), net.Logits(data.x));
}

TEST(Mlp, BoundsHoldHoweverLargeTheSteps) {
  const Data data = Ring(1, 200);
  MlpOptions options;
  options.learning_rate = 5.0;
  options.weight_decay = 0.0;
  options.bounds = {.input = 2.0, .weight = 3.0, .hidden = 9.0, .output = 20.0};
  const MlpWeights net = Mlp::Train(data.x, data.labels, options).Weights();
  EXPECT_LE(net.w1.cwiseAbs().maxCoeff(), 3.0F);
  EXPECT_LE(net.w2.cwiseAbs().maxCoeff(), 3.0F);
  const Eigen::VectorXf reach = 2.0F * net.w1.cwiseAbs().rowwise().sum() + net.b1.cwiseAbs();
  EXPECT_LE(reach.maxCoeff(), 9.0F);
  EXPECT_GT(reach.maxCoeff(), 8.9F);
  EXPECT_LE(9.0F * net.w2.cwiseAbs().sum() + std::abs(net.b2), 20.0F);
  options.bounds.input = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Mlp::Train(data.x, data.labels, options), Error);
}

TEST(Mlp, RefusesOneClassAndWrongSizes) {
  const Data data = Ring(1, 20);
  EXPECT_THROW(Mlp::Train(data.x, std::vector<std::uint8_t>(20, 1)), Error);
  EXPECT_THROW(Mlp::Train(data.x, std::vector<std::uint8_t>(19, 1)), Error);
  EXPECT_THROW(Mlp::Train(data.x, data.labels).Logits(Eigen::MatrixXf(2, 1)), Error);
}

}  // namespace
}  // namespace sotto
