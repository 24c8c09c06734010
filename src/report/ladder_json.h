// What a ladder of attackers found, as JSON and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "assess/ladder.h"

namespace sotto {

// What stands in every file of figures that were measured on somebody's data: however a release was
// protected, its epsilon bounds the release and not these figures (docs/evidence.md).
inline constexpr const char* kMeasured = "measured, not covered by epsilon";
inline constexpr const char* kMeasuredOnPage =
    "Measured, not covered by ε: these figures are computed from the originals. An ε that a "
    "release "
    "claims bounds what the release tells, not what this page tells.";

// JSON has no infinities and no NaN: "inf" and "-inf" as text, null for NaN.
nlohmann::ordered_json JsonNumber(double value);

// Whether the figure is the D_sys of papers where targets are so few that its rule gives 0 for any
// scores: null in every JSON, with this reason.
bool IsUndefinedDSys(const Figure& figure);
inline constexpr const char* kFewTargets = "fewer than 20 target trials";

// What `sotto attack --json` prints: measured, speakers, enrolment, trials, notes, worst,
// exposed[], rows[] (attacker, backend, impostors, l, status, reason, figures, ci, counts,
// bootstrap), unprotected[], training_curve[].
nlohmann::ordered_json LadderJson(const LadderResult& result);

// The rows of such a document (worst, rows, unprotected, notes and counts; figures have name,
// value, interval and counts alone), for tables. Throws Error that names `where` when it is
// something else.
LadderResult ParseLadderJson(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace sotto
