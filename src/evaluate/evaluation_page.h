// The page of `sotto evaluate`: the privacy–utility plane first, then what each protection costs
// and gives, by attacker and by gender.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "evaluate/evaluate.h"
#include "report/assess_page.h"

namespace sotto {

// `json` is EvaluationJson of the same evaluation; its names of speakers are shown as they are.
AssessPage EvaluationPage(const Evaluation& evaluation, const nlohmann::ordered_json& json);

// One row for each protection and one for the originals. Also what the program prints.
PageTable SummaryTable(const nlohmann::ordered_json& json);

}  // namespace sotto
