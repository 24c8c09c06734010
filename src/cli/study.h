// sotto study: what defences are worth, many of them side by side.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddStudy(CLI::App& app);
// A verb of study (study_folds.cc).
void AddStudyFolds(CLI::App& study);

}  // namespace sotto::cli
