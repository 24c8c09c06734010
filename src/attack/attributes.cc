#include "attack/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "assess/levels.h"
#include "assess/verification.h"
#include "base/error.h"
#include "nn/mlp.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

constexpr std::size_t kFolds = 5;

std::vector<std::uint8_t> Labels(const EmbeddingSet& set) {
  std::vector<std::uint8_t> labels;
  labels.reserve(set.size());
  for (const std::string& speaker : set.speakers) {
    labels.push_back(set.genders.at(speaker) == Gender::kFemale ? 1 : 0);
  }
  return labels;
}

EmbeddingSet OnlySpeakers(const EmbeddingSet& set, const std::set<std::string>& speakers,
                          bool inside) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (speakers.contains(set.speakers[i]) == inside) places.push_back(i);
  }
  return set.Select(places);
}

// Scores of all test columns, in their order.
std::vector<double> Scores(AttributeClassifier classifier, const GenderTest& data) {
  std::set<std::string> trained(data.train.speakers.begin(), data.train.speakers.end());
  const auto tested = data.test.BySpeaker();
  const bool shared = std::any_of(tested.begin(), tested.end(),
                                  [&](const auto& s) { return trained.contains(s.first); });
  std::vector<double> scores(data.test.size());
  // Folds take speakers of each gender by turns, so that none lacks one.
  std::vector<std::set<std::string>> folds(shared ? kFolds : 1);
  std::map<Gender, std::size_t> turn;
  for (const auto& [speaker, places] : tested) {
    folds[turn[data.test.genders.at(speaker)]++ % folds.size()].insert(speaker);
  }
  for (const std::set<std::string>& fold : folds) {
    if (fold.empty()) continue;
    const EmbeddingSet train = OnlySpeakers(data.train, fold, false);
    std::vector<std::size_t> places;
    for (const std::string& speaker : fold) {
      places.insert(places.end(), tested.at(speaker).begin(), tested.at(speaker).end());
    }
    const Eigen::VectorXf found = ClassifyAttribute(classifier, train.vectors, Labels(train),
                                                    data.test.Select(places).vectors);
    for (std::size_t i = 0; i < places.size(); ++i) {
      scores[places[i]] = found[static_cast<Eigen::Index>(i)];
    }
  }
  return scores;
}

}  // namespace

const char* Name(AttributeClassifier classifier) {
  return classifier == AttributeClassifier::kNearest ? "knn3" : "mlp";
}

Eigen::VectorXf ClassifyAttribute(AttributeClassifier classifier,
                                  const Eigen::Ref<const Eigen::MatrixXf>& train,
                                  const std::vector<std::uint8_t>& labels,
                                  const Eigen::Ref<const Eigen::MatrixXf>& test) {
  if (classifier == AttributeClassifier::kNet) {
    return Mlp::Train(UnitLength(train), labels).Logits(UnitLength(test));
  }
  const auto ones = std::count(labels.begin(), labels.end(), std::uint8_t{1});
  if (ones == 0 || ones == static_cast<std::ptrdiff_t>(labels.size())) {
    throw Error("gender: the training speakers are all of one gender");
  }
  const Eigen::MatrixXf cosines = CosineScores(train, test);
  const auto k = std::min<std::size_t>(kNearestNeighbours, labels.size());
  Eigen::VectorXf found(test.cols());
  std::vector<Eigen::Index> order(labels.size());
  for (Eigen::Index t = 0; t < test.cols(); ++t) {
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Eigen::Index>(i);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                      [&](Eigen::Index a, Eigen::Index b) {
                        return cosines(a, t) != cosines(b, t) ? cosines(a, t) > cosines(b, t)
                                                              : a < b;
                      });
    int votes = 0;
    for (std::size_t i = 0; i < k; ++i) votes += labels[static_cast<std::size_t>(order[i])];
    found[t] = static_cast<float>(votes) / static_cast<float>(k) - 0.5F;
  }
  return found;
}

LadderRow AttackGender(Attacker attacker, AttributeClassifier classifier, const GenderTest& data) {
  RequireGenders(data.train, "gender attacker, training speech");
  RequireGenders(data.test, "gender attacker, released speech");
  LadderRow row;
  row.attacker = attacker;
  row.backend = Name(classifier);
  row.impostors = "none";
  const std::vector<double> scores = Scores(classifier, data);
  const std::vector<std::uint8_t> labels = Labels(data.test);
  const auto by_speaker = data.test.BySpeaker();
  std::vector<std::size_t> speaker_of(data.test.size());
  std::size_t s = 0;
  for (const auto& [speaker, places] : by_speaker) {
    for (const std::size_t place : places) speaker_of[place] = s;
    ++s;
  }
  const auto measure = [&](const std::vector<double>& weights) -> std::vector<double> {
    double right[2] = {0.0, 0.0}, n[2] = {0.0, 0.0};
    std::vector<double> tar, non;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double w = weights[speaker_of[i]];
      n[labels[i]] += w;
      right[labels[i]] += (scores[i] > 0.0) == (labels[i] == 1) ? w : 0.0;
      for (int copy = 0; copy < static_cast<int>(w); ++copy) {
        (labels[i] == 1 ? tar : non).push_back(scores[i]);
      }
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    if (n[0] == 0.0 || n[1] == 0.0) return {none, none, none};
    return {(right[0] + right[1]) / (n[0] + n[1]), 0.5 * (right[0] / n[0] + right[1] / n[1]),
            EerInterpolated(MakeLevels(tar, non))};
  };
  const std::vector<double> values = measure(std::vector<double>(by_speaker.size(), 1.0));
  const char* names[] = {"gender_accuracy", "gender_balanced_accuracy", "gender_eer"};
  for (std::size_t i = 0; i < 3; ++i) {
    Figure figure;
    figure.name = names[i];
    figure.value = values[i];
    figure.unit = "probability";
    figure.direction = i == 2 ? Direction::kHigherIsMorePrivate : Direction::kLowerIsMorePrivate;
    figure.attacker = Name(attacker);
    figure.counts = {{"n_test", scores.size()},
                     {"n_train", data.train.size()},
                     {"n_speakers", by_speaker.size()}};
    row.figures.push_back(std::move(figure));
  }
  AddIntervals(row.figures, data.intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(data.intervals.seed, r);
    return measure(DrawUnits(rng, by_speaker.size()));
  });
  row.bootstrap =
      data.intervals.resamples > 0
          ? fmt::format("speaker-level ({} speakers), {} resamples, seed {}", by_speaker.size(),
                        data.intervals.resamples, data.intervals.seed)
          : "none";
  row.ran = true;
  return row;
}

}  // namespace sotto
