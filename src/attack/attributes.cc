#include "attack/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "attack/category_rankings.h"
#include "attack/logistic.h"
#include "attack/quadratic.h"
#include "base/error.h"
#include "base/parallel.h"
#include "nn/forest.h"
#include "nn/mlp.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of two categories one row of scores says all.
int Rows(int n_categories) { return n_categories == 2 ? 1 : n_categories; }

// Shares of categories as scores.
MatrixXf FromShares(const MatrixXf& shares) {
  if (shares.rows() > 2) return shares;
  return shares.row(0).array() - 0.5F;
}

MatrixXf ClassifyNearest(const AttributeExamples& train, const Eigen::Ref<const MatrixXf>& test) {
  const MatrixXf cosines = CosineScores(train.vectors, test);
  const auto k = std::min<std::size_t>(kNearestNeighbours, train.size());
  MatrixXf shares = MatrixXf::Zero(train.n_categories, test.cols());
  std::vector<Index> order(train.size());
  for (Index t = 0; t < test.cols(); ++t) {
    std::iota(order.begin(), order.end(), Index{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                      [&](Index a, Index b) {
                        return cosines(a, t) != cosines(b, t) ? cosines(a, t) > cosines(b, t)
                                                              : a < b;
                      });
    for (std::size_t i = 0; i < k; ++i) {
      shares(train.labels[static_cast<std::size_t>(order[i])], t) += 1.0F;
    }
  }
  return FromShares(shares / static_cast<float>(k));
}

MatrixXf ClassifyNet(const AttributeExamples& train, const Eigen::Ref<const MatrixXf>& test,
                     const ClassifierOptions& options) {
  MlpOptions net;
  net.hidden = options.hidden;
  net.epochs = options.epochs;
  net.seed = options.seed;
  const MatrixXf x = UnitLength(train.vectors), y = UnitLength(test);
  MatrixXf scores(Rows(train.n_categories), test.cols());
  for (Index k = 0; k < scores.rows(); ++k) {
    std::vector<std::uint8_t> positive;
    for (const int label : train.labels) positive.push_back(label == k ? 1 : 0);
    scores.row(k) = Mlp::Train(x, positive, net).Logits(y).transpose();
  }
  return scores;
}

MatrixXf ClassifyForest(const AttributeExamples& train, const Eigen::Ref<const MatrixXf>& test,
                        const ClassifierOptions& options) {
  ForestOptions forest;
  forest.trees = options.trees;
  forest.seed = options.seed;
  forest.jobs = options.jobs;
  return FromShares(Forest::Train(DirectionAndLength(train.vectors), train.labels, train.speakers,
                                  train.n_categories, forest)
                        .Shares(DirectionAndLength(test), options.jobs));
}

// What is tested: whose each vector is, what they are, and who is tested by which classifier.
struct Tested {
  const EmbeddingSet& set;
  std::vector<int> labels;              // of each vector
  std::vector<std::size_t> speaker_of;  // number in order of name
  std::vector<std::string> names;       // of speakers
  std::vector<int> category;            // of speakers
  std::vector<std::vector<int>> folds;  // [assignment][speaker]
  int n_folds = 1;                      // of each assignment

  Tested(const EmbeddingSet& train, const EmbeddingSet& test, const AttributeLabels& attribute,
         const AttributeAttackOptions& options)
      : set(test),
        labels(attribute.Of(test, attribute.name + " attacker, released speech")),
        speaker_of(test.size()) {
    for (const auto& [speaker, places] : test.BySpeaker()) {
      for (const std::size_t place : places) speaker_of[place] = names.size();
      names.push_back(speaker);
      category.push_back(labels[places.front()]);
    }
    const std::set<std::string> trained(train.speakers.begin(), train.speakers.end());
    const bool shared = std::any_of(names.begin(), names.end(),
                                    [&](const auto& name) { return trained.contains(name); });
    if (shared) n_folds = options.folds;
    for (int a = 0; a < (shared ? options.assignments : 1); ++a) {
      folds.push_back(DealSpeakers(category, n_folds, static_cast<std::uint64_t>(a)));
    }
  }

  // Of each vector.
  std::vector<int> FoldOf(std::size_t assignment) const {
    std::vector<int> fold;
    fold.reserve(speaker_of.size());
    for (const std::size_t speaker : speaker_of) fold.push_back(folds[assignment][speaker]);
    return fold;
  }
};

// Speakers of `set` outside `names`, as the classifiers take them.
AttributeExamples ExamplesWithout(const EmbeddingSet& set, const AttributeLabels& attribute,
                                  const std::set<std::string>& names) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!names.contains(set.speakers[i])) places.push_back(i);
  }
  const EmbeddingSet kept = set.Select(places);
  AttributeExamples examples;
  examples.vectors = kept.vectors;
  examples.labels = attribute.Of(kept, attribute.name + " attacker, training speech");
  examples.n_categories = static_cast<int>(attribute.categories.size());
  std::map<std::string, int> number;
  for (const std::string& speaker : kept.speakers) {
    examples.speakers.push_back(
        number.emplace(speaker, static_cast<int>(number.size())).first->second);
  }
  return examples;
}

