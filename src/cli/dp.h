// The forms of `sotto dp`, one file each.
#pragma once

#include "cli/flags.h"

namespace sotto::cli {

void AddDpAccount(CLI::App& dp);  // account and calibrate
void AddDpRelease(CLI::App& dp);  // laplace, gaussian, rr, exponential
void AddDpAudit(CLI::App& dp);
void AddDpKanon(CLI::App& dp);

// A weak epsilon is warned about on stderr, in words.
void WarnOfEpsilon(double eps);

}  // namespace sotto::cli
