// sotto assess verify: all figures of a list of verification trials.
#include <fmt/format.h>

#include <memory>

#include "assess/verify.h"
#include "base/parallel.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/verify_page.h"

namespace sotto::cli {
namespace {

struct VerifyFlags {
  TrialFlags trials;
  std::vector<std::string> calibrate_on;
  std::string report;
  bool json = false;
  int bootstrap = -1;  // automatic
  std::vector<double> more_priors;
  VerifyOptions options;
};

void Run(VerifyFlags& flags) {
  for (const double prior : flags.more_priors) {
    auto& priors = flags.options.priors;
    if (std::find(priors.begin(), priors.end(), prior) == priors.end()) priors.push_back(prior);
  }
  CheckUsage([&] { flags.options.Validate(); });
  const Trials trials = flags.trials.Read("TRIALS.tsv, two arrays");
  const ScoreLevels data = MakeLevels(trials);
  flags.options.resamples =
      flags.bootstrap >= 0 ? flags.bootstrap : AutomaticResamples(trials.size());
  std::unique_ptr<ScoreLevels> other_run;
  if (!flags.calibrate_on.empty()) {
    other_run = std::make_unique<ScoreLevels>(MakeLevels(ReadInputs(flags.calibrate_on, false)));
  }
  const VerifyResult result = Verify(trials, data, flags.options, other_run.get());
  if (!flags.report.empty()) {
    std::string source = flags.trials.Source();
    if (!flags.options.attacker.empty()) source += ", attacker: " + flags.options.attacker;
    WriteReport(flags.report, VerifyPage(trials, data, result, flags.options, source));
  }
  fmt::print("{}", PrintedVerify(trials, data, result, flags.options, flags.json));
}

}  // namespace

void AddAssessVerify(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "verify", "Computes verification and disclosure figures of scored trials.",
              "  sotto assess verify trials.tsv\n"
              "  sotto assess verify --scores plda.txt --key trials --json");
  auto flags = std::make_shared<VerifyFlags>();
  VerifyOptions& o = flags->options;
  flags->options.jobs = DefaultJobs();
  verb->add_option(
          "TRIALS", flags->trials.inputs,
          "A TSV with columns label (target|nontarget) and score, and optionally enrol, test, "
          "enrol_spk, test_spk, enrol_group and test_group; or two arrays of target and "
          "non-target scores (.npy or raw .f64)")
      ->expected(1, 2)
      ->option_text("TSV | TAR NON");
  flags->trials.Add(*verb);
  verb->heading("Priors and costs");
  verb->add_option("--prior", flags->more_priors,
                   "Further target prior for minDCF and actDCF, besides 0.5, 0.05, 0.01 and "
                   "0.001; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--cmiss", o.cost_miss, "Cost of a miss");
  verb->add_option("--cfa", o.cost_false_alarm, "Cost of a false alarm");
  verb->heading("Figures");
  verb->add_option("--omega", o.linkability.omega, "Prior ratio of D_sys");
  verb->add_option("--bins", o.linkability.bins,
                   "Bins of D_sys; 0 means int(targets/10), at most 100, as published");
  verb->add_option(
          "--calibrate-on", flags->calibrate_on,
          "Trials of another run of the protection, for C_ECE: a TSV, or given twice for two "
          "arrays")
      ->allow_extra_args(false);
  verb->add_option("--top-k", o.top_k, "The k of the top-k precision; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--bootstrap", flags->bootstrap,
                   "Resamples for the intervals; 0 means none, -1 means 1000 where there are at "
                   "most 100000 trials, else none");
  verb->add_option("--level", o.interval_level, "Level of the intervals");
  verb->add_option("--seed", o.seed, "Seed of the bootstrap");
  verb->heading("Output");
  verb->add_option("--attacker", o.attacker,
                   "Who made the scores (ignorant, lazy-informed, …), printed with the figures");
  AddReportFlag(*verb, flags->report);
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->heading("Run");
  verb->add_option("--jobs", o.jobs, "Threads; the figures do not depend on them");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
