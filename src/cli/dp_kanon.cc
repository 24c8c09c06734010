// sotto dp kanon TABLE: k-anonymity, l-diversity, t-closeness, and the rows that break them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "cli/assess.h"
#include "cli/dp.h"
#include "cli/verbs.h"
#include "dp/syntactic.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct KanonFlags {
  std::string table;
  SyntacticOptions options;
  std::size_t k = 0;
  double l = 0.0, t = 0.0;
  std::size_t show = 10;
  bool json = false;
};

ordered_json JsonClass(const EquivalenceClass& group, const CsvTable& table, bool sensitive) {
  ordered_json json = {{"values", group.values}, {"size", group.size}};
  if (sensitive) {
    json["l_distinct"] = group.distinct;
    json["l_entropy"] = group.entropy_l;
    json["t"] = group.closeness;
  }
  json["breaks"] = group.breaks;
  for (const std::size_t row : group.rows) json["lines"].push_back(table.lines[row]);
  return json;
}

void RunKanon(const KanonFlags& flags) {
  const CsvTable table = ParseCsv(ReadTextFile(flags.table), flags.table);
  const SyntacticResult result = CheckSyntactic(table, flags.options, flags.table);
  const bool sensitive = result.t.has_value();
  if (flags.json) {
    ordered_json json = {
        {"k", result.k}, {"rows", table.rows.size()}, {"classes", result.classes.size()}};
    if (sensitive) {
      json["l_distinct"] = *result.l_distinct;
      json["l_entropy"] = *result.l_entropy;
      json["t"] = *result.t;
      json["t_distance"] = result.ordered ? "ordered" : "equal";
    }
    json["holds"] = result.breaking_rows.empty();
    json["breaking_lines"] = ordered_json::array();
    for (const std::size_t row : result.breaking_rows) {
      json["breaking_lines"].push_back(table.lines[row]);
    }
    json["breaking_classes"] = ordered_json::array();
    for (const EquivalenceClass& group : result.classes) {
      if (!group.breaks.empty()) {
        json["breaking_classes"].push_back(JsonClass(group, table, sensitive));
      }
    }
    PrintJson(json);
  } else {
    fmt::print("k = {} ({} rows in {} groups by {})\n", result.k, table.rows.size(),
               result.classes.size(), fmt::join(flags.options.quasi_identifiers, ", "));
    if (sensitive) {
      fmt::print("l = {} distinct, {:.3f} by entropy; t = {:.4f} ({} distance) of {}\n",
                 *result.l_distinct, *result.l_entropy, *result.t,
                 result.ordered ? "ordered" : "equal", flags.options.sensitive);
    }
    std::size_t shown = 0;
    for (const EquivalenceClass& group : result.classes) {
      if (group.breaks.empty()) continue;
      if (++shown > flags.show) continue;
      std::vector<std::size_t> lines;
      for (const std::size_t row : group.rows) lines.push_back(table.lines[row]);
      fmt::print("  breaks {}: {} (size {}), lines {}\n", fmt::join(group.breaks, ","),
                 fmt::join(group.values, " | "), group.size, fmt::join(lines, " "));
    }
    if (shown > flags.show) fmt::print("  and {} more groups (--show)\n", shown - flags.show);
    fmt::print(
        "{} row{} break what was asked. A table that passes is not anonymous by that alone: "
        "docs/privacy.md\n",
        result.breaking_rows.size(), result.breaking_rows.size() == 1 ? "" : "s");
  }
  if (!result.breaking_rows.empty()) throw ExitWith{1};
}

}  // namespace

void AddDpKanon(CLI::App& dp) {
  auto flags = std::make_shared<KanonFlags>();
  CLI::App* verb = AddVerb(
      dp, "kanon",
      "k-anonymity, l-diversity and t-closeness of a table; exit 1 when rows break what is asked",
      "  sotto dp kanon speakers.csv --quasi gender,age,accent --k 5 --id-column speaker\n"
      "  sotto dp kanon speakers.csv --quasi gender,age --sensitive illness --k 3 --l 2 --t 0.3 "
      "--json");
  verb->add_option("TABLE", flags->table, "CSV or TSV with a header")->required();
  verb->add_option("--quasi", flags->options.quasi_identifiers,
                   "Columns that others may know of a person, with commas")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("");
  verb->add_option("--sensitive", flags->options.sensitive, "Column that must stay unknown");
  verb->add_option("--id-column", flags->options.id,
                   "Names the person: groups are counted in people, not in rows");
  CLI::Option* k = verb->add_option("--k", flags->k, "People in a group, at least")
                       ->check(CLI::PositiveNumber)
                       ->default_str("");
  CLI::Option* l =
      verb->add_option("--l", flags->l, "Distinct sensitive values in a group, at least")
          ->default_str("");
  CLI::Option* t =
      verb->add_option("--t", flags->t,
                       "Distance of a group's sensitive values from the whole, at most")
          ->default_str("");
  verb->add_option("--show", flags->show, "Groups listed");
  verb->add_flag("--json", flags->json, "Print as JSON");
  verb->callback([flags, k, l, t] {
    if (k->count() > 0) flags->options.k = flags->k;
    if (l->count() > 0) flags->options.l = flags->l;
    if (t->count() > 0) flags->options.t = flags->t;
    if (flags->options.sensitive.empty() && (flags->options.l || flags->options.t)) {
      throw CLI::ValidationError("--l and --t need --sensitive");
    }
    RunKanon(*flags);
  });
}

}  // namespace sotto::cli
