// The figures of utility/utility.h as JSON, text and a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/assess_page.h"
#include "utility/utility.h"

namespace sotto {

// What `sotto utility --json` prints: wer[] and cer[] (recogniser, shares_model_with_method,
// original, protected, ci, n_words …), pitch_correlation … duration_ratio,
// dnsmos.{sig,bak,ovr}.{original,protected}, g_vd_db, by_speaker, by_gender. Intervals of single
// figures are in "ci"; a figure that is null has its reason beside it (recognisers, dnsmos) or in
// "reason" under its name.
std::string UtilityJson(const UtilityResult& result);
// A table of figures, then notes.
std::string UtilityText(const UtilityResult& result);
AssessPage UtilityPage(const UtilityResult& result, const std::string& source);

// Why a recogniser has no error rate over utterances with these counts on the original side; empty
// where it has one.
std::string WhyNoRate(const RecogniserJudgement& judgement, const EditCounts& original);
// What is said of a figure that was measured in none of some utterances.
std::string WhyNoMean(const UtilityResult& result, Measure measure);

}  // namespace sotto
