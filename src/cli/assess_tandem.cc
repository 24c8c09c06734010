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
  CLI::App* verb = AddVerb(assess, "tandem", "Spoofing: min t-DCF, t-EER, a-DCF, CM EER",
                           "  sotto assess tandem --asv asv.tsv --cm cm.tsv\n"
                           "  sotto assess tandem --sasv sasv.tsv --json");
  auto flags = std::make_shared<TandemFlags>();
  verb->add_option("--asv", flags->asv,
                   "ASV scores: columns attack, key (target|nontarget|spoof), score");
  verb->add_option("--cm", flags->cm,
                   "countermeasure scores: columns utt, attack, key (bonafide|spoof), score");
  verb->add_option("--sasv", flags->sasv,
                   "one row per trial: attack, key, asv_score, cm_score; or attack, key, score");
  verb->add_option("--prior", flags->prior, "prior of a target among bona fide trials")
      ->capture_default_str();
  verb->add_option("--prior-spoof", flags->prior_spoof, "prior of a spoof")->capture_default_str();
  verb->add_option("--cmiss", flags->cmiss, "cost of rejecting a target")->capture_default_str();
  verb->add_option("--cfa", flags->cfa, "cost of accepting a non-target")->capture_default_str();
  verb->add_option("--cfa-spoof", flags->cfa_spoof, "cost of accepting a spoof")
      ->capture_default_str();
  verb->add_flag("--same-costs", flags->same_costs,
                 "a_dcf with these priors and costs too, instead of its published ones (0.9, 0.05, "
                 "0.05; 1, 10, 20)");
  flags->output.intervals.resamples = 100;
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
