// The page of `sotto evaluate`: the privacy–utility plane first, then what each protection costs
// and gives, by attacker and by gender.
#pragma once

#include <string>

#include "report/assess_page.h"
#include "report/evaluation_parts.h"

namespace sotto {

AssessPage EvaluationPage(const Evaluation& evaluation, const SpeakerNaming& naming);

// One row for each protection and one for the originals.
PageTable SummaryTable(const Evaluation& evaluation);

// What the program prints: that table, what is left of the risk, and how many steps were taken.
std::string EvaluationText(const Evaluation& evaluation);

}  // namespace sotto
