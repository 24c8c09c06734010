// sotto dp kanon TABLE: k-anonymity, l-diversity, t-closeness, and the rows that break them.
#include <fmt/format.h>

#include <memory>

#include "base/files.h"
#include "cli/dp.h"
#include "cli/verbs.h"
#include "dp/syntactic.h"
#include "report/dp_figures.h"

namespace sotto::cli {
namespace {

struct KanonFlags {
  std::string table;
  SyntacticOptions options;
  std::size_t k = 0;
  double l = 0.0, t = 0.0;
  std::size_t show = 10;
  bool json = false;
};

void RunKanon(const KanonFlags& flags) {
  const CsvTable table = ParseCsv(ReadTextFile(flags.table), flags.table);
  const SyntacticResult result = CheckSyntactic(table, flags.options, flags.table);
  fmt::print("{}", PrintedSyntactic(result, table, flags.options, flags.show, flags.json));
  if (!result.breaking_rows.empty()) throw ExitWith{1};
}

}  // namespace

void AddDpKanon(CLI::App& dp) {
  auto flags = std::make_shared<KanonFlags>();
  CLI::App* verb = AddVerb(
      dp, "kanon",
      "Measures k-anonymity, l-diversity and t-closeness of a table. The exit code is 1 when the "
      "table breaks what is asked for.",
      "  sotto dp kanon speakers.csv --quasi gender,age,accent --k 5 --id-column speaker\n"
      "  sotto dp kanon speakers.csv --quasi gender,age --sensitive illness --k 3 --l 2 --t 0.3 "
      "--json");
  verb->add_option("TABLE", flags->table, "CSV or TSV with a header")->required();
  verb->heading("Columns");
  verb->add_option("--quasi", flags->options.quasi_identifiers,
                   "Columns that others may know about a person, separated by commas")
      ->required()
      ->delimiter(',');
  verb->add_option("--sensitive", flags->options.sensitive, "Column that must stay unknown");
  verb->add_option(
      "--id-column", flags->options.id,
      "Column that names the person, so that groups are counted in people, not in rows");
  verb->heading("Figures");
  CLI::Option* k = verb->add_option("--k", flags->k, "Least number of people in a group")
                       ->check(CLI::PositiveNumber)
                       ->default_str("");
  CLI::Option* l =
      verb->add_option("--l", flags->l, "Least number of distinct sensitive values in a group")
          ->default_str("");
  CLI::Option* t =
      verb->add_option(
              "--t", flags->t,
              "Largest distance of a group's sensitive values from those of the whole table")
          ->default_str("");
  verb->heading("Output");
  verb->add_option("--show", flags->show, "Number of groups to list");
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
