// Parts of the ladder that are no rows of scores: what Procrustes inversion finds, and the map.
#pragma once

#include <string>
#include <vector>

#include "assess/ladder.h"
#include "assess/trials.h"
#include "attack/procrustes.h"
#include "attack/trial_plan.h"
#include "speaker/embeddings.h"

namespace sotto {

// The trials that have a score.
Trials WithScores(Trials trials);

// These utterances of `set` with the plan's speakers and genders. Throws Error with counts.
EmbeddingSet SelectPlanned(const TrialPlan& plan, const EmbeddingSet& set,
                           const std::vector<PlannedUtterance>& utterances);

// Whether the nearest original of an inverted trial is the same recording (top1_utterance), any
// recording of the same person (top1_speaker, as published for B1) or another one of that person
// (top1_other). Within each gender, as published: gender is seldom hidden. Empty without trials.
std::vector<Figure> InversionFigures(const TrialPlan& plan, const EmbeddingInversion& inversion,
                                     const EmbeddingSet& original, const EmbeddingSet& released);

// t-SNE of trials before and after protection, at most `points` (spread evenly over the list).
std::vector<MapPoint> MapTrials(const TrialPlan& plan, const EmbeddingSet& original,
                                const EmbeddingSet& released, std::size_t points, int jobs);

}  // namespace sotto
