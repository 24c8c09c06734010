#include "attack/text_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace sotto {
namespace {

const std::vector<TextWords> kBackground = {{"a", "b", "b"}, {"c"}, {}};

TEST(TextScores, WordsScoreTheRatioOfTwoSmoothedModels) {
  const Eigen::MatrixXf scores =
      TextScorer(TextScore::kWords, kBackground, 2.0).Score({{"a", "a", "d"}}, {{"a", "b"}, {"d"}});
  // Background: (count + 1)/(4 words + 3 kinds + 1 unseen).
  const double a = 2.0 / 8, b = 3.0 / 8, unseen = 1.0 / 8;
  const auto ratio = [](double heard, double p) {
    return std::log((heard + 2.0 * p) / ((3.0 + 2.0) * p));
  };
  EXPECT_NEAR(scores(0, 0), 0.5 * (ratio(2, a) + ratio(0, b)), 1e-6);
  EXPECT_NEAR(scores(0, 1), ratio(1, unseen), 1e-6);
}

TEST(TextScores, CosinesAreThoseOfTfIdf) {
  const Eigen::MatrixXf scores = TextScorer(TextScore::kWordsCosine, kBackground)
                                     .Score({{"a", "b"}, {"c", "c"}}, {{"a", "a"}, {"b", "a"}});
  EXPECT_NEAR(scores(0, 1), 1.0, 1e-6);
  EXPECT_EQ(scores(1, 0), 0.0F);
  // Both words are in one of two texts: equal idf.
  EXPECT_NEAR(scores(0, 0), std::sqrt(0.5), 1e-6);
}

TEST(TextScores, CharactersKnowWordsByTheirParts) {
  const std::vector<TextWords> background = {{"walking", "home"}, {"reading", "books"}};
  const auto score = [&](TextScore by) {
    return TextScorer(by, background).Score({{"talking"}}, {{"stalking"}, {"zzzz"}});
  };
  for (const TextScore by : {TextScore::kCharacters, TextScore::kCharactersCosine}) {
    EXPECT_GT(score(by)(0, 0), score(by)(0, 1) + 0.01F) << Name(by);
  }
  EXPECT_EQ(score(TextScore::kWordsCosine)(0, 0), 0.0F);
}

TEST(TextScores, WithoutWordsThereIsNoScore) {
  for (const TextScore by : kTextScores) {
    const Eigen::MatrixXf scores = TextScorer(by, kBackground).Score({{"a"}, {}}, {{"a"}, {}});
    EXPECT_FALSE(std::isnan(scores(0, 0)));
    EXPECT_TRUE(std::isnan(scores(0, 1)));
    EXPECT_TRUE(std::isnan(scores(1, 0)));
    EXPECT_THROW(TextScorer(by, {{}, {}}), Error);
  }
}

TEST(TextScores, NormalisingTakesAwayWhatARowOrAColumnHasOfItsOwn) {
  Eigen::MatrixXf gap(2, 3);
  gap << 1, 2, std::numeric_limits<float>::quiet_NaN(), 0, 4, 2;
  NormaliseScores(gap);
  EXPECT_TRUE(std::isnan(gap(0, 2)));
  EXPECT_NEAR(gap(0, 0), 0.5 * (-1.0 + 1.0), 1e-6);
  EXPECT_NEAR(gap(1, 2), 0.0, 1e-6);  // the mean of its row, alone in its column
  Eigen::MatrixXf equal = Eigen::MatrixXf::Constant(2, 2, 3.0F);
  NormaliseScores(equal);
  EXPECT_EQ(equal, Eigen::MatrixXf::Zero(2, 2));
  // By hand: (0 − 1)/1 of a row, (0 − ½)/½ of a column.
  Eigen::MatrixXf two(2, 2);
  two << 0, 2, 1, 1;
  NormaliseScores(two);
  EXPECT_NEAR(two(0, 0), -1.0, 1e-6);
  EXPECT_NEAR(two(0, 1), 1.0, 1e-6);
  EXPECT_NEAR(two(1, 0), 0.5, 1e-6);
}

}  // namespace
}  // namespace sotto
