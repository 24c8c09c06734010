#include "dp/syntactic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/tsv.h"

namespace sotto {
namespace {

// The sensitive values of the table, in their order where they are numbers.
struct Domain {
  std::map<std::string, std::size_t> index;
  std::vector<double> shares;
  bool ordered = false;
};

Domain MakeDomain(const CsvTable& table, std::size_t column, const std::string& where) {
  Domain domain;
  std::set<std::string> values;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row][column].empty()) {
      throw Error(fmt::format("{}, line {}: column '{}' is empty", where, table.lines[row],
                              table.header[column]));
    }
    values.insert(table.rows[row][column]);
  }
  std::map<double, std::vector<std::string>> by_number;
  domain.ordered = true;
  for (const std::string& value : values) {
    try {
      by_number[ParseNumber(value, where)].push_back(value);
    } catch (const Error&) {
      domain.ordered = false;
      break;
    }
  }
  std::size_t next = 0;
  if (domain.ordered) {
    for (const auto& [number, spellings] : by_number) {
      for (const std::string& spelling : spellings) domain.index[spelling] = next;
      ++next;
    }
  } else {
    for (const std::string& value : values) domain.index[value] = next++;
  }
  domain.shares.assign(next, 0.0);
  for (const auto& row : table.rows) {
    domain.shares[domain.index.at(row[column])] += 1.0 / static_cast<double>(table.rows.size());
  }
  return domain;
}

double Distance(const std::vector<double>& p, const std::vector<double>& q, bool ordered) {
  double distance = 0.0;
  if (!ordered) {
    for (std::size_t i = 0; i < p.size(); ++i) distance += 0.5 * std::abs(p[i] - q[i]);
    return distance;
  }
  double carried = 0.0;
  for (std::size_t i = 0; i + 1 < p.size(); ++i) {
    carried += p[i] - q[i];
    distance += std::abs(carried);
  }
  return p.size() > 1 ? distance / static_cast<double>(p.size() - 1) : 0.0;
}

void MeasureSensitive(const CsvTable& table, std::size_t column, const Domain& domain,
                      EquivalenceClass& group) {
  std::vector<double> shares(domain.shares.size(), 0.0);
  for (const std::size_t row : group.rows) {
    shares[domain.index.at(table.rows[row][column])] +=
        1.0 / static_cast<double>(group.rows.size());
  }
  double entropy = 0.0;
  for (const double share : shares) {
    if (share <= 0.0) continue;
    ++group.distinct;
    entropy -= share * std::log(share);
  }
  group.entropy_l = std::exp(entropy);
  group.closeness = Distance(shares, domain.shares, domain.ordered);
}

void CheckAsked(const SyntacticOptions& options, EquivalenceClass& group) {
  if (options.k && group.size < *options.k) group.breaks.emplace_back("k");
  if (options.l && static_cast<double>(group.distinct) < *options.l) group.breaks.emplace_back("l");
  // An average of shares like 1/3 carries rounding errors.
  if (options.t && group.closeness > *options.t + 1e-12) group.breaks.emplace_back("t");
}

}  // namespace

SyntacticResult CheckSyntactic(const CsvTable& table, const SyntacticOptions& options,
                               const std::string& where) {
  if (table.rows.empty()) throw Error(fmt::format("{}: no rows", where));
  if (options.quasi_identifiers.empty()) {
    throw Error(fmt::format("{}: name at least one quasi-identifier column", where));
  }
  if (options.sensitive.empty() && (options.l || options.t)) {
    throw Error("l-diversity and t-closeness need a sensitive column");
  }
  std::vector<std::size_t> columns;
  for (const std::string& name : options.quasi_identifiers) {
    columns.push_back(table.Column(name, where));
  }
  std::map<std::vector<std::string>, EquivalenceClass> groups;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> values;
    values.reserve(columns.size());
    for (const std::size_t column : columns) values.push_back(table.rows[row][column]);
    groups[values].rows.push_back(row);
  }
  SyntacticResult result;
  std::optional<Domain> domain;
  std::size_t sensitive = 0;
  if (!options.sensitive.empty()) {
    sensitive = table.Column(options.sensitive, where);
    domain = MakeDomain(table, sensitive, where);
    result.ordered = domain->ordered;
    result.l_distinct = table.rows.size();
    result.l_entropy = static_cast<double>(table.rows.size());
    result.t = 0.0;
  }
  for (auto& [values, group] : groups) {
    group.values = values;
    group.size = group.rows.size();
    if (!options.id.empty()) {
      const std::size_t id = table.Column(options.id, where);
      std::set<std::string> people;
      for (const std::size_t row : group.rows) {
        if (table.rows[row][id].empty()) {
          throw Error(fmt::format("{}, line {}: column '{}' is empty", where, table.lines[row],
                                  options.id));
        }
        people.insert(table.rows[row][id]);
      }
      group.size = people.size();
    }
    if (domain) {
      MeasureSensitive(table, sensitive, *domain, group);
      result.l_distinct = std::min(*result.l_distinct, group.distinct);
      result.l_entropy = std::min(*result.l_entropy, group.entropy_l);
      result.t = std::max(*result.t, group.closeness);
    }
    CheckAsked(options, group);
    if (!group.breaks.empty()) {
      result.breaking_rows.insert(result.breaking_rows.end(), group.rows.begin(), group.rows.end());
    }
    result.classes.push_back(group);
  }
  std::sort(result.breaking_rows.begin(), result.breaking_rows.end());
  std::stable_sort(result.classes.begin(), result.classes.end(),
                   [](const auto& a, const auto& b) { return a.size < b.size; });
  result.k = result.classes.front().size;
  return result;
}

}  // namespace sotto
