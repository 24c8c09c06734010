#include "dp/table_release.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/tsv.h"
#include "dp/mechanisms.h"

namespace sotto {
namespace {

// Sums are made of whole units and become doubles once: below 2^31 rows that moves neighbours apart
// by less than this part of the sensitivity.
constexpr double kSumRounding = 1.0 + 0x1p-20;

// In the order of TableMechanism.
constexpr std::array<const char*, 4> kMechanismNames = {"laplace", "gaussian", "rr", "exponential"};

struct Bounds {
  double lower = 0.0;
  double upper = 0.0;
};

Bounds BoundsOf(const TableReleaseOptions& options, std::size_t column) {
  const auto pick = [&](const std::vector<double>& v) {
    return v.size() == 1 ? v.front() : v[column];
  };
  return {pick(options.lower), pick(options.upper)};
}

bool IsNumeric(const TableReleaseOptions& options) { return options.categories.empty(); }

// Row indices by person, at most max_contributions each, those chosen at random.
std::map<std::string, std::vector<std::size_t>> People(const CsvTable& table,
                                                       const TableReleaseOptions& options,
                                                       const std::string& where, BitSource& bits,
                                                       TableRelease& release) {
  const std::size_t id = table.Column(options.id_column, where);
  std::map<std::string, std::vector<std::size_t>> people;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& name = table.rows[row][id];
    if (name.empty()) {
      throw Error(fmt::format("{}, line {}: column '{}' is empty: whose row is it?", where,
                              table.lines[row], options.id_column));
    }
    people[name].push_back(row);
  }
  for (auto& [name, rows] : people) {
    for (std::size_t left = rows.size(); left > options.max_contributions; --left) {
      std::swap(rows[bits.Below(left)], rows[left - 1]);
      rows.pop_back();
      ++release.rows_left_out;
    }
    std::sort(rows.begin(), rows.end());
    release.rows_used += rows.size();
  }
  release.people = people.size();
  return people;
}

double Number(const CsvTable& table, std::size_t row, std::size_t column, const Bounds& bounds,
              const std::string& where) {
  const double value = ParseNumber(
      table.rows[row][column],
      fmt::format("{}, line {}, column '{}'", where, table.lines[row], table.header[column]));
  return std::clamp(value, bounds.lower, bounds.upper);
}

std::size_t Category(const CsvTable& table, std::size_t row, std::size_t column,
                     const std::vector<std::string>& categories, const std::string& where) {
  const auto found = std::find(categories.begin(), categories.end(), table.rows[row][column]);
  if (found == categories.end()) {
    throw Error(fmt::format("{}, line {}, column '{}': '{}' is none of the {} categories", where,
                            table.lines[row], table.header[column], table.rows[row][column],
                            categories.size()));
  }
  return static_cast<std::size_t>(found - categories.begin());
}

// The sum of the values less `centre`, in whole units towards zero, so that no contribution exceeds
// its bound by a rounding.
double ExactSum(const std::vector<double>& values, double centre, double bound) {
  const int unit = std::ilogb(bound) - 40;
  Int128 sum = 0;
  for (const double value : values) {
    const double centred = std::clamp(value - centre, -bound, bound);
    sum += static_cast<Int128>(std::trunc(std::ldexp(centred, -unit)));
  }
  return std::ldexp(static_cast<double>(sum), unit);
}

// The values with noise for these sensitivities, L1 for Laplace and L2 for Gaussian noise, of which
// `scale` becomes the scale.
std::vector<double> WithNoise(const TableReleaseOptions& options, std::span<const double> values,
                              double l1, double l2, double eps, double delta, Budget& budget,
                              BitSource& bits, double& scale) {
  if (options.mechanism == TableMechanism::kLaplace) {
    const LaplaceMechanism laplace(eps, l1, values.size());
    scale = laplace.Scale();
    return laplace.Release(values, budget, bits);
  }
  const auto gaussian = GaussianMechanism::ForEpsilon(eps, delta, l2, values.size());
  scale = gaussian.Sigma();
  return gaussian.Release(values, budget, bits);
}

// One noisy number of this sensitivity.
double NoisyNumber(const TableReleaseOptions& options, double value, double sensitivity, double eps,
                   double delta, Budget& budget, BitSource& bits, double& scale) {
  const double rounded = sensitivity * kSumRounding;
  return WithNoise(options, {&value, 1}, rounded, rounded, eps, delta, budget, bits, scale).front();
}

class Releaser {
 public:
  Releaser(const CsvTable& table, const TableReleaseOptions& options, std::string where,
           BitSource& bits)
      : table_(table), options_(options), where_(std::move(where)), bits_(bits) {
    options.Validate();
    const auto parts = static_cast<double>(options.columns.size());
    eps_ = options.eps / parts;
    delta_ = options.delta / parts;
    people_ = People(table, options, where_, bits, release_);
    release_.table.separator = table.separator;
    release_.categories = options.categories;
    if (options.mechanism == TableMechanism::kRandomisedResponse && IsNumeric(options)) {
      const Bounds bounds = BoundsOf(options, 0);
      for (double c = bounds.lower; c <= bounds.upper; c += 1.0) {
        release_.categories.push_back(fmt::format("{:.0f}", c));
      }
    }
  }

