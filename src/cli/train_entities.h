// sotto train entities.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddTrainEntities(CLI::App& train);

}  // namespace sotto::cli
