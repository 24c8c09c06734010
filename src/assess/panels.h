// Headline figures of spoofing, fairness, similarity, legal and text results, each with its unit,
// direction, counts and bootstrap interval.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assess/bootstrap.h"
#include "assess/fairness.h"
#include "assess/figure.h"
#include "assess/intervals.h"
#include "assess/legal.h"
#include "assess/similarity.h"
#include "assess/tandem.h"
#include "assess/wer.h"

namespace sotto {

struct Panel {
  std::vector<Figure> figures;
  std::string bootstrap;  // how the intervals were made, "none" without
};

// Scores are drawn within each class and attack: the files name no speakers.
Panel TandemPanel(const TandemScores& scores, const TandemResult& result,
                  const TandemOptions& options, const IntervalOptions& intervals);

// `kept`: row of each grouped trial in the trials that `resampler` draws from.
Panel FairnessPanel(const FairnessMeter& meter, const FairnessResult& result,
                    const TrialResampler& resampler, std::span<const std::uint32_t> kept,
                    const IntervalOptions& intervals);

// Speakers are drawn; the LLRs keep the calibration of all data.
Panel SimilarityPanel(const SimilarityResult& result, const IntervalOptions& intervals);

// Test speakers are drawn.
Panel LegalPanel(const LegalResult& result, const IntervalOptions& intervals);

// Utterances are drawn (Bisani & Ney 2004), or speakers where `speaker_of` names them by utterance.
Panel WerPanel(const WerResult& result, std::span<const std::size_t> speaker_of,
               const IntervalOptions& intervals);

}  // namespace sotto
