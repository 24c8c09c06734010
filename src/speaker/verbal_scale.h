// A likelihood ratio in words.
#pragma once

#include <string>

namespace sotto {

// What a natural-log LLR supports, by ENFSI's scale (European Network of Forensic Science
// Institutes 2015, "Guideline for Evaluative Reporting", table 2): likelihood ratios up to 2 say
// nothing, then weak, moderate (10), moderately strong (100), strong (1000), very strong (10 000)
// and extremely strong (1 000 000). E.g. "moderate support for the same speaker (the evidence is 25
// times as probable)".
std::string VerbalScale(double llr);

}  // namespace sotto
