// sotto dp audit: the epsilon that an attack's success refutes.
#include <fmt/format.h>

#include <memory>

#include "cli/dp.h"
#include "cli/verbs.h"
#include "dp/audit.h"
#include "report/dp_figures.h"

namespace sotto::cli {
namespace {

struct AuditFlags {
  OneRunAudit one;
  ManyRunAudit many;
  AuditFinding finding;
  double claimed = 0.0;
  bool json = false;
};

void RunAudit(AuditFlags& flags) {
  AuditFinding& finding = flags.finding;
  flags.one.delta = flags.many.delta = finding.delta;
  CheckUsage([&] {
    finding.eps_lower = finding.one_run ? OneRunEpsilon(flags.one, finding.error)
                                        : ManyRunEpsilon(flags.many, finding.error);
  });
  fmt::print("{}", PrintedAudit(finding, flags.json));
  if (finding.Refuted()) throw ExitWith{1};
}

}  // namespace

void AddDpAudit(CLI::App& dp) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* verb = AddVerb(
      dp, "audit",
      "Computes a lower bound on epsilon from what an attack reached. The exit code is 1 when it "
      "refutes --claimed.",
      "  sotto dp audit --examples 1000 --guesses 100 --correct 95 --delta 1e-5\n"
      "  sotto dp audit --runs-in 500 --hits 450 --runs-out 500 --false-alarms 30 --claimed 1");
  verb->heading("One run");
  CLI::Option* examples = verb->add_option("--examples", flags->one.examples,
                                           "Examples, each included with probability one half")
                              ->default_str("");
  CLI::Option* guesses = verb->add_option("--guesses", flags->one.guesses, "Guesses made")
                             ->default_str("")
                             ->needs(examples);
  CLI::Option* correct =
      verb->add_option("--correct", flags->one.correct, "Guesses that were right")
          ->default_str("")
          ->needs(guesses);
  verb->heading("Many runs");
  CLI::Option* runs_in =
      verb->add_option("--runs-in", flags->many.runs_in, "Runs trained with the record")
          ->default_str("")
          ->excludes(examples);
  CLI::Option* hits = verb->add_option("--hits", flags->many.hits, "Of these, judged \"in\"")
                          ->default_str("")
                          ->needs(runs_in);
  CLI::Option* runs_out =
      verb->add_option("--runs-out", flags->many.runs_out, "Runs trained without the record")
          ->default_str("")
          ->needs(runs_in);
  CLI::Option* alarms =
      verb->add_option("--false-alarms", flags->many.false_alarms, "Of these, judged \"in\"")
          ->default_str("")
          ->needs(runs_out);
  verb->heading("The claim");
  verb->add_option("--delta", flags->finding.delta, "Delta of the claim");
  verb->add_option("--error", flags->finding.error, "Probability that the bound is wrong");
  CLI::Option* claimed =
      verb->add_option("--claimed", flags->claimed, "The epsilon that is claimed")->default_str("");
  verb->heading("Output");
  verb->add_flag("--json", flags->json, "Print as JSON");
  verb->callback([=] {
    const bool one = examples->count() > 0;
    const bool complete = one ? guesses->count() > 0 && correct->count() > 0
                              : runs_in->count() > 0 && hits->count() > 0 &&
                                    runs_out->count() > 0 && alarms->count() > 0;
    if (!complete) {
      throw CLI::ValidationError(
          "give --examples, --guesses and --correct, or --runs-in, --hits, --runs-out and "
          "--false-alarms");
    }
    flags->finding.one_run = one;
    if (claimed->count() > 0) flags->finding.claimed = flags->claimed;
    RunAudit(*flags);
  });
}

}  // namespace sotto::cli
