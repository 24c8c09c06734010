// sotto train hide, and sotto train METHOD for the defences that have a verb of their own.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddTrainHide(CLI::App& train);

}  // namespace sotto::cli
