// Releases of one or more columns of a table of people, with the unit of privacy spelt out: a
// person is a value of the id column, contributes at most so many rows, and each value lies between
// public bounds. Rows beyond the limit are left out at random, values beyond the bounds are
// clamped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "dp/bits.h"
#include "dp/budget.h"
#include "dp/parameters.h"

namespace sotto {

enum class TableMechanism { kLaplace, kGaussian, kRandomisedResponse, kExponential };
TableMechanism ParseTableMechanism(const std::string& name);
std::string TableMechanismName(TableMechanism mechanism);

// What is released of a column.
//   kValues   every row's value with noise (the person does not trust the publisher); replace-one
//   kSum, kMean, kCount   one number for the column; add/remove
enum class TableStatistic { kValues, kSum, kMean, kCount };
TableStatistic ParseTableStatistic(const std::string& name);

struct TableReleaseOptions {
  TableMechanism mechanism = TableMechanism::kLaplace;
  std::vector<std::string> columns;  // epsilon and delta are divided evenly among them
  std::string id_column;
  std::size_t max_contributions = 0;  // rows of one person
  // Bounds of each column's values (one pair for all, or one for each); for randomised response the
  // whole numbers from lower to upper are the categories where none are named.
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<std::string> categories;  // randomised response, exponential: a public list
  double eps = 0.0;                     // for all that is released of one person
  double delta = 0.0;                   // Gaussian only
  TableStatistic statistic = TableStatistic::kValues;
  double quantile = 0.5;          // exponential on numbers
  std::size_t candidates = 1001;  // points between the bounds it chooses from
  std::vector<std::string> keep;  // further columns copied as they are: not protected
  void Validate() const;
};

struct ColumnRelease {
  std::string column;
  std::optional<double> value;        // sum, mean, count, quantile
  std::optional<std::string> choice;  // the most frequent category
  double noise_scale = 0.0;           // Laplace scale or Gaussian sigma; 0 for the other mechanisms
  std::vector<double> shares;         // randomised response: estimated shares of the categories
};

struct TableRelease {
  std::vector<ColumnRelease> columns;
  CsvTable table;  // kValues and randomised response
  std::vector<std::string> categories;
  Neighbours neighbours = Neighbours::kAddRemove;
  Budget budget;           // of the person who contributes most
  std::size_t people = 0;  // exact counts: for the publisher, not for release
  std::size_t rows_used = 0;
  std::size_t rows_left_out = 0;

  bool HasTable() const { return !table.header.empty(); }
};

// Throws Error for a missing column, an empty id, a cell that is no number or no known category.
TableRelease ReleaseTable(const CsvTable& table, const TableReleaseOptions& options,
                          const std::string& where, BitSource& bits);

}  // namespace sotto
