#include "report/assess_forms.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "report/assess_plots.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;
using Notes = std::vector<std::string>;

// What all forms end with: the figures and how their intervals were made.
std::string FormJson(ordered_json json, const Panel& panel, const Notes& notes) {
  json["bootstrap"] = panel.bootstrap;
  json["notes"] = notes;
  for (const Figure& figure : panel.figures) json["figures"][figure.name] = JsonFigure(figure);
  return JsonText(json);
}

std::string FormText(const Panel& panel, const Notes& notes) {
  std::string text = FiguresText(panel.figures) + "intervals: " + panel.bootstrap + "\n";
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

AssessPage FormPage(const std::string& title, const std::string& source, const Panel& panel,
                    Notes notes, std::vector<Plot> plots, std::vector<PageTable> tables) {
  notes.push_back("intervals: " + panel.bootstrap);
  return {title, source, panel.figures, std::move(notes), std::move(plots), std::move(tables)};
}

ordered_json JsonMatrix(const SimilarityMatrix& matrix) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < matrix.n; ++i) {
    ordered_json row = ordered_json::array();
    for (std::size_t j = 0; j < matrix.n; ++j) row.push_back(matrix.At(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json JsonView(const SimilarityView& view) {
  return {{"d_ece_bits", view.d_ece_bits},
          {"cllr_min", view.cllr_min},
          {"n_tar", view.n_tar},
          {"n_non", view.n_non},
          {"n_identical_removed", view.data.n_identical_removed},
          {"matrix", JsonMatrix(view.sigmoid_of_mean)},
          {"matrix_geo", JsonMatrix(view.geometric)}};
}

ordered_json JsonDominance(const SimilarityFigures& figures) {
  return {{"oo", JsonNumber(figures.d_diag_oo)},
          {"op", JsonNumber(figures.d_diag_op)},
          {"pp", JsonNumber(figures.d_diag_pp)}};
}

Notes SimilarityNotes(const SimilarityResult& result) {
  Notes notes;
  for (const auto& [name, view] :
       {std::pair("OO", &result.oo), std::pair("OP", &result.op), std::pair("PP", &result.pp)}) {
    notes.push_back(
        fmt::format("{}: D_diag {:.4g}, D_ECE {:.4g} bit, Cllr_min {:.4g}, {} removed "
                    "as comparisons of a segment with itself",
                    name, view->sigmoid_of_mean.DiagonalDominance(), view->d_ece_bits,
                    view->cllr_min, view->data.n_identical_removed));
  }
  return notes;
}

ordered_json JsonCost(const std::optional<MinimumCost>& cost) {
  return cost ? JsonNumber(cost->value) : ordered_json(nullptr);
}

ordered_json JsonAttack(const AttackResult& attack) {
  ordered_json json = {{"min_tdcf_2019", JsonCost(attack.min_tdcf_2019)},
                       {"min_tdcf_2021", JsonCost(attack.min_tdcf_2021)},
                       {"cm_eer", JsonNumber(attack.cm_eer)},
                       {"cm_eer_interpolated", JsonNumber(attack.cm_eer_interpolated)},
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

ordered_json JsonTandem(const TandemResult& result, const TandemOptions& options) {
  ordered_json json = JsonAttack(result.pooled);
  json["t_eer"] = JsonNumber(result.t_eer);
  json["a_dcf"] = JsonCost(result.a_dcf);
  json["a_dcf_system"] = result.a_dcf_system;
  json["a_dcf_tdcf_costs"] = JsonCost(result.a_dcf_tdcf_costs);
  json["a_dcf_asv"] = JsonCost(result.a_dcf_asv);
  json["a_dcf_asv_tdcf_costs"] = JsonCost(result.a_dcf_asv_tdcf_costs);
  json["sv_eer"] = JsonNumber(result.sv_eer);
  json["spf_eer"] = JsonNumber(result.spf_eer);
  json["sasv_eer"] = JsonNumber(result.sasv_eer);
  json["spf_eer_asv"] = JsonNumber(result.spf_eer_asv);
  json["sasv_eer_asv"] = JsonNumber(result.sasv_eer_asv);
  json["spf_eer_cm"] = JsonNumber(result.spf_eer_cm);
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

// `attacks`: a line for each too.
Notes TandemNotes(const TandemResult& result, bool attacks = false) {
  Notes notes;
  if (result.asv) {
    notes.push_back(fmt::format("ASV held at its EER threshold {:g}: EER {:.4g}",
                                result.asv->threshold, result.asv->eer));
  }
  if (!attacks) return notes;
  for (const AttackResult& attack : result.per_attack) {
    notes.push_back(fmt::format(
        "attack {}: min_tdcf_2019 {:.6g}, min_tdcf_2021 {:.6g}, cm_eer {:.6g} ({} CM, {} ASV)",
        attack.attack, attack.min_tdcf_2019->value, attack.min_tdcf_2021->value, *attack.cm_eer,
        attack.n_cm, attack.n_asv));
  }
  return notes;
}

ordered_json ByAlpha(const std::vector<double>& alphas, const std::vector<double>& values) {
  ordered_json json;
  for (std::size_t a = 0; a < alphas.size(); ++a) {
    json[fmt::format("{:g}", alphas[a])] = JsonNumber(values[a]);
  }
  return json;
}

ordered_json ByGroup(const FairnessResult& result, const std::vector<double>& values) {
  ordered_json json;
  for (std::size_t g = 0; g < values.size(); ++g) json[result.groups[g]] = JsonNumber(values[g]);
  return json;
}

ordered_json JsonTerms(const DifferentialTerms& terms) {
  return {{"fpd", JsonNumber(terms.fpd)}, {"fnd", JsonNumber(terms.fnd)}};
}

ordered_json JsonFairness(const FairnessResult& result) {
  ordered_json json;
  json["groups"] = result.groups;
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    json["counts"][result.groups[g]] = {{"target", result.n_tar[g]},
                                        {"nontarget", result.n_non[g]}};
  }
  json["alphas"] = result.alphas;
  json["operating_points"] = ordered_json::array();
  for (const FairnessPoint& point : result.points) {
    json["operating_points"].push_back({{"pooled_fmr_target", point.pooled_fmr_target},
                                        {"threshold", JsonNumber(point.threshold)},
                                        {"pooled_fmr", point.pooled_fmr},
                                        {"pooled_fnmr", point.pooled_fnmr},
                                        {"fmr", ByGroup(result, point.fmr)},
                                        {"fnmr", ByGroup(result, point.fnmr)},
                                        {"fdr", ByAlpha(result.alphas, point.fdr)},
                                        {"ir", ByAlpha(result.alphas, point.ir)},
                                        {"garbe", ByAlpha(result.alphas, point.garbe)},
                                        {"terms",
                                         {{"fdr", JsonTerms(point.fdr_terms)},
                                          {"ir", JsonTerms(point.ir_terms)},
                                          {"garbe", JsonTerms(point.garbe_terms)}}}});
  }
  json["au_fdr_linear"] = ByAlpha(result.alphas, result.au_fdr_linear);
  json["au_fdr_log"] = ByAlpha(result.alphas, result.au_fdr_log);
  for (const FairnessCriteria& one : result.criteria) {
    json["ffmc"][one.metric] = {{"ffmc1_fpd_fnd_ratio", JsonNumber(one.ffmc1_ratio)},
                                {"ffmc2_lowest", JsonNumber(one.ffmc2_lowest)},
                                {"ffmc2_highest", JsonNumber(one.ffmc2_highest)},
                                {"ffmc2_bounded", one.ffmc2_bounded},
                                {"ffmc3_computable", one.ffmc3_computable}};
  }
  return json;
}

void NoteLeftOut(const Trials& trials, Notes& notes) {
  const std::string left_out = LeftOutText(trials);
  if (!left_out.empty()) notes.push_back(left_out);
}

Notes FairnessNotes(const FairnessSource& source) {
  Notes notes;
  const std::size_t across = source.trials.grouping.n_cross_group;
  if (!source.trials.has_sides) {
    notes.push_back(
        fmt::format("impostors across groups cannot be told: no columns enrol_{} and "
                    "test_{}; every non-target counts",
                    source.columns.group, source.columns.group));
  } else if (across > 0) {
    notes.push_back(fmt::format("{} impostors across groups {}", across,
                                source.columns.include_cross_group ? "count too" : "are left out"));
  }
  NoteLeftOut(source.trials.trials, notes);
  return notes;
}

ordered_json JsonPoints(const std::vector<LegalPoint>& points) {
  ordered_json json = ordered_json::array();
  for (const LegalPoint& point : points) {
    json.push_back({{"N", point.n},
                    {"L", point.l},
                    {"value", point.value},
                    {"chance", point.chance},
                    {"n_tried", point.n_tried}});
  }
  return json;
}

Notes LegalNotes(const LegalResult& result, const LegalOptions& options, const Trials& trials) {
  Notes notes = {fmt::format("{} enrolled speakers, {} test speakers, {} test utterances",
                             result.n_enrol_speakers, result.n_test_speakers, result.n_utterances)};
  const std::size_t asked = options.population.size() * options.utterances.size();
  if (result.linkability.size() < asked || result.singling_out.size() < asked) {
    notes.push_back(fmt::format(
        "of {} pairs (N, L) the data can answer {} for linkability and {} for singling out, which "
        "needs two conversations of L utterances from each of N speakers",
        asked, result.linkability.size(), result.singling_out.size()));
  }
  NoteLeftOut(trials, notes);
  return notes;
}

ordered_json JsonWer(const WerResult& result, TextNormaliser normaliser) {
  ordered_json json = {{"wer", JsonNumber(result.words.Rate())},
                       {"cer", JsonNumber(result.chars.Rate())},
                       {"cer_no_spaces", JsonNumber(result.chars_no_spaces.Rate())},
                       {"sub", result.words.sub},
                       {"del", result.words.del},
                       {"ins", result.words.ins},
                       {"n", result.words.n},
                       {"errors", result.words.Errors()},
                       {"hits", result.words.hits},
                       {"chars",
                        {{"errors", result.chars.Errors()},
                         {"n", result.chars.n},
                         {"errors_no_spaces", result.chars_no_spaces.Errors()},
                         {"n_no_spaces", result.chars_no_spaces.n}}},
                       {"utterances", result.utterances},
                       {"utterances_with_errors", result.utterances_with_errors},
                       {"without_hypothesis", result.without_hypothesis},
                       {"without_reference", result.without_reference},
                       {"normaliser", TextNormaliserName(normaliser)}};
  json["per_utterance"] = ordered_json::array();
  for (const UtteranceErrors& one : result.per_utterance) {
    json["per_utterance"].push_back({{"utt", one.id},
                                     {"n", one.words.n},
                                     {"sub", one.words.sub},
                                     {"del", one.words.del},
                                     {"ins", one.words.ins}});
  }
  return json;
}

Notes WerNotes(const WerResult& result, TextNormaliser normaliser) {
  Notes notes = {fmt::format("normaliser: {} (code points compared, no Unicode composition)",
                             TextNormaliserName(normaliser)),
                 fmt::format("{} of {} utterances have errors", result.utterances_with_errors,
                             result.utterances)};
  if (result.without_hypothesis + result.without_reference > 0) {
    notes.push_back(
        fmt::format("{} references without hypothesis count as empty, {} hypotheses "
                    "without reference are left out",
                    result.without_hypothesis, result.without_reference));
  }
  return notes;
}

}  // namespace

std::string LeftOutText(const Trials& trials) {
  if (trials.n_without_score + trials.n_without_trial == 0) return "";
  return fmt::format("left out: {} trials without a score, {} scores without a trial",
                     trials.n_without_score, trials.n_without_trial);
}

std::string PrintedSimilarity(const SimilarityResult& result, const Panel& panel, bool json) {
  const Notes notes = SimilarityNotes(result);
  if (!json) return FormText(panel, notes);
  return FormJson({{"deid", JsonNumber(result.sigmoid_of_mean.deid)},
                   {"g_vd_db", JsonNumber(result.sigmoid_of_mean.g_vd_db)},
                   {"deid_geo", JsonNumber(result.geometric.deid)},
                   {"g_vd_geo_db", JsonNumber(result.geometric.g_vd_db)},
                   {"d_diag", JsonDominance(result.sigmoid_of_mean)},
                   {"d_diag_geo", JsonDominance(result.geometric)},
                   {"d_ece_op_oo", JsonNumber(result.d_ece_op_oo)},
                   {"cllr_min_op_oo", JsonNumber(result.cllr_min_op_oo)},
                   {"g_d_ece_db", JsonNumber(result.g_d_ece_db)},
                   {"g_cllr_min_db", JsonNumber(result.g_cllr_min_db)},
                   {"speakers", result.speakers},
                   {"oo", JsonView(result.oo)},
                   {"op", JsonView(result.op)},
                   {"pp", JsonView(result.pp)}},
                  panel, notes);
}

AssessPage SimilarityPage(const SimilarityResult& result, const Panel& panel,
                          const std::string& source) {
  return FormPage("Voice similarity of original and protected speech", source, panel,
                  SimilarityNotes(result), {SimilarityPlot(result), SimilarityZooPlot(result)}, {});
}

std::string PrintedTandem(const TandemResult& result, const Panel& panel,
                          const TandemOptions& options, bool json) {
  return json ? FormJson(JsonTandem(result, options), panel, TandemNotes(result))
              : FormText(panel, TandemNotes(result, /*attacks=*/true));
}

AssessPage TandemPage(const TandemScores& scores, const TandemResult& result, const Panel& panel,
                      const TandemOptions& options, const std::string& source) {
  std::vector<PageTable> tables;
  if (!result.per_attack.empty()) tables.push_back(AttackTable(result));
  return FormPage("Spoofing: tandem of countermeasure and speaker verification", source, panel,
                  TandemNotes(result), TandemPlots(scores, result, options), std::move(tables));
}

std::string PrintedFairness(const FairnessResult& result, const Panel& panel,
                            const FairnessSource& source, bool json) {
  const Notes notes = FairnessNotes(source);
  return json ? FormJson(JsonFairness(result), panel, notes) : FormText(panel, notes);
}

AssessPage FairnessPage(const FairnessResult& result, const Panel& panel,
                        const FairnessSource& source, const std::string& file) {
  return FormPage("Fairness across groups", file, panel, FairnessNotes(source),
                  FairnessPlots(FairnessCurve(source.trials.grouping.trials, source.options)),
                  {GroupTable(result), CriteriaTable(result)});
}

std::string PrintedLegal(const LegalResult& result, const Panel& panel, const LegalOptions& options,
                         const Trials& trials, bool json) {
  const Notes notes = LegalNotes(result, options, trials);
  if (!json) return FormText(panel, notes);
  return FormJson({{"linkability", JsonPoints(result.linkability)},
                   {"singling_out", JsonPoints(result.singling_out)},
                   {"n_enrol_speakers", result.n_enrol_speakers},
                   {"n_test_speakers", result.n_test_speakers},
                   {"n_utterances", result.n_utterances}},
                  panel, notes);
}

AssessPage LegalPage(const LegalResult& result, const Panel& panel, const LegalOptions& options,
                     const Trials& trials, const std::string& source) {
  return FormPage("Legal figures: linkability and singling out", source, panel,
                  LegalNotes(result, options, trials), LegalPlots(result), {});
}

std::string PrintedWer(const WerResult& result, const Panel& panel, TextNormaliser normaliser,
                       bool json) {
  const Notes notes = WerNotes(result, normaliser);
  return json ? FormJson(JsonWer(result, normaliser), panel, notes) : FormText(panel, notes);
}

AssessPage WerPage(const WerResult& result, const Panel& panel, TextNormaliser normaliser,
                   const std::string& source) {
  return FormPage("Word error rate", source, panel, WerNotes(result, normaliser), {WerPlot(result)},
                  {WorstUtterances(result)});
}

}  // namespace sotto
