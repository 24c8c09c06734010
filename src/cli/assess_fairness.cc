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
  CLI::App* verb = AddVerb(assess, "fairness", "Fairness: FDR, auFDR, IR, GARBE across groups",
                           "  sotto assess fairness trials.tsv --group-column group\n"
                           "  sotto assess fairness trials.tsv --group-column gender --json");
  auto flags = std::make_shared<FairnessFlags>();
  verb->add_option("TRIALS", flags->trials, "a TSV with columns label, score and the group")
      ->required();
  verb->add_option("--group-column", flags->columns.group,
                   "column X with the claimed speaker's group, or columns enrol_X and test_X")
      ->capture_default_str();
  verb->add_option("--fmr", flags->options.fmr_targets,
                   "pooled false match rates, rising, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_option("--alpha", flags->options.alphas, "weights of the FMR term, with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  verb->add_flag("--include-cross-group", flags->columns.include_cross_group,
                 "count impostors of other groups too");
  verb->add_flag("--allow-missing", flags->columns.allow_missing,
                 "leave out trials without a score, and say so");
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