// Scores of all vectors tested, for each assignment.
std::vector<MatrixXf> ScoreAll(AttributeClassifier classifier, const EmbeddingSet& train,
                               const Tested& tested, const AttributeLabels& attribute,
                               const AttributeAttackOptions& options) {
  const auto n_folds = static_cast<std::size_t>(tested.n_folds);
  const std::size_t n = tested.folds.size() * n_folds;
  ClassifierOptions one = options.classifier;
  if (n > 1) one.jobs = 1;
  std::vector<MatrixXf> scores(tested.folds.size(),
                               MatrixXf(Rows(static_cast<int>(attribute.categories.size())),
                                        static_cast<Index>(tested.set.size())));
  ParallelFor(n, options.classifier.jobs, [&](std::size_t job) {
    const std::vector<int>& fold_of = tested.folds[job / n_folds];
    std::set<std::string> held;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < tested.set.size(); ++i) {
      const std::size_t speaker = tested.speaker_of[i];
      if (fold_of[speaker] != static_cast<int>(job % n_folds)) continue;
      held.insert(tested.names[speaker]);
      places.push_back(i);
    }
    if (places.empty()) return;
    const MatrixXf found = ClassifyAttribute(classifier, ExamplesWithout(train, attribute, held),
                                             tested.set.Select(places).vectors, one);
    for (std::size_t i = 0; i < places.size(); ++i) {
      scores[job / n_folds].col(static_cast<Index>(places[i])) = found.col(static_cast<Index>(i));
    }
  });
  return scores;
}

// The figures of one assignment under any weights of the speakers.
class Measured {
 public:
  // `fold`: of each vector.
  Measured(const Tested& tested, const MatrixXf& scores, const std::vector<int>& fold,
           int n_categories)
      : tested_(tested),
        scores_(scores),
        n_categories_(n_categories),
        pooled_(scores, tested.labels, tested.speaker_of),
        by_fold_(scores, tested.labels, tested.speaker_of, fold) {}

  // accuracy, balanced accuracy, EER, AUC; NaN without two categories.
  std::vector<double> Values(const std::vector<double>& weights) const {
    std::vector<double> right(static_cast<std::size_t>(n_categories_)), n = right;
    for (std::size_t i = 0; i < tested_.labels.size(); ++i) {
      const double w = weights[tested_.speaker_of[i]];
      const auto label = static_cast<std::size_t>(tested_.labels[i]);
      n[label] += w;
      right[label] += Guess(static_cast<Index>(i)) == tested_.labels[i] ? w : 0.0;
    }
    double rates = 0.0, present = 0.0;
    for (std::size_t c = 0; c < n.size(); ++c) {
      if (n[c] == 0.0) continue;
      rates += right[c] / n[c];
      present += 1.0;
    }
    if (present < 2.0) return {kNan, kNan, kNan, kNan};
    return {
        std::accumulate(right.begin(), right.end(), 0.0) / std::accumulate(n.begin(), n.end(), 0.0),
        rates / present, pooled_.Eer(weights), by_fold_.AreaUnderCurve(weights)};
  }

 private:
  int Guess(Index i) const {
    if (scores_.rows() == 1) return scores_(0, i) > 0.0F ? 0 : 1;
    Index highest = 0;
    scores_.col(i).maxCoeff(&highest);
    return static_cast<int>(highest);
  }

  const Tested& tested_;
  const MatrixXf& scores_;
  int n_categories_;
  CategoryRankings pooled_, by_fold_;
};

constexpr std::array kFigureNames = {"accuracy", "balanced_accuracy", "eer", "auc"};

