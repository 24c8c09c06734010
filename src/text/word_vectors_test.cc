#include "text/word_vectors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

using Sentences = std::vector<std::vector<std::string>>;

double Softplus(double x) { return std::log1p(std::exp(x)); }

// Eq. 4 in double, by its definition.
double Loss(const Eigen::VectorXd& centre, const Eigen::MatrixXd& outputs,
            const std::vector<std::size_t>& near) {
  double loss = 0.0;
  for (std::size_t k = 0; k < near.size(); ++k) {
    const double logit = outputs.col(static_cast<Eigen::Index>(near[k])).dot(centre);
    loss += Softplus(k == 0 ? -logit : logit);
  }
  return loss;
}

TEST(WordVectors, AStepFollowsTheSlopeOfTheLoss) {
  SeededRng rng(3);
  Eigen::VectorXf centre(5);
  Eigen::MatrixXf outputs(5, 4);
  for (float& value : centre) value = static_cast<float>(rng.Gaussian());
  for (float& value : outputs.reshaped()) value = static_cast<float>(rng.Gaussian());
  const std::vector<std::size_t> near = {2, 0, 3};
  const Eigen::VectorXd centre_before = centre.cast<double>();
  const Eigen::MatrixXd outputs_before = outputs.cast<double>();
  constexpr float kRate = 0.25F;
  EXPECT_NEAR(SkipGramStep(centre, outputs, near, kRate), Loss(centre_before, outputs_before, near),
              1e-5);
  constexpr double kStep = 1e-5;
  for (Eigen::Index d = 0; d < 5; ++d) {
    Eigen::VectorXd up = centre_before, down = centre_before;
    up[d] += kStep;
    down[d] -= kStep;
    const double slope =
        (Loss(up, outputs_before, near) - Loss(down, outputs_before, near)) / (2 * kStep);
    EXPECT_NEAR(centre_before[d] - centre[d], kRate * slope, 1e-5);
    for (Eigen::Index k = 0; k < 4; ++k) {
      Eigen::MatrixXd above = outputs_before, below = outputs_before;
      above(d, k) += kStep;
      below(d, k) -= kStep;
      const double output_slope =
          (Loss(centre_before, above, near) - Loss(centre_before, below, near)) / (2 * kStep);
      EXPECT_NEAR(outputs_before(d, k) - outputs(d, k), kRate * output_slope, 1e-5);
    }
  }
}

// Sentences of three topics of eight words each; no two topics share a sentence.
Sentences Topics() {
  SeededRng rng(1);
  Sentences sentences;
  for (int i = 0; i < 900; ++i) {
    auto& sentence = sentences.emplace_back();
    for (int w = 0; w < 8; ++w) {
      sentence.push_back(std::string(1, static_cast<char>('a' + i % 3)) +
                         std::to_string(rng.Below(8)));
    }
  }
  return sentences;
}

TEST(WordVectors, WordsOfOneTopicLieTogether) {
  const WordVectors vectors = WordVectors::Train(Topics(), {.dimension = 16, .subsample = 1.0});
  ASSERT_EQ(vectors.Words().size(), 24U);
  double lowest_within = 1.0, highest_across = -1.0;
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double cosine =
          vectors.Vectors()
              .col(static_cast<Eigen::Index>(i))
              .normalized()
              .dot(vectors.Vectors().col(static_cast<Eigen::Index>(j)).normalized());
      if (vectors.Words()[i][0] == vectors.Words()[j][0]) {
        lowest_within = std::min(lowest_within, cosine);
      } else {
        highest_across = std::max(highest_across, cosine);
      }
    }
  }
  EXPECT_GT(lowest_within, highest_across + 0.3);
  EXPECT_LT(vectors.Losses().back(), vectors.Losses().front() - 0.1);
}

TEST(WordVectors, OneSeedGivesTheSameVectors) {
  const WordVectorOptions options{.dimension = 4, .epochs = 2};
  const WordVectors one = WordVectors::Train(Topics(), options);
  EXPECT_EQ(one.Vectors(), WordVectors::Train(Topics(), options).Vectors());
  WordVectorOptions other = options;
  other.seed = 2;
  EXPECT_NE(one.Vectors(), WordVectors::Train(Topics(), other).Vectors());
}

TEST(WordVectors, RareWordsHaveNoneAndAreLeftOutOfMeans) {
  const WordVectors vectors =
      WordVectors::Train({{"b", "a", "b"}, {"a", "b", "once"}}, {.dimension = 2, .min_count = 2});
  EXPECT_EQ(vectors.Words(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(vectors.Find("once"), WordVectors::kNone);
  EXPECT_EQ(vectors.Places({"once", "a", "b"}), (std::vector<std::int32_t>{1, 0}));
  const Eigen::VectorXf mean = 0.5F * (vectors.Vectors().col(0) + vectors.Vectors().col(1));
  EXPECT_TRUE(vectors.Mean({"a", "once", "b"}).isApprox(mean));
  EXPECT_EQ(vectors.Mean({"once"}), Eigen::VectorXf::Zero(2));
  EXPECT_THROW(WordVectors::Train({{"once"}}), Error);
  EXPECT_THROW(WordVectors::Train({}), Error);
  EXPECT_THROW(WordVectors::Train(Topics(), {.dimension = 0}), Error);
}

}  // namespace
}  // namespace sotto
