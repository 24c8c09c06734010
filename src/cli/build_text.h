// The part of `sotto build` for text.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddBuildText(CLI::App& build);

}  // namespace sotto::cli
