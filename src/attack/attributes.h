// Attribute attackers: what a recording says about its speaker besides who it is. Gender, by the
// two usual classifiers: k nearest neighbours (k = 3, cosine distance; COMPRISE D2.3, table
// 12) and a net with one hidden layer (nn/mlp.h).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assess/intervals.h"
#include "assess/ladder.h"
#include "speaker/embeddings.h"

namespace sotto {

enum class AttributeClassifier { kNearest, kNet };
const char* Name(AttributeClassifier classifier);  // "knn3" or "mlp"

inline constexpr int kNearestNeighbours = 3;

// P(1) − ½ (nearest neighbours) or the logit (net) of each column of `test`. Throws Error when the
// training data lacks a class.
Eigen::VectorXf ClassifyAttribute(AttributeClassifier classifier,
                                  const Eigen::Ref<const Eigen::MatrixXf>& train,
                                  const std::vector<std::uint8_t>& labels,
                                  const Eigen::Ref<const Eigen::MatrixXf>& test);

struct GenderTest {
  EmbeddingSet train;  // speakers without a gender are an Error
  EmbeddingSet test;   //
  IntervalOptions intervals;
};

// Female is class 1. Speakers of `test` never train: where both sets share speakers, those of each
// of five folds are tested by a classifier trained on the others. Figures: gender_accuracy,
// gender_balanced_accuracy (mean of both classes' rates), gender_eer; intervals by test speaker.
LadderRow AttackGender(Attacker attacker, AttributeClassifier classifier, const GenderTest& data);

}  // namespace sotto
