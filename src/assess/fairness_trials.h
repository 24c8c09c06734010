// Trials with the groups of their speakers, from one table.
#pragma once

#include <string>

#include "assess/fairness.h"
#include "assess/trials.h"

namespace sotto {

struct FairnessColumns {
  // The column X with the claimed speaker's group, or columns enrol_X and test_X.
  std::string group = "group";
  bool include_cross_group = false;  // count impostors of other groups
  bool allow_missing = false;        // leave out trials without a score
};

struct FairnessTrials {
  Trials trials;
  Grouping grouping;
  bool has_sides = false;  // whether the table names the groups of both sides
};

// The table is read once for each column: a pipe is an Error, and so is a table without the
// columns.
FairnessTrials ReadFairnessTrials(const std::string& path, const FairnessColumns& columns);

}  // namespace sotto
