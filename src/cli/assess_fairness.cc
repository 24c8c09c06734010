// sotto assess fairness: are all groups of speakers treated alike?
#include <fmt/format.h>

#include <memory>

#include "assess/fairness_trials.h"
#include "assess/panels.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_forms.h"

namespace sotto::cli {
namespace {

struct FairnessFlags {
  std::string trials;
  FairnessColumns columns;
  FairnessOptions options;
  OutputFlags output;
};

void Run(const FairnessFlags& flags) {
  CheckFlags(flags.output, [&] { flags.options.Validate(); });
  const FairnessSource source{ReadFairnessTrials(flags.trials, flags.columns), flags.columns,
                              flags.options};
  const Grouping& grouping = source.trials.grouping;
  const FairnessMeter meter(grouping.trials, flags.options);
  const FairnessResult result = meter.Measure();
  const Panel panel = FairnessPanel(meter, result, TrialResampler(source.trials.trials),
                                    grouping.kept, flags.output.intervals);
  if (!flags.output.report.empty()) {
    WriteReport(flags.output.report, FairnessPage(result, panel, source, flags.trials));
  }
  fmt::print("{}", PrintedFairness(result, panel, source, flags.output.json));
}

}  // namespace

void AddAssessFairness(CLI::App& assess) {
  CLI::App* verb = AddVerb(assess, "fairness",
                           "Measures fairness across groups of speakers: FDR, auFDR, IR and GARBE.",
                           "  sotto assess fairness trials.tsv --group-column group\n"
                           "  sotto assess fairness trials.tsv --group-column gender --json");
  auto flags = std::make_shared<FairnessFlags>();
  verb->add_option("TRIALS", flags->trials, "A TSV with columns label, score and the group")
      ->required();
  verb->heading("Trials");
  verb->add_option("--group-column", flags->columns.group,
                   "Column X with the claimed speaker's group, or columns enrol_X and test_X");
  verb->add_flag("--include-cross-group", flags->columns.include_cross_group,
                 "Count impostors of other groups too");
  verb->add_flag("--allow-missing", flags->columns.allow_missing,
                 "Leave out trials without a score, and say so");
  verb->heading("Figures");
  verb->add_option("--fmr", flags->options.fmr_targets,
                   "Pooled false match rates, rising, separated by commas")
      ->delimiter(',');
  verb->add_option("--alpha", flags->options.alphas, "Weights of the FMR term, separated by commas")
      ->delimiter(',');
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