  TableRelease Run() {
    const bool per_row = options_.mechanism == TableMechanism::kRandomisedResponse ||
                         (options_.mechanism != TableMechanism::kExponential &&
                          options_.statistic == TableStatistic::kValues);
    release_.neighbours = per_row ? Neighbours::kReplaceOne : Neighbours::kAddRemove;
    if (per_row) StartTable();
    for (std::size_t i = 0; i < options_.columns.size(); ++i) {
      const std::size_t column = table_.Column(options_.columns[i], where_);
      ColumnRelease out;
      out.column = options_.columns[i];
      if (options_.mechanism == TableMechanism::kRandomisedResponse) {
        Respond(column, i, out);
      } else if (options_.mechanism == TableMechanism::kExponential) {
        Select(column, BoundsOf(options_, i), out);
      } else if (per_row) {
        NoisyValues(column, i, BoundsOf(options_, i), out);
      } else {
        Aggregate(column, BoundsOf(options_, i), out);
      }
      release_.columns.push_back(std::move(out));
    }
    return std::move(release_);
  }

 private:
  // The rows that stay, in the order of the table, with the kept columns and room for the others.
  void StartTable() {
    std::vector<std::size_t> rows;
    for (const auto& [name, own] : people_) rows.insert(rows.end(), own.begin(), own.end());
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 0; i < rows.size(); ++i) place_[rows[i]] = i;
    release_.table.header = options_.keep;
    release_.table.header.insert(release_.table.header.end(), options_.columns.begin(),
                                 options_.columns.end());
    for (const std::size_t row : rows) {
      std::vector<std::string> fields;
      for (const std::string& name : options_.keep) {
        fields.push_back(table_.rows[row][table_.Column(name, where_)]);
      }
      fields.resize(release_.table.header.size());
      release_.table.rows.push_back(std::move(fields));
      release_.table.lines.push_back(release_.table.rows.size() + 1);
    }
  }

  std::string& Cell(std::size_t row, std::size_t released_column) {
    return release_.table.rows[place_.at(row)][options_.keep.size() + released_column];
  }

