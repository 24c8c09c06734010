// The study of replaced entities (attack/replacement_study.h), table 4 of D2.2 with ours beside, as
// text, JSON, CSV and a page.
#pragma once

#include <string>

#include "attack/replacement_study.h"
#include "report/assess_page.h"

namespace sotto {

std::string ReplacementText(const ReplacementStudy& study, const std::string& page);
std::string ReplacementJson(const ReplacementStudy& study);
// A line for each row and tagger.
std::string ReplacementCsv(const ReplacementStudy& study);
AssessPage ReplacementPage(const ReplacementStudy& study);

}  // namespace sotto
