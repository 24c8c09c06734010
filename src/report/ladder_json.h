// What a ladder of attackers found, as JSON and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "assess/ladder.h"

namespace sotto {

// JSON has no infinities and no NaN: "inf" and "-inf" as text, null for NaN.
nlohmann::ordered_json JsonNumber(double value);

// What `sotto attack --json` prints: speakers, enrolment, trials, notes, worst, exposed[], rows[]
// (attacker, backend, impostors, l, status, reason, figures, ci, counts, bootstrap), unprotected[],
// training_curve[].
nlohmann::ordered_json LadderJson(const LadderResult& result);

// The rows of such a document (worst, rows, unprotected, notes and counts; figures have name, value
// and interval alone), for tables. Throws Error that names `where` when it is something else.
LadderResult ParseLadderJson(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace sotto
