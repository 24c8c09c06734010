// What `sotto evaluate` has to say, from the structs of evaluate/evaluate.h: JSON, text, a page,
// and how results lie in its working folder between runs.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "evaluate/evaluate.h"
#include "report/assess_page.h"

namespace sotto {

// How a speaker is called outside the working folder: by name, or by a keyed id.
using SpeakerNaming = std::function<std::string(const std::string& speaker)>;

// measured (that no epsilon covers what follows); originals {recordings, utterances, speakers};
// reference (the originals without protection: eer, ci, d_sys_unbiased, d_sys, zebra_bits, wer[],
// dnsmos_ovr); cells[] {cell, method, parameters, strategy, worst, attackers[] (each one's lowest
// EER over back-ends, L and impostors), wer[], dnsmos_ovr, pitch_correlation, rtf, by_gender,
// exposed[], residual_risk, notes[]}; steps. What could not be measured is null with a reason
// beside it ("…_reason", or "reason" in the same object).
std::string EvaluationJson(const Evaluation& evaluation, const SpeakerNaming& naming);
// Of these cells[] and reference alone; `unprotected` may be null.
nlohmann::ordered_json CellJson(const EvaluatedCell& cell, const SpeakerNaming& naming,
                                const LadderRow* unprotected);
nlohmann::ordered_json ReferenceJson(const Evaluation& evaluation);

// The privacy–utility plane first, then what each protection costs and gives, by attacker and by
// gender.
AssessPage EvaluationPage(const Evaluation& evaluation, const SpeakerNaming& naming);
// One row for each protection and one for the originals.
PageTable SummaryTable(const Evaluation& evaluation);
// What the program prints: that table, what is left of the risk, and how many steps were taken.
std::string EvaluationText(const Evaluation& evaluation);

// How results lie in the working folder between runs, as JSON, and the pages beside them: the one
// place that reads figures back. That is what the page, the JSON and the evidence of an evaluation
// need: no scores of trials, no training curve and no map; no transcripts and files of utterances;
// figures without unit and direction.
StepForms EvaluationSteps();

// What the JSON and the page say alike.
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

const Figure* FindMeasure(const UtilityResult& result, Measure measure);

// Which semi-informed attacker ran.
std::string SemiInformedText(const EvaluatedCell& cell);

// The strongest attacker and what its figure means, in sentences; `unprotected` may be null.
std::string ResidualRisk(const LadderResult& attacked, const LadderRow* unprotected);

}  // namespace sotto
