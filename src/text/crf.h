// Linear-chain conditional random field over the labels of a sentence (Lafferty, McCallum and
// Pereira 2001): p(y | x) = exp(Σᵢ s(i, yᵢ) + t(yᵢ₋₁, yᵢ)) / Z(x), y₀ = outside. Scores s come
// from features of the tokens (tagger_features.h), transitions t are learned. An inside never
// follows what it cannot continue (MayFollow).
//
// Sentences whose labels are known in part only are trained on by the sum over all labellings that
// agree with what is known (Täckström et al. 2013, eq. 4): the same sums over a smaller lattice.
//
// Sums are in doubles over exponentials, scaled at each token, so that sentences of any length
// neither overflow nor underflow; time and memory are linear in the length.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "text/bio_labels.h"

namespace sotto {

// Scores of all labels of a token, or what has their shape.
using LabelScores = std::array<double, kBioLabels>;
using TransitionScores = std::array<LabelScores, kBioLabels>;  // [before][label]

// A bit for each label that a token may have.
using LabelSet = std::uint16_t;
inline constexpr LabelSet kAnyLabel = (1U << kBioLabels) - 1;
constexpr LabelSet Only(BioLabel label) { return static_cast<LabelSet>(1U << label); }

// The labelling of the greatest probability (Viterbi 1967); ties go to the first label.
std::vector<BioLabel> BestLabels(std::span<const LabelScores> scores,
                                 const TransitionScores& transitions);

struct CrfSums {
  double log_partition = 0.0;          // log Z
  std::vector<LabelScores> marginals;  // of each token's labels
  TransitionScores transitions{};      // expected number of each
};

// Forward–backward over the labellings within `allowed` (empty: all). Throws Error where there is
// none.
CrfSums SumLabellings(std::span<const LabelScores> scores, const TransitionScores& transitions,
                      std::span<const LabelSet> allowed = {});

// −log p(allowed | x) and its derivatives by scores and transitions.
struct CrfLoss {
  double loss = 0.0;
  std::vector<LabelScores> by_scores;
  TransitionScores by_transitions{};
};
CrfLoss LossOf(std::span<const LabelScores> scores, const TransitionScores& transitions,
               std::span<const LabelSet> allowed);

}  // namespace sotto