  // A person's values are one vector of max_contributions entries (missing ones are filled up and
  // dropped again), each anywhere between the bounds.
  void NoisyValues(std::size_t column, std::size_t index, const Bounds& bounds,
                   ColumnRelease& out) {
    const std::size_t n = options_.max_contributions;
    const double width = bounds.upper - bounds.lower;
    const auto rows = static_cast<double>(n);
    Budget spent;
    for (const auto& [name, own] : people_) {
      std::vector<double> values(n, bounds.lower);
      for (std::size_t i = 0; i < own.size(); ++i) {
        values[i] = Number(table_, own[i], column, bounds, where_);
      }
      Budget person;
      const std::vector<double> noisy =
          WithNoise(options_, values, rows * width, std::sqrt(rows) * width, eps_, delta_, person,
                    bits_, out.noise_scale);
      for (std::size_t i = 0; i < own.size(); ++i) {
        Cell(own[i], index) = fmt::format("{:.9g}", noisy[i]);
      }
      spent = person;  // the same for everybody
    }
    for (const PrivacyEvent& event : spent.Events()) release_.budget.Spend(event);
  }

  void Respond(std::size_t column, std::size_t index, ColumnRelease& out) {
    const RandomisedResponse response(eps_ / static_cast<double>(options_.max_contributions),
                                      release_.categories.size());
    std::vector<std::uint64_t> counts(release_.categories.size(), 0);
    for (const auto& [name, own] : people_) {
      Budget person;
      for (const std::size_t row : own) {
        const std::size_t truth = Category(table_, row, column, release_.categories, where_);
        const std::size_t answer = response.Release(truth, person, bits_);
        ++counts[answer];
        Cell(row, index) = release_.categories[answer];
      }
    }
    PrivacyEvent event = response.Event();
    event.count = options_.max_contributions;
    release_.budget.Spend(event);
    out.shares = response.EstimateShares(counts);
  }

  std::vector<double> Values(std::size_t column, const Bounds& bounds) const {
    std::vector<double> values;
    for (const auto& [name, own] : people_) {
      for (const std::size_t row : own) {
        values.push_back(Number(table_, row, column, bounds, where_));
      }
    }
    return values;
  }

  void Aggregate(std::size_t column, const Bounds& bounds, ColumnRelease& out) {
    const std::vector<double> values = Values(column, bounds);
    const auto most = static_cast<double>(options_.max_contributions);
    const auto count = static_cast<double>(values.size());
    if (options_.statistic == TableStatistic::kCount) {
      out.value =
          NoisyNumber(options_, count, most, eps_, delta_, release_.budget, bits_, out.noise_scale);
      return;
    }
    if (options_.statistic == TableStatistic::kSum) {
      const double bound = std::max(std::abs(bounds.lower), std::abs(bounds.upper));
      out.value = NoisyNumber(options_, ExactSum(values, 0.0, bound), most * bound, eps_, delta_,
                              release_.budget, bits_, out.noise_scale);
      return;
    }
    // The mean from a noisy sum about the middle and a noisy count, half the budget each.
    const double centre = 0.5 * (bounds.lower + bounds.upper);
    const double half_width = 0.5 * (bounds.upper - bounds.lower);
    double count_scale = 0.0;
    const double sum =
        NoisyNumber(options_, ExactSum(values, centre, half_width), most * half_width, 0.5 * eps_,
                    0.5 * delta_, release_.budget, bits_, out.noise_scale);
    const double people = NoisyNumber(options_, count, most, 0.5 * eps_, 0.5 * delta_,
                                      release_.budget, bits_, count_scale);
    out.value = std::clamp(centre + sum / std::max(people, 1.0), bounds.lower, bounds.upper);
  }

