// What a ladder of attackers found, as JSON, text and a page.
#pragma once

#include <string>

#include "assess/ladder.h"
#include "report/assess_page.h"
#include "report/json_values.h"

namespace sotto {

// Ladder first, then the strongest attacker's figures and plots, the retrained attacker's learning,
// and the embedding map (COMPRISE D2.2, figures 6 and 7).
AssessPage AttackPage(const LadderResult& result, const std::string& source);

// D_sys in these tables is the unbiased one (assess/linkability.h).
// One row for each attacker: its lowest EER over back-ends and l on all impostors, the strongest
// attacker first, those that did not run last.
PageTable LadderTable(const LadderResult& result);
// All rows with their figures.
PageTable AllRowsTable(const LadderResult& result);
// Of the most exposed speakers, the first of `zoo`.
PageTable ExposedTable(const std::string& title, const std::vector<ZooSpeaker>& zoo,
                       std::size_t most, int digits);
// What the program prints: one row for each attacker, the most exposed speakers, gender, notes.
std::string AttackText(const LadderResult& result);

// Whether the figure is the D_sys of papers where targets are so few that its rule gives 0 for any
// scores: null in every JSON, with this reason.
bool IsUndefinedDSys(const Figure& figure);
inline constexpr const char* kFewTargets = "fewer than 20 target trials";

// What `sotto attack --json` prints: measured, speakers, enrolment, trials, notes, worst,
// exposed[], rows[] (attacker, backend, impostors, l, status, reason, figures, ci, counts,
// bootstrap), unprotected[], training_curve[].
JsonFields LadderJson(const LadderResult& result);
JsonFields ExposedJson(const ZooSpeaker& speaker, const std::string& name);

}  // namespace sotto
