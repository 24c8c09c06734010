// What the JSON and the page of an evaluation say alike, from the structs of evaluate/evaluate.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/evaluate.h"

namespace sotto {

// How a speaker is called outside the working folder: by name, or by a keyed id.
using SpeakerNaming = std::function<std::string(const std::string& speaker)>;

inline constexpr std::size_t kExposedSpeakers = 5;

// The row with the lowest EER; null when none ran.
const LadderRow* Lowest(const std::vector<LadderRow>& rows);
// The same of speech without protection, which is that of every cell.
const LadderRow* Unprotected(const Evaluation& evaluation);

enum class Side { kOriginal, kProtected };
// "wer" or "cer" of one recogniser on one side, over all it heard or over a group: the interval
// where it is known, the count "n_words" or "n_chars", or NaN with the reason as remark.
Figure ErrorRate(const char* name, const RecogniserJudgement& judgement, Side side,
                 const UtilitySummary::Errors* group = nullptr);

// A mean over the utterances of a group, or NaN with the reason as remark.
Figure GroupMean(const UtilityResult& result, const UtilitySummary& group, Measure measure);
const Figure* FindMeasure(const UtilityResult& result, Measure measure);

// Which semi-informed attacker ran.
std::string SemiInformedText(const EvaluatedCell& cell);

// The strongest attacker and what its figure means, in sentences; `unprotected` may be null.
std::string ResidualRisk(const LadderResult& attacked, const LadderRow* unprotected);

}  // namespace sotto
