// The report of `sotto attack`: a page, text, and the JSON of report/ladder_json.h.
#pragma once

#include <string>
#include <vector>

#include "assess/ladder.h"
#include "report/assess_page.h"

namespace sotto {

// Ladder first, then the strongest attacker's figures and plots, the retrained attacker's learning,
// and the embedding map (COMPRISE D2.3, figures 6 and 7).
AssessPage AttackPage(const LadderResult& result, const std::string& source);

// D_sys in these tables is the unbiased one (assess/linkability.h).
// One row for each attacker: its lowest EER over back-ends and l on all impostors, the strongest
// attacker first, those that did not run last.
PageTable LadderTable(const LadderResult& result);
// All rows with their figures.
PageTable AllRowsTable(const LadderResult& result);
PageTable AttributeTable(const LadderResult& result);
PageTable ExposedTable(const LadderResult& result, std::size_t most);
// What the program prints: one row for each attacker, the most exposed speakers, gender, notes.
std::string AttackText(const LadderResult& result);
std::string AttackJson(const LadderResult& result);

}  // namespace sotto
