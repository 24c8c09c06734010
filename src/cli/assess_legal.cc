// sotto assess legal: the regulator's linkability and singling out.
#include <fmt/format.h>

#include <memory>

#include "assess/legal.h"
#include "assess/panels.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_forms.h"

namespace sotto::cli {
namespace {

struct LegalFlags {
  TrialFlags trials;
  LegalOptions options;
  OutputFlags output;
};

void Run(const LegalFlags& flags) {
  CheckFlags(flags.output, [&] { flags.options.Validate(); });
  const Trials trials = flags.trials.Read("TRIALS.tsv");
  const LegalResult result = LegalMeter(trials).Measure(flags.options);
  const Panel panel = LegalPanel(result, flags.output.intervals);
  if (!flags.output.report.empty()) {
    WriteReport(flags.output.report,
                LegalPage(result, panel, flags.options, trials, flags.trials.Source()));
  }
  fmt::print("{}", PrintedLegal(result, panel, flags.options, trials, flags.output.json));
}

}  // namespace

void AddAssessLegal(CLI::App& assess) {
  CLI::App* verb = AddVerb(
      assess, "legal",
      "Computes the regulator's linkability and singling out, by population N and utterances L.",
      "  sotto assess legal trials.tsv --population 2,5,20 --utterances 1,3\n"
      "  sotto assess legal --scores plda.txt --key trials --json");
  auto flags = std::make_shared<LegalFlags>();
  verb->add_option("TRIALS", flags->trials.inputs,
                   "A TSV with columns label, score, test, enrol_spk (or enrol) and test_spk (or "
                   "the enrolment of the target trial)")
      ->expected(1, 1)
      ->default_str("");
  flags->trials.Add(*verb);
  verb->heading("Figures");
  verb->add_option("--population,-N", flags->options.population,
                   "Speakers to choose from, separated by commas")
      ->delimiter(',');
  verb->add_option("--utterances,-L", flags->options.utterances,
                   "Utterances averaged, separated by commas")
      ->delimiter(',');
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
