// What `sotto evaluate --json` prints, and the text beside it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/evaluation_parts.h"

namespace sotto {

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

}  // namespace sotto
