#include "nn/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

struct Data {
  Eigen::MatrixXf x;
  std::vector<int> labels, speakers;

  Forest Learn(const ForestOptions& options = {}) const {
    return Forest::Train(x, labels, speakers, 1 + *std::max_element(labels.begin(), labels.end()),
                         options);
  }
};

// Four uniform numbers, vector after vector; three categories by x₀ + x₁/2. Everybody speaks once.
Data Stairs(int n, std::uint64_t seed) {
  SeededRng rng(seed);
  Data data{Eigen::MatrixXf(4, n), {}, std::vector<int>(static_cast<std::size_t>(n))};
  for (float& value : data.x.reshaped()) value = static_cast<float>(rng.Uniform());
  for (int i = 0; i < n; ++i) {
    const float height = data.x(0, i) + 0.5F * data.x(1, i);
    data.labels.push_back(height > 1.0F ? 2 : height > 0.6F ? 1 : 0);
  }
  std::iota(data.speakers.begin(), data.speakers.end(), 0);
  return data;
}

// One tree on all features that has seen every vector knows all of them.
TEST(Forest, ATreeLearnsByHeart) {
  const Data data = Stairs(300, 1);
  const Eigen::MatrixXf shares = data.Learn({.features = 4}).Shares(data.x);
  EXPECT_LT((shares.colwise().sum().array() - 1.0F).abs().maxCoeff(), 1e-5F);
  for (Eigen::Index i = 0; i < 300; ++i) {
    EXPECT_GT(shares(data.labels[static_cast<std::size_t>(i)], i), 0.5F);
  }
}

// scikit-learn 1.2.1: DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=m)
// .feature_importances_, the same for 40 seeds. A category of one speaker is drawn whole.
TEST(Forest, ImportanceIsThatOfScikitLearn) {
  Data data = Stairs(100, 5);
  data.speakers = data.labels;
  for (const auto& [leaf, first] : {std::pair{5, 0.6765729470}, std::pair{8, 0.661700347}}) {
    const Forest tree = data.Learn({.trees = 1, .features = 4, .min_leaf = leaf});
    EXPECT_NEAR(tree.Importance()[0], first, 1e-8);
    EXPECT_NEAR(tree.Importance()[1], 1.0 - first, 1e-8);
    EXPECT_EQ(tree.Importance().tail(2).norm(), 0.0);
  }
}

TEST(Forest, ImportanceAddsUpToOneAndFollowsWhatTells) {
  const Data data = Stairs(400, 2);
  const Eigen::VectorXd importance = data.Learn().Importance();
  EXPECT_NEAR(importance.sum(), 1.0, 1e-12);
  EXPECT_GT(importance[0], 2.0 * importance[1]);
  EXPECT_GT(importance[1], 2.0 * importance.tail(2).maxCoeff());
  Data flat = data;
  flat.x.setOnes();
  EXPECT_EQ(flat.Learn().Importance().norm(), 0.0);
}

TEST(Forest, IsTheSameForASeedOnAnyNumberOfThreads) {
  const Data data = Stairs(200, 1);
  ForestOptions options;
  options.trees = 20;
  const Forest one = data.Learn(options);
  options.jobs = 3;
  const Forest threads = data.Learn(options);
  EXPECT_EQ(one.Shares(data.x), threads.Shares(data.x, 3));
  EXPECT_EQ(one.Importance(), threads.Importance());
  options.seed = 2;
  EXPECT_NE(one.Shares(data.x), data.Learn(options).Shares(data.x));
}

// A category of a tenth of the speakers, and one speaker with half of all vectors: on noise the
// mean share is one half nevertheless.
TEST(Forest, CategoriesAndSpeakersWeighTheSame) {
  SeededRng rng(3);
  Data data{Eigen::MatrixXf(4, 800), {}, {}};
  for (float& value : data.x.reshaped()) value = static_cast<float>(rng.Gaussian());
  for (int i = 0; i < 800; ++i) {
    data.speakers.push_back(i < 400 ? 0 : i / 4);
    data.labels.push_back(i >= 400 && i / 4 % 10 == 0 ? 1 : 0);
  }
  Eigen::MatrixXf points(4, 500);
  for (float& value : points.reshaped()) value = static_cast<float>(rng.Gaussian());
  EXPECT_NEAR(data.Learn({.min_leaf = 40}).Shares(points).row(1).mean(), 0.5F, 0.12F);
}

TEST(Forest, RefusesWhatItCannotLearnFrom) {
  Data data = Stairs(50, 1);
  const Forest forest = data.Learn();
  EXPECT_THROW(forest.Shares(Eigen::MatrixXf(9, 1)), Error);
  EXPECT_THROW(Forest::Train(data.x, data.labels, data.speakers, 4), Error);  // nobody is 3
  EXPECT_THROW(Forest::Train(data.x, data.labels, data.speakers, 2), Error);
  EXPECT_THROW(Forest::Train(data.x, data.labels, {}, 3), Error);
  EXPECT_THROW(data.Learn({.trees = 0}), Error);
  EXPECT_THROW(data.Learn({.min_leaf = 0}), Error);
  data.x(0, 0) = std::nanf("");
  EXPECT_THROW(data.Learn(), Error);
}

}  // namespace
}  // namespace sotto
