// What the file of a retrained encoder says about the protection it was trained against, and how
// its training went.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assess/ladder.h"
#include "release/release_record.h"

namespace sotto {

// Throws Error unless `header`, the metadata "sotto.attacker" of a retrained encoder, {"base":
// fingerprint of the weights it was fine-tuned from (empty: from scratch), "run": a
// sotto-run.json}, names the release's method and parameters, and this base. The strategy may be
// another: one retrained encoder serves all. An empty header is an Error too.
void RequireAttackerOf(std::string_view header, const ReleaseRecord& release,
                       const std::string& base_weights, const std::string& where);

// The same as a question: empty when it fits, else in which parameter it does not. What is no such
// header at all is an Error.
std::string AttackerMismatch(std::string_view header, const ReleaseRecord& release,
                             const std::string& base_weights, const std::string& where);

// From the metadata "sotto.training" {"curve": [{"step", "loss", "held_out_eer"}]}; empty without.
std::vector<AttackerCurvePoint> ParseTrainingCurve(std::string_view training,
                                                   const std::string& where);

}  // namespace sotto
