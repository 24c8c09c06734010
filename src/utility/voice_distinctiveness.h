// Are protected voices still as distinct from each other as the originals were? G_VD (Noé et al.
// 2020; assess/similarity.h) from embeddings: 0 dB as distinct, below it voices grow alike.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assess/figure.h"
#include "assess/intervals.h"

namespace sotto {

// Embeddings of the same utterances before and after, and their speakers. All pairs of different
// utterances are compared by cosine. The figure "g_vd_db" has the value NaN and a remark when it
// cannot be measured: fewer than two speakers, or a speaker with one utterance.
Figure MeasureVoiceDistinctiveness(std::span<const std::vector<float>> original,
                                   std::span<const std::vector<float>> released,
                                   std::span<const std::string> speakers,
                                   const IntervalOptions& intervals);

}  // namespace sotto
