// What a ladder of attackers found, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "assess/ladder.h"
#include "report/json_values.h"

namespace sotto {

// Whether the figure is the D_sys of papers where targets are so few that its rule gives 0 for any
// scores: null in every JSON, with this reason.
bool IsUndefinedDSys(const Figure& figure);
inline constexpr const char* kFewTargets = "fewer than 20 target trials";

// What `sotto attack --json` prints: measured, speakers, enrolment, trials, notes, worst,
// exposed[], rows[] (attacker, backend, impostors, l, status, reason, figures, ci, counts,
// bootstrap), unprotected[], training_curve[].
nlohmann::ordered_json LadderJson(const LadderResult& result);

}  // namespace sotto
