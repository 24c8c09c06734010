// The forms of `sotto privasp`, in files of their own.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddPrivaspKeys(CLI::App& privasp);  // authority, request, sign, show, local

}  // namespace sotto::cli
