#include "attack/attribute_examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace sotto {
namespace {

// Speakers 0 to 9, of whom every fifth is of category 1; speaker s has s + 1 vectors.
AttributeExamples Uneven() {
  AttributeExamples some;
  for (int s = 0; s < 10; ++s) {
    for (int u = 0; u <= s; ++u) {
      some.speakers.push_back(s);
      some.labels.push_back(s % 5 == 0 ? 1 : 0);
    }
  }
  some.vectors = Eigen::MatrixXf::Zero(2, static_cast<Eigen::Index>(some.size()));
  return some;
}

TEST(AttributeExamples, CategoriesAndSpeakersWeighTheSame) {
  const AttributeExamples some = Uneven();
  const Eigen::VectorXd weights = BalancedWeights(some);
  std::map<int, double> of_speaker;
  for (std::size_t i = 0; i < some.size(); ++i) {
    of_speaker[some.speakers[i]] += weights[static_cast<Eigen::Index>(i)];
  }
  for (const auto& [speaker, weight] : of_speaker) {
    EXPECT_NEAR(weight, speaker % 5 == 0 ? 0.5 / 2 : 0.5 / 8, 1e-12);
  }
}

TEST(AttributeExamples, FoldsShareEveryCategory) {
  std::vector<int> category(78, 1);
  std::fill_n(category.begin(), 35, 0);
  const std::vector<int> dealt = DealSpeakers(category, 5, 0);
  for (int s = 0; s < 35; ++s) EXPECT_EQ(dealt[static_cast<std::size_t>(s)], s % 5);
  const std::vector<int> shuffled = DealSpeakers(category, 5, 1);
  EXPECT_NE(dealt, shuffled);
  EXPECT_NE(shuffled, DealSpeakers(category, 5, 2));
  EXPECT_EQ(shuffled, DealSpeakers(category, 5, 1));
  std::map<std::pair<int, int>, int> count;
  for (std::size_t s = 0; s < category.size(); ++s) ++count[{category[s], shuffled[s]}];
  for (int fold = 0; fold < 5; ++fold) {
    EXPECT_EQ((count[{0, fold}]), 7);
    EXPECT_GE((count[{1, fold}]), 8);
  }
}

TEST(AttributeExamples, AChoiceIsMadeOnSpeakersHeldOut) {
  const AttributeExamples some = Uneven();
  int folds = 0;
  const auto losses = [&](const AttributeExamples& train, const AttributeExamples& held) {
    ++folds;
    EXPECT_EQ(train.size() + held.size(), some.size());
    for (const int speaker : held.speakers) {
      EXPECT_EQ(std::count(train.speakers.begin(), train.speakers.end(), speaker), 0);
    }
    return std::vector<double>{2.0, 1.0, 1.0, 3.0};
  };
  EXPECT_EQ(ChooseBySpeaker(some, losses, 9), 1U);
  EXPECT_EQ(folds, 2);  // the smaller category has two speakers
  AttributeExamples lonely = some;
  for (std::size_t i = 0; i < some.size(); ++i) lonely.labels[i] = some.speakers[i] == 0 ? 1 : 0;
  EXPECT_EQ(ChooseBySpeaker(lonely, losses, 9), 9U);
}

TEST(AttributeExamples, StandardisedRowsHaveNoMeanAndVarianceOne) {
  Eigen::MatrixXf x(3, 4);
  x << 1, 2, 3, 4, 10, -10, 10, -10, 5, 5, 5, 5;
  const Eigen::Vector4d weights(0.1, 0.2, 0.3, 0.4);
  const Eigen::MatrixXd z = Standardiser(x, weights)(x);
  EXPECT_LT((z * weights).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(z.row(0).cwiseAbs2() * weights, 1.0, 1e-6);
  EXPECT_NEAR(z.row(1).cwiseAbs2() * weights, 1.0, 1e-6);
  EXPECT_LT(z.row(2).cwiseAbs().maxCoeff(), 1e-6);  // constant
}

}  // namespace
}  // namespace sotto
