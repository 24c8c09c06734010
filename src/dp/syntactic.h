// Syntactic checks of a table before release: k-anonymity (Sweeney 2002), l-diversity
// (Machanavajjhala et al. 2007) and t-closeness (Li et al. 2007). They are properties of one table
// and say nothing about what an attacker knows besides it: a check that fails is bad news, one that
// holds is no guarantee (see docs/privacy.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"

namespace sotto {

struct SyntacticOptions {
  std::vector<std::string> quasi_identifiers;  // columns an attacker may know from elsewhere
  std::string sensitive;                       // column to be hidden; empty for k-anonymity alone
  // Column that names the person: a group's size is then its number of people, not of rows.
  std::string id;
  std::optional<std::size_t> k;  // what is asked; absent: only measured
  std::optional<double> l;
  std::optional<double> t;
};

// Rows that agree in all quasi-identifiers.
struct EquivalenceClass {
  std::vector<std::string> values;  // of the quasi-identifiers
  std::vector<std::size_t> rows;    // indices into the table
  std::size_t size = 0;             // rows, or people where an id column is given
  std::size_t distinct = 0;         // different sensitive values: distinct l-diversity
  double entropy_l = 0.0;           // exp(entropy of the sensitive values)
  double closeness = 0.0;           // distance of their distribution from the whole table's
  std::vector<std::string> breaks;  // which of "k", "l", "t" it breaks
};

struct SyntacticResult {
  std::size_t k = 0;  // the smallest class
  // Absent without a sensitive column.
  std::optional<std::size_t> l_distinct;
  std::optional<double> l_entropy;
  std::optional<double> t;
  bool ordered = false;                    // closeness used the order of numbers
  std::vector<EquivalenceClass> classes;   // smallest first
  std::vector<std::size_t> breaking_rows;  // in the order of the table
};

// Closeness is the earth mover's distance: over the ranks of the values where all are numbers (a
// step of one rank costs 1/(m − 1)), else the total variation distance. The asked l is compared
// with the number of distinct values. Throws Error for missing columns, an empty table, an empty
// sensitive value or id.
SyntacticResult CheckSyntactic(const CsvTable& table, const SyntacticOptions& options,
                               const std::string& where);

}  // namespace sotto
