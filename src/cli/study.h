// sotto study: what defences are worth, many of them side by side.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddStudy(CLI::App& app);
// Verbs of study (study_folds.cc, study_replacement.cc).
void AddStudyFolds(CLI::App& study);
void AddStudyReplacement(CLI::App& study);
void AddStudyWords(CLI::App& study);

}  // namespace sotto::cli
