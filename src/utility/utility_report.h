// The figures of utility.h as JSON and as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/assess_page.h"
#include "utility/utility.h"

namespace sotto {

// wer[] and cer[] (recogniser, shares_model_with_method, original, protected, ci, n_words …),
// pitch_correlation … duration_ratio, dnsmos.{sig,bak,ovr}.{original,protected}, g_vd_db,
// by_speaker, by_gender. Intervals of single figures are in "ci"; a figure that is null has its
// reason beside it (recognisers, dnsmos) or in "reason" under its name.
nlohmann::ordered_json UtilityJson(const UtilityResult& result);

AssessPage UtilityPage(const UtilityResult& result, const std::string& source);

// For the terminal: a table of figures, then notes.
std::vector<Figure> UtilityFigures(const UtilityResult& result);
std::vector<std::string> UtilityNotes(const UtilityResult& result);

}  // namespace sotto
