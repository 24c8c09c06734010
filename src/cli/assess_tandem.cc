// sotto assess tandem: spoofing figures of a countermeasure in front of speaker verification.
#include <fmt/format.h>

#include <memory>

#include "assess/panels.h"
#include "assess/tandem.h"
#include "base/files.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_forms.h"

namespace sotto::cli {
namespace {

struct TandemFlags {
  std::string asv, cm, sasv;
  double prior = 0.99;  // of a target among bona fide speakers
  double prior_spoof = 0.05;
  double cmiss = 1.0, cfa = 10.0, cfa_spoof = 10.0;
  bool same_costs = false;
  OutputFlags output;
};

void Run(const TandemFlags& flags) {
  const bool pair = !flags.asv.empty() && !flags.cm.empty();
  if (pair == !flags.sasv.empty()) {
    throw CLI::ValidationError("give either --asv and --cm, or --sasv");
  }
  TandemOptions options;
  const double bona = 1.0 - flags.prior_spoof;
  options.costs = {bona * flags.prior, bona * (1.0 - flags.prior),
                   flags.prior_spoof,  flags.cmiss,
                   flags.cfa,          flags.cfa_spoof};
  if (flags.same_costs) options.adcf_costs = options.costs;
  CheckFlags(flags.output, [&] { options.costs.Validate(); });
  TandemScores scores;
  if (pair) {
    ReadAsvScores(ReadTextFile(flags.asv), flags.asv, scores);
    ReadCmScores(ReadTextFile(flags.cm), flags.cm, scores);
  } else {
    scores = ReadSasvScores(ReadTextFile(flags.sasv), flags.sasv);
  }
  const TandemResult result = MeasureTandem(scores, options);
  const Panel panel = TandemPanel(scores, result, options, flags.output.intervals);
  if (!flags.output.report.empty()) {
    WriteReport(flags.output.report, TandemPage(scores, result, panel, options,
                                                pair ? flags.asv + ", " + flags.cm : flags.sasv));
  }
  fmt::print("{}", PrintedTandem(result, panel, options, flags.output.json));
}

}  // namespace

void AddAssessTandem(CLI::App& assess) {
  CLI::App* verb = AddVerb(
      assess, "tandem",
      "Rates defences against spoofing: min t-DCF, t-EER, a-DCF and the EER of the countermeasure.",
      "  sotto assess tandem --asv asv.tsv --cm cm.tsv\n"
      "  sotto assess tandem --sasv sasv.tsv --json");
  auto flags = std::make_shared<TandemFlags>();
  verb->heading("Trials");
  verb->add_option("--asv", flags->asv,
                   "ASV scores: a TSV with columns attack, key (target|nontarget|spoof) and score");
  verb->add_option(
      "--cm", flags->cm,
      "Countermeasure scores: a TSV with columns utt, attack, key (bonafide|spoof) and score");
  verb->add_option("--sasv", flags->sasv,
                   "Both scores: a TSV with columns attack, key, asv_score and cm_score, or "
                   "attack, key and score");
  verb->heading("Priors and costs");
  verb->add_option("--prior", flags->prior, "Prior of a target among bona fide trials");
  verb->add_option("--prior-spoof", flags->prior_spoof, "Prior of a spoof");
  verb->add_option("--cmiss", flags->cmiss, "Cost of rejecting a target");
  verb->add_option("--cfa", flags->cfa, "Cost of accepting a non-target");
  verb->add_option("--cfa-spoof", flags->cfa_spoof, "Cost of accepting a spoof");
  verb->add_flag(
      "--same-costs", flags->same_costs,
      "Use these priors and costs for a_dcf too, instead of its published ones (0.9, 0.05, "
      "0.05; 1, 10, 20)");
  flags->output.intervals.resamples = 100;
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
