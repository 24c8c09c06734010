// The forms of `sotto assess`, one file each (assess_verify.cc …).
// A new form: declare its Add function here and call it in assess.cc.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddAssessVerify(CLI::App& assess);
void AddAssessSimilarity(CLI::App& assess);
void AddAssessTandem(CLI::App& assess);
void AddAssessFairness(CLI::App& assess);
void AddAssessLegal(CLI::App& assess);
void AddAssessWer(CLI::App& assess);

}  // namespace sotto::cli
