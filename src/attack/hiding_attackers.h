// What attackers read off voiceprints whose attributes are hidden, by every classifier of
// attack/attributes.h and three kinds of learning:
//
//   uninformed  trained on clean voiceprints of other speakers: the attacker of the sources
//   informed    trained on protected voiceprints of other speakers
//   in-domain   cross-validated by speaker within the protected voiceprints under attack: the
//               operator of a service, who knows some of its users
//
// An AUC below ½ is worth as much as 1 − AUC to an attacker who turns the sign, and counts so where
// the best attacker is named.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "attack/attributes.h"
#include "attack/hiding_utility.h"
#include "speaker/attributes.h"
#include "speaker/embeddings.h"

namespace sotto {

struct AttackerAuc {
  AttributeClassifier classifier = AttributeClassifier::kNearest;
  Resampled auc;  // as it was reached, not turned
};

// The highest of them, turned where it lies below ½.
struct BestAttacker {
  AttributeClassifier classifier = AttributeClassifier::kNearest;
  double auc = std::numeric_limits<double>::quiet_NaN();  // NaN: no attacker ran
  std::optional<Interval> interval;
  bool turned = false;
};
BestAttacker BestOf(const std::vector<AttackerAuc>& attackers);

// Of the voiceprints of some test speakers.
struct AttackedVoices {
  std::vector<std::size_t> places;   // of the columns of the scores
  std::vector<int> category;         // of each place
  std::vector<std::size_t> speaker;  // of each place, numbered in order of name
  std::size_t n_speakers = 0;

  // Throws Error where a category has fewer than two speakers, which no attacker can be
  // cross-validated on; `where` names the voices.
  AttackedVoices(const EmbeddingSet& set, const AttributeLabels& labels,
                 std::vector<std::size_t> places, const std::string& where);
};

// The AUC of scores as ClassifyAttribute gives them; draws the same speakers as AttackAttribute.
Resampled ScoreAuc(const Eigen::Ref<const Eigen::MatrixXf>& scores, const AttackedVoices& voices,
                   const IntervalOptions& options);

// The AUC by cross-validation within `released`, all of whose speakers are labelled.
Resampled InDomainAuc(AttributeClassifier classifier, const EmbeddingSet& released,
                      const AttributeLabels& labels, const AttributeAttackOptions& options);

}  // namespace sotto
