#include "attack/category_rankings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// 12 speakers of three categories, two vectors each, in two folds.
struct Scored {
  MatrixXf scores{3, 24};
  std::vector<int> category, fold;
  std::vector<std::size_t> speaker;

  Scored() {
    SeededRng rng(1);
    for (Index i = 0; i < scores.cols(); ++i) {
      speaker.push_back(static_cast<std::size_t>(i / 2));
      category.push_back(static_cast<int>(i / 2 % 3));
      fold.push_back(static_cast<int>(i / 12));
      for (Index k = 0; k < 3; ++k) {
        // Few values: there are ties.
        scores(k, i) = std::round(2.0F * static_cast<float>(rng.Gaussian())) +
                       (category.back() == k ? 2.0F : 0.0F) + (k == 1 ? 100.0F : 0.0F);
      }
    }
  }

  // By counting pairs.
  double Won(const std::vector<double>& weights, bool within_folds) const {
    double sum = 0.0, present = 0.0;
    for (int k = 0; k < 3; ++k) {
      double won = 0.0, pairs = 0.0;
      for (std::size_t i = 0; i < category.size(); ++i) {
        for (std::size_t j = 0; j < category.size(); ++j) {
          if (category[i] != k || category[j] == k) continue;
          if (within_folds && fold[i] != fold[j]) continue;
          const float a = scores(k, static_cast<Index>(i)), b = scores(k, static_cast<Index>(j));
          const double w = weights[speaker[i]] * weights[speaker[j]];
          pairs += w;
          won += a > b ? w : (a == b ? 0.5 * w : 0.0);
        }
      }
      if (pairs == 0.0) continue;
      sum += won / pairs;
      present += 1.0;
    }
    return sum / present;
  }
};

TEST(CategoryRankings, TheAreaIsTheShareOfPairsWonUnderTheWeightsOfTheSpeakers) {
  const Scored data;
  const CategoryRankings pooled(data.scores, data.category, data.speaker);
  const CategoryRankings by_fold(data.scores, data.category, data.speaker, data.fold);
  std::vector<double> weights(12, 1.0);
  EXPECT_NEAR(pooled.AreaUnderCurve(weights), data.Won(weights, false), 1e-12);
  EXPECT_NEAR(by_fold.AreaUnderCurve(weights), data.Won(weights, true), 1e-12);
  EXPECT_NE(pooled.AreaUnderCurve(weights), by_fold.AreaUnderCurve(weights));
  weights = {2, 0, 1, 3, 0, 1, 0, 2, 0, 1, 1, 1};
  EXPECT_NEAR(pooled.AreaUnderCurve(weights), data.Won(weights, false), 1e-12);
  EXPECT_NEAR(by_fold.AreaUnderCurve(weights), data.Won(weights, true), 1e-12);
}

TEST(CategoryRankings, ACategoryThatNobodyHasCountsForNothing) {
  const Scored data;
  const CategoryRankings rankings(data.scores, data.category, data.speaker);
  std::vector<double> weights(12, 1.0);
  for (std::size_t s = 2; s < weights.size(); s += 3) weights[s] = 0.0;  // the third category
  EXPECT_NEAR(rankings.AreaUnderCurve(weights), data.Won(weights, false), 1e-12);
  EXPECT_FALSE(std::isnan(rankings.Eer(weights)));
  for (std::size_t s = 1; s < weights.size(); s += 3) weights[s] = 0.0;
  EXPECT_TRUE(std::isnan(rankings.AreaUnderCurve(weights)));
  EXPECT_TRUE(std::isnan(rankings.Eer(weights)));
}

TEST(CategoryRankings, OfTwoCategoriesOneRowSaysAll) {
  MatrixXf scores(1, 4);
  scores << 0.9F, 0.3F, 0.4F, 0.1F;
  const CategoryRankings rankings(scores, {0, 0, 1, 1}, {0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(rankings.AreaUnderCurve({1, 1, 1, 1}), 0.75);
  EXPECT_DOUBLE_EQ(rankings.AreaUnderCurve({3, 1, 1, 1}), 0.875);
  EXPECT_DOUBLE_EQ(rankings.AreaUnderCurve({1, 1, 0, 1}), 1.0);
  EXPECT_DOUBLE_EQ(rankings.Eer({1, 1, 1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(rankings.Eer({1, 1, 0, 1}), 0.0);
}

}  // namespace
}  // namespace sotto
