// What the verbs of `sotto train` share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/verbs.h"

namespace sotto::cli {

// Starts libexec/sotto/sotto-train with these arguments and waits; its exit code, when not 0,
// becomes ours. It has the descriptor `inherited` open too.
void RunTrainingProgram(const std::vector<std::string>& arguments, int inherited = -1);

// Whether there is one: it is built where libtorch is installed.
bool HasTrainingProgram();
// The same, for trainings that are a small part of something: what it says goes to the file `said`,
// and a failure is an Error with its last line.
void RunTrainingProgramQuietly(const std::vector<std::string>& arguments,
                               const std::filesystem::path& said);

void AddTrainNeural(CLI::App& train);

}  // namespace sotto::cli
