// What `sotto evaluate --json` prints, and what its page and its evidence are made from.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "evaluate/evaluate.h"

namespace sotto {

// How a speaker is called outside the working folder: by name, or by a keyed id.
using SpeakerNaming = std::function<std::string(const std::string& speaker)>;

// measured (that no epsilon covers what follows); originals {recordings, utterances, speakers};
// reference (the originals without protection: eer, ci, d_sys_unbiased, d_sys, zebra_bits, wer[],
// dnsmos_ovr); cells[] {cell, method, parameters, strategy, worst, attackers[] (each one's lowest
// EER over back-ends, L and impostors), wer[], dnsmos_ovr, pitch_correlation, rtf, by_gender,
// exposed[], residual_risk, notes[]}; steps. What could not be measured is null with a reason
// beside it ("…_reason", or "reason" in the same object).
nlohmann::ordered_json EvaluationJson(const Evaluation& evaluation, const SpeakerNaming& naming);

// The worst attacker and what its figure means, in sentences. `cell` and `reference` as above.
std::string ResidualRisk(const nlohmann::ordered_json& cell,
                         const nlohmann::ordered_json& reference);

}  // namespace sotto
