// What the verbs of `sotto train` share.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.h"

namespace sotto::cli {

// Starts libexec/sotto/sotto-train with these arguments and waits; its exit code, when not 0,
// becomes ours. It has the descriptor `inherited` open too.
void RunTrainingProgram(const std::vector<std::string>& arguments, int inherited = -1);

void AddTrainNeural(CLI::App& train);

}  // namespace sotto::cli
