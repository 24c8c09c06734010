// sotto assess tandem: spoofing figures of a countermeasure in front of speaker verification.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "assess/panels.h"
#include "assess/tandem.h"
#include "base/files.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_plots.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct TandemFlags {
  std::string asv, cm, sasv;
  double prior = 0.99;  // of a target among bona fide speakers
  double prior_spoof = 0.05;
  double cmiss = 1.0, cfa = 10.0, cfa_spoof = 10.0;
  bool same_costs = false;
  OutputFlags output;
};

ordered_json JsonOptional(const std::optional<double>& value) {
  return value ? JsonNumber(*value) : ordered_json(nullptr);
}

ordered_json JsonCost(const std::optional<MinimumCost>& cost) {
  return cost ? JsonNumber(cost->value) : ordered_json(nullptr);
}

ordered_json JsonAttack(const AttackResult& attack) {
  ordered_json json = {{"min_tdcf_2019", JsonCost(attack.min_tdcf_2019)},
                       {"min_tdcf_2021", JsonCost(attack.min_tdcf_2021)},
                       {"cm_eer", JsonOptional(attack.cm_eer)},
                       {"cm_eer_interpolated", JsonOptional(attack.cm_eer_interpolated)},
                       {"p_fa_spoof_asv", attack.p_fa_spoof_asv},
                       {"n_asv_spoof", attack.n_asv},
                       {"n_cm_spoof", attack.n_cm}};
  if (attack.min_tdcf_2019) {
    json["min_tdcf_2019_threshold"] = JsonNumber(attack.min_tdcf_2019->threshold);
    json["min_tdcf_2021_threshold"] = JsonNumber(attack.min_tdcf_2021->threshold);
  }
  return json;
}

ordered_json JsonCosts(const TandemCosts& costs) {
  return {{"p_tar", costs.p_tar},   {"p_non", costs.p_non}, {"p_spoof", costs.p_spoof},
          {"c_miss", costs.c_miss}, {"c_fa", costs.c_fa},   {"c_fa_spoof", costs.c_fa_spoof}};
}

ordered_json ToJson(const TandemResult& result, const TandemOptions& options) {
  ordered_json json = JsonAttack(result.pooled);
  json["t_eer"] = JsonOptional(result.t_eer);
  json["a_dcf"] = JsonCost(result.a_dcf);
  json["a_dcf_system"] = result.a_dcf_system;
  json["a_dcf_tdcf_costs"] = JsonCost(result.a_dcf_tdcf_costs);
  json["a_dcf_asv"] = JsonCost(result.a_dcf_asv);
  json["a_dcf_asv_tdcf_costs"] = JsonCost(result.a_dcf_asv_tdcf_costs);
  json["sv_eer"] = JsonOptional(result.sv_eer);
  json["spf_eer"] = JsonOptional(result.spf_eer);
  json["sasv_eer"] = JsonOptional(result.sasv_eer);
  json["spf_eer_asv"] = JsonOptional(result.spf_eer_asv);
  json["sasv_eer_asv"] = JsonOptional(result.sasv_eer_asv);
  json["spf_eer_cm"] = JsonOptional(result.spf_eer_cm);
  if (result.asv) {
    json["asv"] = {{"eer", result.asv->eer},
                   {"threshold", JsonNumber(result.asv->threshold)},
                   {"p_miss", result.asv->p_miss},
                   {"p_fa", result.asv->p_fa},
                   {"p_fa_spoof", result.asv->p_fa_spoof}};
  }
  json["n_asv_tar"] = result.n_asv_tar;
  json["n_asv_non"] = result.n_asv_non;
  json["n_cm_bona"] = result.n_cm_bona;
  json["costs"] = {{"tdcf", JsonCosts(options.costs)}, {"a_dcf", JsonCosts(options.adcf_costs)}};
  json["per_attack"] = ordered_json::object();
  for (const AttackResult& attack : result.per_attack) {
    json["per_attack"][attack.attack] = JsonAttack(attack);
  }
  return json;
}

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
  std::vector<std::string> notes;
  if (result.asv) {
    notes.push_back(fmt::format("ASV held at its EER threshold {:g}: EER {:.4g}",
                                result.asv->threshold, result.asv->eer));
  }
  if (!flags.output.report.empty()) {
    AssessPage page{"Spoofing: tandem of countermeasure and speaker verification",
                    pair ? flags.asv + ", " + flags.cm : flags.sasv,
                    panel.figures,
                    notes,
                    TandemPlots(scores, result, options),
                    {}};
    page.notes.push_back("intervals: " + panel.bootstrap);
    if (!result.per_attack.empty()) page.tables.push_back(AttackTable(result));
    WriteReport(flags.output.report, page);
  }
  if (!flags.output.json) {
    for (const AttackResult& attack : result.per_attack) {
      notes.push_back(fmt::format(
          "attack {}: min_tdcf_2019 {:.6g}, min_tdcf_2021 {:.6g}, cm_eer {:.6g} ({} CM, {} ASV)",
          attack.attack, attack.min_tdcf_2019->value, attack.min_tdcf_2021->value, *attack.cm_eer,
          attack.n_cm, attack.n_asv));
    }
  }
  PrintPanel(flags.output, panel, ToJson(result, options), notes);
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
