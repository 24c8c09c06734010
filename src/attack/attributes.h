// Attribute attackers: what a voice says about its speaker besides who it is. Any attribute with
// categories (speaker/attributes.h), gender first of all, by five classifiers:
//
//   knn3       k nearest neighbours, k = 3, cosine distance (COMPRISE D2.2, table 12)
//   mlp        a net with one hidden layer (nn/mlp.h)
//   logistic   logistic regression, its penalty cross-validated by speaker (logistic.h)
//   forest     a random forest on speakers drawn (nn/forest.h)
//   quadratic  a Gaussian for each category, its shrinkage cross-validated (quadratic.h)
//
// Every category weighs the same in training; in the last three every speaker does, too, and they
// see the lengths of the vectors as well as their directions.
//
// What the attacker learns from is the caller's choice: clean vectors (uninformed), protected ones
// of other speakers (informed), or the released ones themselves (in-domain: `train` is `test`), as
// the operator of a service has them. A speaker who is tested never trains.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string>
#include <vector>

#include "assess/intervals.h"
#include "assess/ladder.h"
#include "attack/attribute_examples.h"
#include "speaker/attributes.h"
#include "speaker/embeddings.h"

namespace sotto {

enum class AttributeClassifier { kNearest, kNet, kLogistic, kForest, kQuadratic };
inline constexpr std::array kAttributeClassifiers = {
    AttributeClassifier::kNearest, AttributeClassifier::kNet, AttributeClassifier::kLogistic,
    AttributeClassifier::kForest, AttributeClassifier::kQuadratic};
const char* Name(AttributeClassifier classifier);  // as above
// Throws Error for a name that no classifier has.
AttributeClassifier ParseAttributeClassifier(const std::string& name);

inline constexpr int kNearestNeighbours = 3;

// How much an attacker trains. Enough that twice as much finds no more: on the voices of libri_dev
// after the line between the genders was erased, the AUC of the net rises by 0.000 to 0.002 with
// twice the units and epochs, that of the forest by 0.000 to 0.004 with twice the trees, where
// seeds alone make deviations of 0.004.
struct ClassifierOptions {
  int hidden = 256;  // units of the net
  int epochs = 60;   // of its training
  int trees = 800;   // of the forest
  std::uint64_t seed = 1;
  int jobs = 1;  // the scores do not depend on it
};

// Scores of each column of `test`. Two categories: one row, above 0 for the first of them (share of
// the votes − ½, logits, ln of a ratio of densities). More: one row for each against the rest, the
// highest wins. Throws Error when the training data lacks a category.
Eigen::MatrixXf ClassifyAttribute(AttributeClassifier classifier, const AttributeExamples& train,
                                  const Eigen::Ref<const Eigen::MatrixXf>& test,
                                  const ClassifierOptions& options = {});

struct AttributeAttackOptions {
  ClassifierOptions classifier;
  std::string attacker;  // its name in the figures: "informed"
  int folds = 5;         // where train and test share speakers
  int assignments = 3;   // of speakers to folds; their figures are averaged
  IntervalOptions intervals;

  void Validate() const;  // throws Error
};

struct AttributeAttack {
  AttributeClassifier classifier = AttributeClassifier::kNearest;
  // <name>_accuracy, <name>_balanced_accuracy (the mean of the categories' rates), <name>_eer and
  // <name>_auc; of more than two categories the last two are means over each against the rest.
  // Intervals by test speaker.
  std::vector<Figure> figures;
  std::string bootstrap;
  bool cross_validated = false;
  // Of the AUC, for PairedInterval (assess/intervals.h): the speakers tested are drawn in order of
  // name, so the same ones in every attack on them with the same seed.
  std::vector<double> auc_resamples;

  double Value(const std::string& figure) const;  // "auc"; NaN without it
};

// Where both sets share speakers, those of each fold are tested by a classifier trained on the
// others, each fold with its share of every category. EER and accuracy pool the scores of all
// folds; the AUC compares scores of one and the same classifier alone. Throws Error for a speaker
// without a label.
AttributeAttack AttackAttribute(AttributeClassifier classifier, const EmbeddingSet& train,
                                const EmbeddingSet& test, const AttributeLabels& labels,
                                const AttributeAttackOptions& options = {});

struct GenderTest {
  EmbeddingSet train;  // speakers without a gender are an Error
  EmbeddingSet test;   //
  IntervalOptions intervals;
};

// A row of the ladder: one assignment, speakers in order of name, and a net of 64 units, as the
// figures published of it.
LadderRow AttackGender(Attacker attacker, AttributeClassifier classifier, const GenderTest& data);

}  // namespace sotto