  void Select(std::size_t column, const Bounds& bounds, ColumnRelease& out) {
    const ExponentialMechanism mechanism(eps_, static_cast<double>(options_.max_contributions));
    if (!IsNumeric(options_)) {
      std::vector<double> counts(release_.categories.size(), 0.0);
      for (const auto& [name, own] : people_) {
        for (const std::size_t row : own) {
          counts[Category(table_, row, column, release_.categories, where_)] += 1.0;
        }
      }
      out.choice = release_.categories[mechanism.Release(counts, release_.budget, bits_)];
      return;
    }
    std::vector<double> values = Values(column, bounds);
    std::sort(values.begin(), values.end());
    const double wanted = options_.quantile * static_cast<double>(values.size());
    std::vector<double> points;
    std::vector<double> utilities;
    for (std::size_t i = 0; i < options_.candidates; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(options_.candidates - 1);
      points.push_back(bounds.lower + t * (bounds.upper - bounds.lower));
      const auto below = std::lower_bound(values.begin(), values.end(), points.back());
      const auto upto = std::upper_bound(values.begin(), values.end(), points.back());
      // How many values would have to move for this point to be the quantile.
      const auto fewer = static_cast<double>(below - values.begin());
      const auto more = static_cast<double>(upto - values.begin());
      utilities.push_back(-std::max({0.0, fewer - wanted, wanted - more}));
    }
    out.value = points[mechanism.Release(utilities, release_.budget, bits_)];
  }

  const CsvTable& table_;
  const TableReleaseOptions& options_;
  std::string where_;
  BitSource& bits_;
  double eps_ = 0.0;
  double delta_ = 0.0;
  std::map<std::string, std::vector<std::size_t>> people_;
  std::map<std::size_t, std::size_t> place_;  // row of the input to row of the output
  TableRelease release_;
};

}  // namespace

TableMechanism ParseTableMechanism(const std::string& name) {
  for (std::size_t i = 0; i < kMechanismNames.size(); ++i) {
    if (name == kMechanismNames[i]) return static_cast<TableMechanism>(i);
  }
  throw Error(fmt::format("mechanism '{}': one of {}", name, fmt::join(kMechanismNames, ", ")));
}

std::string TableMechanismName(TableMechanism mechanism) {
  return kMechanismNames[static_cast<std::size_t>(mechanism)];
}

TableStatistic ParseTableStatistic(const std::string& name) {
  if (name == "values") return TableStatistic::kValues;
  if (name == "sum") return TableStatistic::kSum;
  if (name == "mean") return TableStatistic::kMean;
  if (name == "count") return TableStatistic::kCount;
  throw Error(fmt::format("release '{}': one of values, sum, mean, count", name));
}

void TableReleaseOptions::Validate() const {
  CheckEpsilon(eps);
  if (mechanism == TableMechanism::kGaussian) CheckDelta(delta);
  if (columns.empty()) throw Error("no column to release");
  if (id_column.empty()) throw Error("no id column: whose privacy is it?");
  if (max_contributions == 0) throw Error("max contributions 0: must be at least 1");
  for (const auto* list : {&lower, &upper}) {
    if (categories.empty() && list->size() != 1 && list->size() != columns.size()) {
      throw Error(fmt::format("{} bounds for {} columns: give one, or one for each", list->size(),
                              columns.size()));
    }
  }
  if (categories.empty()) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Bounds bounds = BoundsOf(*this, i);
      if (!std::isfinite(bounds.lower) || !std::isfinite(bounds.upper) ||
          !(bounds.lower < bounds.upper)) {
        throw Error(
            fmt::format("bounds {} to {}: lower must be below upper", bounds.lower, bounds.upper));
      }
      if (mechanism == TableMechanism::kRandomisedResponse &&
          (bounds.lower != std::floor(bounds.lower) || bounds.upper != std::floor(bounds.upper) ||
           bounds.upper - bounds.lower > 10000.0)) {
        throw Error("randomised response: the bounds must be whole numbers, at most 10000 apart");
      }
    }
  } else if (mechanism == TableMechanism::kLaplace || mechanism == TableMechanism::kGaussian) {
    throw Error("categories are for rr and exponential");
  }
  if (!(quantile >= 0.0 && quantile <= 1.0)) {
    throw Error(fmt::format("quantile {}: must lie between 0 and 1", quantile));
  }
  if (candidates < 2) throw Error("candidates: at least 2");
}

TableRelease ReleaseTable(const CsvTable& table, const TableReleaseOptions& options,
                          const std::string& where, BitSource& bits) {
  return Releaser(table, options, where, bits).Run();
}

}  // namespace sotto
