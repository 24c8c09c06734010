#include "attack/attribute_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "assess/intervals.h"
#include "base/error.h"
#include "base/random.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

constexpr int kChoiceFolds = 5;

}  // namespace

AttributeExamples AttributeExamples::Select(const std::vector<std::size_t>& places) const {
  AttributeExamples some;
  some.n_categories = n_categories;
  some.vectors.resize(vectors.rows(), static_cast<Eigen::Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    some.vectors.col(static_cast<Eigen::Index>(i)) =
        vectors.col(static_cast<Eigen::Index>(places[i]));
    some.labels.push_back(labels[places[i]]);
    some.speakers.push_back(speakers[places[i]]);
  }
  return some;
}

void AttributeExamples::Validate() const {
  const std::size_t n = labels.size();
  if (static_cast<std::size_t>(vectors.cols()) != n || speakers.size() != n) {
    throw Error(fmt::format("attribute: {} vectors, {} labels and {} speakers: as many are needed",
                            vectors.cols(), n, speakers.size()));
  }
  if (n_categories < 2) throw Error("attribute: two categories or more are needed");
  std::vector<bool> seen(static_cast<std::size_t>(n_categories));
  for (const int label : labels) {
    if (label < 0 || label >= n_categories) {
      throw Error(fmt::format("attribute: label {} of {} categories", label, n_categories));
    }
    seen[static_cast<std::size_t>(label)] = true;
  }
  const auto lacking = std::count(seen.begin(), seen.end(), false);
  if (lacking > 0) {
    throw Error(fmt::format("attribute: {} of {} categories have no training speaker", lacking,
                            n_categories));
  }
  if (!vectors.allFinite()) throw Error("attribute: a training vector is not finite");
}

Eigen::VectorXd BalancedWeights(const AttributeExamples& examples) {
  std::map<int, std::size_t> vectors_of;   // of a speaker
  std::map<int, std::size_t> speakers_of;  // of a category
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (vectors_of[examples.speakers[i]]++ == 0) ++speakers_of[examples.labels[i]];
  }
  Eigen::VectorXd weights(static_cast<Eigen::Index>(examples.size()));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::size_t shares =
        speakers_of.size() * speakers_of[examples.labels[i]] * vectors_of[examples.speakers[i]];
    weights[static_cast<Eigen::Index>(i)] = 1.0 / static_cast<double>(shares);
  }
  return weights;
}

std::vector<int> DealSpeakers(const std::vector<int>& category_of_speaker, int folds,
                              std::uint64_t seed) {
  std::vector<std::size_t> order(category_of_speaker.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (seed != 0) {
    SeededRng rng = ResampleRng(seed, 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  }
  std::map<int, int> turn;
  std::vector<int> fold(order.size());
  for (const std::size_t s : order) fold[s] = turn[category_of_speaker[s]]++ % folds;
  return fold;
}

std::size_t ChooseBySpeaker(const AttributeExamples& examples, const FoldLosses& losses,
                            std::size_t otherwise) {
  std::map<int, std::size_t> number;
  std::vector<int> category;
  std::map<int, int> speakers_of;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (!number.emplace(examples.speakers[i], category.size()).second) continue;
    category.push_back(examples.labels[i]);
    ++speakers_of[examples.labels[i]];
  }
  int folds = kChoiceFolds;
  for (const auto& [label, n] : speakers_of) folds = std::min(folds, n);
  if (folds < 2) return otherwise;
  const std::vector<int> fold_of = DealSpeakers(category, folds, 1);
  std::vector<double> total;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> train, held;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      (fold_of[number.at(examples.speakers[i])] == fold ? held : train).push_back(i);
    }
    const std::vector<double> found = losses(examples.Select(train), examples.Select(held));
    total.resize(found.size());
    for (std::size_t k = 0; k < found.size(); ++k) total[k] += found[k];
  }
  return static_cast<std::size_t>(std::min_element(total.begin(), total.end()) - total.begin());
}

Eigen::MatrixXf DirectionAndLength(const Eigen::Ref<const Eigen::MatrixXf>& x) {
  Eigen::MatrixXf both(x.rows() + 1, x.cols());
  both.topRows(x.rows()) = UnitLength(x);
  both.bottomRows(1) = (x.colwise().norm().array() + 1e-12F).log().matrix();
  return both;
}

Standardiser::Standardiser(const Eigen::Ref<const Eigen::MatrixXf>& x,
                           const Eigen::VectorXd& weights) {
  const Eigen::MatrixXd wide = x.cast<double>();
  mean = wide * weights;
  scale = (((wide.colwise() - mean).cwiseAbs2() * weights).array() + 1e-8).rsqrt();
}

Eigen::MatrixXd Standardiser::operator()(const Eigen::Ref<const Eigen::MatrixXf>& x) const {
  return scale.asDiagonal() * (x.cast<double>().colwise() - mean);
}

}  // namespace sotto