std::vector<Figure> NewFigures(const std::vector<double>& values, const std::string& attribute,
                               const std::string& attacker, std::size_t n_train,
                               const Tested& tested) {
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Figure figure;
    figure.name = fmt::format("{}_{}", attribute, kFigureNames[i]);
    figure.value = values[i];
    figure.unit = "probability";
    figure.direction = i == 2 ? Direction::kHigherIsMorePrivate : Direction::kLowerIsMorePrivate;
    figure.attacker = attacker;
    figure.counts = {
        {"n_test", tested.set.size()}, {"n_train", n_train}, {"n_speakers", tested.names.size()}};
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace

const char* Name(AttributeClassifier classifier) {
  switch (classifier) {
    case AttributeClassifier::kNearest:
      return "knn3";
    case AttributeClassifier::kNet:
      return "mlp";
    case AttributeClassifier::kLogistic:
      return "logistic";
    case AttributeClassifier::kForest:
      return "forest";
    case AttributeClassifier::kQuadratic:
      break;
  }
  return "quadratic";
}

AttributeClassifier ParseAttributeClassifier(const std::string& name) {
  for (const AttributeClassifier classifier : kAttributeClassifiers) {
    if (name == Name(classifier)) return classifier;
  }
  throw Error(
      fmt::format("classifier '{}': knn3, mlp, logistic, forest or quadratic is allowed", name));
}

MatrixXf ClassifyAttribute(AttributeClassifier classifier, const AttributeExamples& train,
                           const Eigen::Ref<const MatrixXf>& test,
                           const ClassifierOptions& options) {
  train.Validate();
  if (test.rows() != train.vectors.rows()) {
    throw Error(fmt::format("attribute: vectors of {} dimensions tested, of {} trained on",
                            test.rows(), train.vectors.rows()));
  }
  switch (classifier) {
    case AttributeClassifier::kNearest:
      return ClassifyNearest(train, test);
    case AttributeClassifier::kNet:
      return ClassifyNet(train, test, options);
    case AttributeClassifier::kLogistic:
      return ClassifyLogistic(train, test);
    case AttributeClassifier::kForest:
      return ClassifyForest(train, test, options);
    case AttributeClassifier::kQuadratic:
      break;
  }
  return ClassifyQuadratic(train, test);
}

void AttributeAttackOptions::Validate() const {
  if (folds < 2 || assignments < 1) {
    throw Error(fmt::format("attribute attacker: {} folds, {} assignments: at least 2 and 1", folds,
                            assignments));
  }
  intervals.Validate();
}

double AttributeAttack::Value(const std::string& figure) const {
  for (const Figure& one : figures) {
    if (one.name.ends_with("_" + figure)) return one.value;
  }
  return kNan;
}

AttributeAttack AttackAttribute(AttributeClassifier classifier, const EmbeddingSet& train,
                                const EmbeddingSet& test, const AttributeLabels& labels,
                                const AttributeAttackOptions& options) {
  options.Validate();
  const Tested tested(train, test, labels, options);
  const std::vector<MatrixXf> scores = ScoreAll(classifier, train, tested, labels, options);
  std::vector<Measured> measured;
  for (std::size_t a = 0; a < scores.size(); ++a) {
    measured.emplace_back(tested, scores[a], tested.FoldOf(a),
                          static_cast<int>(labels.categories.size()));
  }
  const auto values = [&](const std::vector<double>& weights) {
    std::vector<double> mean(kFigureNames.size());
    for (const Measured& one : measured) {
      const std::vector<double> found = one.Values(weights);
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += found[i];
    }
    for (double& value : mean) value /= static_cast<double>(measured.size());
    return mean;
  };
  AttributeAttack attack;
  attack.classifier = classifier;
  attack.cross_validated = tested.n_folds > 1;
  const std::size_t n = tested.names.size();
  attack.figures = NewFigures(values(std::vector<double>(n, 1.0)), labels.name, options.attacker,
                              train.size(), tested);
  const IntervalOptions& intervals = options.intervals;
  attack.auc_resamples.assign(static_cast<std::size_t>(intervals.resamples), kNan);
  AddIntervals(attack.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    std::vector<double> found = values(DrawUnits(rng, n));
    attack.auc_resamples[r] = found.back();
    return found;
  });
  attack.bootstrap = intervals.resamples > 0
                         ? fmt::format("speaker-level ({} speakers), {} resamples, seed {}", n,
                                       intervals.resamples, intervals.seed)
                         : "none";
  return attack;
}

LadderRow AttackGender(Attacker attacker, AttributeClassifier classifier, const GenderTest& data) {
  RequireGenders(data.train, "gender attacker, training speech");
  RequireGenders(data.test, "gender attacker, released speech");
  AttributeLabels labels{"gender", {"F", "M"}, {}};
  for (const EmbeddingSet* set : {&data.train, &data.test}) {
    for (const auto& [speaker, gender] : set->genders) {
      labels.of_speaker[speaker] = gender == Gender::kFemale ? 0 : 1;
    }
  }
  AttributeAttackOptions options;
  options.attacker = Name(attacker);
  options.assignments = 1;
  options.classifier.hidden = MlpOptions{}.hidden;
  options.intervals = data.intervals;
  options.classifier.jobs = data.intervals.jobs;
  AttributeAttack attack = AttackAttribute(classifier, data.train, data.test, labels, options);
  LadderRow row;
  row.attacker = attacker;
  row.backend = Name(classifier);
  row.impostors = "none";
  row.figures = std::move(attack.figures);
  row.bootstrap = std::move(attack.bootstrap);
  row.ran = true;
  return row;
}

}  // namespace sotto
