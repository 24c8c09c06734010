#include "attack/hiding_folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "assess/levels.h"
#include "assess/verification.h"
#include "attack/hiding_voices.h"
#include "base/entry_values.h"
#include "base/error.h"
#include "base/progress.h"
#include "speaker/hider.h"
#include "speaker/protect_embeddings.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// "NAME" or "NAME:PARAMETER=VALUE[,PARAMETER=VALUE…]".
std::unique_ptr<Hider> FitText(const std::string& text, const FoldOptions& options,
                               HiderData data) {
  const auto colon = text.find(':');
  const auto method = ProgramHiders().Find(text.substr(0, colon));
  EntryValues values(*method);
  if (method->Find("seed") != nullptr) values.Set("seed", std::to_string(options.seed));
  for (std::size_t at = colon; at != std::string::npos;) {
    const std::size_t end = text.find(',', at + 1);
    const std::string pair = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      throw Error(fmt::format("'{}': '{}' is no PARAMETER=VALUE", text, pair));
    }
    values.Set(pair.substr(0, equals), pair.substr(equals + 1));
    at = end;
  }
  return method->Fit(std::move(data), values);
}

HiderData ToData(const EmbeddingSet& set, const AttributeLabels& labels) {
  HiderData data;
  data.x = UnitLength(set.vectors);
  const std::vector<int> categories = labels.Of(set, "folds");
  data.categories = Eigen::Map<const Eigen::RowVectorXi>(categories.data(), std::ssize(categories));
  std::map<std::string, int> numbers;
  for (const std::string& speaker : set.speakers) {
    data.speaker.push_back(
        numbers.emplace(speaker, static_cast<int>(numbers.size())).first->second);
  }
  data.domain.assign(set.size(), 0);
  data.header.attributes = {{labels.name, labels.categories}};
  return data;
}

double EerOfPairs(const EmbeddingSet& set) {
  const MatrixXf scores = CosineScores(set.vectors, set.vectors);
  std::vector<double> same, other;
  for (Index j = 0; j < scores.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      const bool one =
          set.speakers[static_cast<std::size_t>(i)] == set.speakers[static_cast<std::size_t>(j)];
      (one ? same : other).push_back(scores(i, j));
    }
  }
  if (same.empty() || other.empty()) return std::numeric_limits<double>::quiet_NaN();
  return EerInterpolated(MakeLevels(same, other));
}

// Places of the voiceprints of each fold: speakers of every category by turns.
std::vector<std::vector<std::size_t>> Folds(const EmbeddingSet& set, const AttributeLabels& labels,
                                            int folds) {
  std::vector<std::vector<std::size_t>> places(static_cast<std::size_t>(folds));
  std::map<int, std::size_t> turn;
  for (const auto& [speaker, own] : set.BySpeaker()) {
    auto& fold = places[turn[labels.of_speaker.at(speaker)]++ % places.size()];
    fold.insert(fold.end(), own.begin(), own.end());
  }
  for (std::size_t c = 0; c < labels.categories.size(); ++c) {
    const std::size_t n = turn[static_cast<int>(c)];
    if (n >= places.size()) continue;
    throw Error(fmt::format("{} speakers of {} '{}' for {} folds: one for each is needed", n,
                            labels.name, labels.categories[c], folds));
  }
  return places;
}

// One fold: the same voiceprints clean and protected, those of the other folds and its own.
struct Fold {
  EmbeddingSet clean_others, others, own;
};

Fold Protect(const std::string& defence, const EmbeddingSet& others, const EmbeddingSet& own,
             const AttributeLabels& labels, const FoldOptions& options) {
  Fold fold{others, others, own};
  if (defence.empty()) return fold;
  const HiderData data = ToData(others, labels), tested = ToData(own, labels);
  const auto hider = FitText(defence, options, data);
  if (hider->NeedsEpsilon()) {
    throw Error(fmt::format("'{}' needs an epsilon at use, which folds do not try", defence));
  }
  fold.others.vectors = HideWithoutNoise(*hider, data.x, data.categories);
  fold.own.vectors = HideWithoutNoise(*hider, tested.x, tested.categories);
  return fold;
}

}  // namespace

EmbeddingSet ReadFoldVoices(const std::vector<std::filesystem::path>& sources) {
  EmbeddingSet all;
  for (const auto& source : sources) {
    AppendVoices(all, ReadPoolEmbeddings(source), source.string());
  }
  ValidateEmbeddings(all, "the voiceprints together");
  return all;
}

FoldStudy StudyFolds(const EmbeddingSet& set, const AttributeLabels& labels,
                     const FoldOptions& options) {
  labels.Of(set, "the voiceprints");
  if (options.folds < 2) throw Error("two folds are the fewest");
  const auto places = Folds(set, labels, options.folds);
  FoldStudy study{labels.name, set.BySpeaker().size(), set.size(), options.folds, {}};
  std::vector<std::string> defences = {""};
  defences.insert(defences.end(), options.defences.begin(), options.defences.end());
  AttributeAttackOptions attack;
  attack.classifier = options.classifier;
  attack.intervals.resamples = 0;
  const auto share = 1.0 / static_cast<double>(places.size());
  const auto auc = [&](AttributeClassifier classifier, const EmbeddingSet& train,
                       const EmbeddingSet& test) {
    const double found = AttackAttribute(classifier, train, test, labels, attack).Value("auc");
    return std::max(found, 1.0 - found);
  };
  Progress progress("folds", defences.size() * places.size(),
                    static_cast<double>(defences.size() * places.size()));
  for (const std::string& defence : defences) {
    FoldRow row;
    row.name = defence.empty() ? "unprotected" : defence;
    row.uninformed.assign(kAttributeClassifiers.size(), 0.0);
    row.informed = row.uninformed;
    for (const auto& own : places) {
      std::vector<std::size_t> rest;
      for (const auto& other : places) {
        if (&other != &own) rest.insert(rest.end(), other.begin(), other.end());
      }
      const Fold fold = Protect(defence, set.Select(rest), set.Select(own), labels, options);
      row.eer += share * EerOfPairs(fold.own);
      if (fold.own.Dimension() != set.Dimension()) row.uninformed.clear();
      for (std::size_t c = 0; c < kAttributeClassifiers.size(); ++c) {
        const AttributeClassifier classifier = kAttributeClassifiers[c];
        row.informed[c] += share * auc(classifier, fold.others, fold.own);
        if (row.uninformed.empty()) continue;
        row.uninformed[c] += share * auc(classifier, fold.clean_others, fold.own);
      }
      progress.Done(1.0, 0.0);
    }
    study.rows.push_back(std::move(row));
  }
  return study;
}

}  // namespace sotto
