// The forms of `sotto dp`, one file each.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/flags.h"
#include "dp/budget.h"

namespace sotto::cli {

void AddDpAccount(CLI::App& dp);  // account and calibrate
void AddDpRelease(CLI::App& dp);  // laplace, gaussian, rr, exponential
void AddDpAudit(CLI::App& dp);
void AddDpKanon(CLI::App& dp);

// A weak epsilon is warned about on stderr, in words.
void WarnOfEpsilon(double eps);

// What (eps, delta) allows an attacker: eer_floor, auc_ceiling, top-1 among 10, 100 and 1000
// people.
nlohmann::ordered_json JsonAllows(double eps, double delta);

}  // namespace sotto::cli
