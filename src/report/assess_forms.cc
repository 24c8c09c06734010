#include "report/assess_forms.h"

#include <fmt/format.h>

#include <utility>

#include "report/assess_plots.h"
#include "report/attack_page.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;
using Notes = std::vector<std::string>;

constexpr std::size_t kDetPoints = 600;
constexpr std::size_t kJsonDetPoints = 1000;
constexpr std::size_t kListedSpeakers = 20;

std::string FormText(const Panel& panel, const Notes& notes) {
  return FiguresText(panel.figures) + "intervals: " + panel.bootstrap + "\n" + Lines(notes);
}

// `json` is what comes before the figures, `fill` adds plots and tables.
AssessForm MakeForm(const std::string& title, const std::string& source, const Panel& panel,
                    const Notes& notes, const std::function<JsonFields()>& json,
                    const std::function<void(AssessPage&)>& fill) {
  AssessForm form;
  form.json = [=, &panel] {
    JsonFields f = json();
    f("bootstrap", panel.bootstrap)("notes", notes);
    for (const Figure& figure : panel.figures) f("figures")(figure.name, figure);
    return f.Text();
  };
  form.text = [=, &panel] { return FormText(panel, notes); };
  form.page = [=, &panel] {
    AssessPage page{title, source, panel.figures, notes};
    page.notes.push_back("intervals: " + panel.bootstrap);
    fill(page);
    return page;
  };
  return form;
}

ordered_json JsonMatrix(const SimilarityMatrix& matrix) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < matrix.n; ++i) {
    const auto row = matrix.values.begin() + static_cast<std::ptrdiff_t>(i * matrix.n);
    rows.push_back(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(matrix.n)));
  }
  return rows;
}

JsonFields JsonView(const SimilarityView& view) {
  JsonFields f;
  f("d_ece_bits", view.d_ece_bits)("cllr_min", view.cllr_min);
  f("n_tar", view.n_tar)("n_non", view.n_non);
  f("n_identical_removed", view.data.n_identical_removed);
  f("matrix", JsonMatrix(view.sigmoid_of_mean))("matrix_geo", JsonMatrix(view.geometric));
  return f;
}

JsonFields JsonSimilarity(const SimilarityResult& result) {
  JsonFields f;
  const SimilarityFigures &mean = result.sigmoid_of_mean, &geo = result.geometric;
  f("deid", mean.deid)("g_vd_db", mean.g_vd_db)("deid_geo", geo.deid)("g_vd_geo_db", geo.g_vd_db);
  f("d_diag")("oo", mean.d_diag_oo)("op", mean.d_diag_op)("pp", mean.d_diag_pp);
  f("d_diag_geo")("oo", geo.d_diag_oo)("op", geo.d_diag_op)("pp", geo.d_diag_pp);
  f("d_ece_op_oo", result.d_ece_op_oo)("cllr_min_op_oo", result.cllr_min_op_oo);
  f("g_d_ece_db", result.g_d_ece_db)("g_cllr_min_db", result.g_cllr_min_db);
  f("speakers", result.speakers);
  f("oo", JsonView(result.oo))("op", JsonView(result.op))("pp", JsonView(result.pp));
  return f;
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

std::optional<double> Cost(const std::optional<MinimumCost>& cost) {
  return cost ? std::optional(cost->value) : std::nullopt;
}

void PutAttack(JsonFields f, const AttackResult& attack) {
  f("min_tdcf_2019", Cost(attack.min_tdcf_2019))("min_tdcf_2021", Cost(attack.min_tdcf_2021));
  f("cm_eer", attack.cm_eer)("cm_eer_interpolated", attack.cm_eer_interpolated);
  f("p_fa_spoof_asv", attack.p_fa_spoof_asv)("n_asv_spoof", attack.n_asv);
  f("n_cm_spoof", attack.n_cm);
  if (!attack.min_tdcf_2019) return;
  f("min_tdcf_2019_threshold", attack.min_tdcf_2019->threshold);
  f("min_tdcf_2021_threshold", attack.min_tdcf_2021->threshold);
}

void PutCosts(JsonFields f, const TandemCosts& costs) {
  f("p_tar", costs.p_tar)("p_non", costs.p_non)("p_spoof", costs.p_spoof);
  f("c_miss", costs.c_miss)("c_fa", costs.c_fa)("c_fa_spoof", costs.c_fa_spoof);
}

JsonFields JsonTandem(const TandemResult& result, const TandemOptions& options) {
  JsonFields f;
  PutAttack(f, result.pooled);
  f("t_eer", result.t_eer)("a_dcf", Cost(result.a_dcf))("a_dcf_system", result.a_dcf_system);
  f("a_dcf_tdcf_costs", Cost(result.a_dcf_tdcf_costs))("a_dcf_asv", Cost(result.a_dcf_asv));
  f("a_dcf_asv_tdcf_costs", Cost(result.a_dcf_asv_tdcf_costs));
  f("sv_eer", result.sv_eer)("spf_eer", result.spf_eer)("sasv_eer", result.sasv_eer);
  f("spf_eer_asv", result.spf_eer_asv)("sasv_eer_asv", result.sasv_eer_asv);
  f("spf_eer_cm", result.spf_eer_cm);
  if (const auto& asv = result.asv) {
    f("asv")("eer", asv->eer)("threshold", asv->threshold)("p_miss", asv->p_miss);
    f("asv")("p_fa", asv->p_fa)("p_fa_spoof", asv->p_fa_spoof);
  }
  f("n_asv_tar", result.n_asv_tar)("n_asv_non", result.n_asv_non)("n_cm_bona", result.n_cm_bona);
  PutCosts(f("costs")("tdcf"), options.costs);
  PutCosts(f("costs")("a_dcf"), options.adcf_costs);
  f("per_attack", ordered_json::object());
  for (const AttackResult& attack : result.per_attack) {
    PutAttack(f("per_attack")(attack.attack), attack);
  }
  return f;
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

void PutByAlpha(JsonFields f, const std::vector<double>& alphas,
                const std::vector<double>& values) {
  for (std::size_t a = 0; a < alphas.size(); ++a) f(fmt::format("{:g}", alphas[a]), values[a]);
}

void PutByGroup(JsonFields f, const FairnessResult& result, const std::vector<double>& values) {
  for (std::size_t g = 0; g < values.size(); ++g) f(result.groups[g], values[g]);
}

JsonFields JsonPoint(const FairnessResult& result, const FairnessPoint& point) {
  JsonFields f;
  f("pooled_fmr_target", point.pooled_fmr_target)("threshold", point.threshold);
  f("pooled_fmr", point.pooled_fmr)("pooled_fnmr", point.pooled_fnmr);
  PutByGroup(f("fmr"), result, point.fmr);
  PutByGroup(f("fnmr"), result, point.fnmr);
  PutByAlpha(f("fdr"), result.alphas, point.fdr);
  PutByAlpha(f("ir"), result.alphas, point.ir);
  PutByAlpha(f("garbe"), result.alphas, point.garbe);
  JsonFields terms = f("terms");
  terms("fdr")("fpd", point.fdr_terms.fpd)("fnd", point.fdr_terms.fnd);
  terms("ir")("fpd", point.ir_terms.fpd)("fnd", point.ir_terms.fnd);
  terms("garbe")("fpd", point.garbe_terms.fpd)("fnd", point.garbe_terms.fnd);
  return f;
}

JsonFields JsonFairness(const FairnessResult& result) {
  JsonFields f;
  f("groups", result.groups);
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    f("counts")(result.groups[g])("target", result.n_tar[g])("nontarget", result.n_non[g]);
  }
  f("alphas", result.alphas);
  f("operating_points",
    JsonList(result.points, [&](const FairnessPoint& point) { return JsonPoint(result, point); }));
  PutByAlpha(f("au_fdr_linear"), result.alphas, result.au_fdr_linear);
  PutByAlpha(f("au_fdr_log"), result.alphas, result.au_fdr_log);
  for (const FairnessCriteria& one : result.criteria) {
    JsonFields metric = f("ffmc")(one.metric);
    metric("ffmc1_fpd_fnd_ratio", one.ffmc1_ratio);
    metric("ffmc2_lowest", one.ffmc2_lowest)("ffmc2_highest", one.ffmc2_highest);
    metric("ffmc2_bounded", one.ffmc2_bounded)("ffmc3_computable", one.ffmc3_computable);
  }
  return f;
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
  const Notes left_out = LeftOutNotes(source.trials.trials);
  notes.insert(notes.end(), left_out.begin(), left_out.end());
  return notes;
}

ordered_json JsonPoints(const std::vector<LegalPoint>& points) {
  return JsonList(points, [](const LegalPoint& point) {
    return JsonFields()("N", point.n)("L", point.l)("value", point.value)("chance", point.chance)(
        "n_tried", point.n_tried);
  });
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
  const Notes left_out = LeftOutNotes(trials);
  notes.insert(notes.end(), left_out.begin(), left_out.end());
  return notes;
}

JsonFields JsonWer(const WerResult& result, TextNormaliser normaliser) {
  JsonFields f;
  const EditCounts &words = result.words, &chars = result.chars, &close = result.chars_no_spaces;
  f("wer", words.Rate())("cer", chars.Rate())("cer_no_spaces", close.Rate());
  f("sub", words.sub)("del", words.del)("ins", words.ins)("n", words.n);
  f("errors", words.Errors())("hits", words.hits);
  f("chars")("errors", chars.Errors())("n", chars.n);
  f("chars")("errors_no_spaces", close.Errors())("n_no_spaces", close.n);
  f("utterances", result.utterances)("utterances_with_errors", result.utterances_with_errors);
  f("without_hypothesis", result.without_hypothesis);
  f("without_reference", result.without_reference);
  f("normaliser", TextNormaliserName(normaliser));
  f("per_utterance", JsonList(result.per_utterance, [](const UtteranceErrors& one) {
      JsonFields counts;
      counts("utt", one.id)("n", one.words.n)("sub", one.words.sub)("del", one.words.del);
      return counts("ins", one.words.ins);
    }));
  return f;
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

PageTable ExposedSpeakers(const std::vector<ZooSpeaker>& zoo) {
  PageTable table = ExposedTable("Most exposed speakers", zoo, kListedSpeakers, 3);
  table.header.emplace_back("animal");
  for (std::size_t s = 0; s < table.rows.size(); ++s) table.rows[s].push_back(zoo[s].animal);
  return table;
}

void PutProfile(JsonFields f, const EceProfile& profile) {
  f("prior_log_odds", profile.prior_log_odds)("ece_default", profile.ece_default);
  f("ece_min", profile.ece_min)("ece_act", JsonNumbers(profile.ece_act));
  f("dcf_default", profile.dcf_default)("dcf_min", profile.dcf_min)("dcf_act", profile.dcf_act);
}

ordered_json JsonPav(const Pav& pav) {
  return JsonList(pav.blocks, [](const PavBlock& b) {
    JsonFields f;
    f("score_lo", b.low)("score_hi", b.high)("n_tar", b.tar)("n_non", b.non);
    return f("posterior", b.posterior)("llr", b.llr);
  });
}

ordered_json JsonDet(const ScoreLevels& data) {
  ordered_json det;
  for (const RocPoint& point : RocPoints(data, kJsonDetPoints)) {
    det["threshold"].push_back(JsonNumber(point.threshold));
    det["pmiss"].push_back(point.miss);
    det["pfa"].push_back(point.false_alarm);
  }
  return det;
}

ordered_json JsonZoo(const std::vector<ZooSpeaker>& zoo) {
  return JsonList(zoo, [](const ZooSpeaker& s) {
    JsonFields f;
    f("speaker", s.name)("n_tar", s.n_tar)("n_non", s.n_non);
    f("mean_tar", s.mean_tar)("mean_non", s.mean_non);
    f("mean_tar_llr", s.mean_tar_llr)("mean_non_llr", s.mean_non_llr);
    return f("animal", s.animal);
  });
}

void PutIdentification(JsonFields f, const std::optional<Identification>& identification) {
  f("top_k", nullptr)("rank", nullptr);
  if (!identification) return;
  const Identification& id = *identification;
  f("top_k", ordered_json::object());
  for (std::size_t j = 0; j < id.k.size(); ++j) {
    f("top_k")(fmt::format("{}", id.k[j]), id.top_k[j]);
  }
  f("rank")("mean", id.mean_rank)("median", id.median_rank)("n", id.queries.size());
}

std::string VerifyJson(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                       const VerifyOptions& options) {
  const ScoreFigures& s = result.scores;
  JsonFields f;
  f("n_tar", result.n_tar)("n_non", result.n_non)("eer", s.eer)("eer_kaldi", s.eer_kaldi);
  f("eer_rocch", s.eer_rocch)("eer_argmin", s.eer_argmin)("auc", s.auc);
  f("rocch_area_error", s.rocch_area_error);
  f("cllr", s.cllr)("cllr_min", s.cllr_min)("cllr_cal", s.cllr_cal);
  for (std::size_t i = 0; i < options.priors.size(); ++i) {
    const std::string prior = fmt::format("{}", options.priors[i]);
    f("min_dcf")(prior, s.min_dcf[i]);
    f("act_dcf")(prior, s.act_dcf[i]);
  }
  const Linkability linkability = MeasureLinkability(data, options.linkability);
  f("d_sys", s.d_sys)("d_sys_unbiased", s.d_sys_unbiased)("d_sys_bins", linkability.bins);
  f("omega", options.linkability.omega);
  const Pav pav = FitPav(data);
  f("zebra")("d_ece_bits", s.zebra.d_ece_bits)("worst_case_log10", s.zebra.worst_case_log10);
  f("zebra")("tag", std::string(1, s.zebra.tag));
  f("c_ece", nullptr);
  if (const auto& c = result.calibrated) {
    f("c_ece")("linear", c->c_ece_linear)("isotonic", c->c_ece_isotonic);
    f("c_ece")("cllr_linear", c->cllr_linear)("cllr_isotonic", c->cllr_isotonic);
    f("c_ece")("a", c->linear.a)("b", c->linear.b);
    if (!c->remark.empty()) f("c_ece")("remark", c->remark);
  }
  PutIdentification(f, result.identification);
  f("bootstrap", result.bootstrap);
  for (const Figure& figure : result.figures) f("figures")(figure.name, figure);
  f("n_duplicates", trials.n_duplicates)("n_without_score", trials.n_without_score);
  f("n_without_trial", trials.n_without_trial);
  for (const int n : {30, 100}) {
    f("maximal_linkability")(fmt::to_string(n), MaximalLinkability(data, n));
  }
  PutProfile(f("ece_profile"), MakeEceProfile(data, pav));
  f("linkability")("score", linkability.centre)("d", linkability.d);
  f("linkability")("mated", linkability.mated)("non_mated", linkability.non_mated);
  f("det", JsonDet(data))("pav", JsonPav(pav));
  if (trials.HasSpeakers()) f("zoo", JsonZoo(MeasureZoo(trials, WithLaplace(pav))));
  if (!options.attacker.empty()) f("attacker", options.attacker);
  return f.Text();
}

std::string VerifyText(const Trials& trials, const VerifyResult& result,
                       const VerifyOptions& options) {
  std::string text;
  if (!options.attacker.empty()) text = fmt::format("attacker: {}\n", options.attacker);
  text += FiguresText(ShownFigures(result.figures));
  text += fmt::format("zebra.tag: {}\nintervals: {}\n", result.scores.zebra.tag, result.bootstrap);
  if (trials.n_duplicates > 0) {
    text += fmt::format("{} trials repeat another with the same score; every row counts\n",
                        trials.n_duplicates);
  }
  return text + Lines(LeftOutNotes(trials));
}

AssessPage VerifyPage(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source) {
  AssessPage page;
  page.title = "Verification and disclosure";
  page.subtitle = source;
  page.figures = ShownFigures(result.figures);
  page.notes = {fmt::format("ZEBRA tag {}", result.scores.zebra.tag),
                "intervals: " + result.bootstrap};
  for (const std::string& note : LeftOutNotes(trials)) page.notes.push_back(note);
  const Pav pav = FitPav(data);
  page.plots = {
      EcePlot(MakeEceProfile(data, pav)),
      ScoreHistogram("scores", "Score histograms", "same speaker", "different speakers", data),
      DetPlot(RocPoints(data, kDetPoints)), CalibrationPlot(data)};
  const Linkability linkability = MeasureLinkability(data, options.linkability);
  if (linkability.d.empty()) {
    page.notes.emplace_back("linkability D(s): undefined, too few targets for the published bins");
  } else {
    page.plots.push_back(LinkabilityPlot(linkability));
  }
  if (trials.HasSpeakers()) {
    const std::vector<ZooSpeaker> zoo = MeasureZoo(trials, WithLaplace(pav));
    page.plots.push_back(ZooPlot(zoo));
    page.tables.push_back(ExposedSpeakers(zoo));
  }
  return page;
}

}  // namespace

Notes LeftOutNotes(const Trials& trials) {
  if (trials.n_without_score + trials.n_without_trial == 0) return {};
  return {fmt::format("left out: {} trials without a score, {} scores without a trial",
                      trials.n_without_score, trials.n_without_trial)};
}

AssessForm SimilarityForm(const SimilarityResult& result, const Panel& panel,
                          const std::string& source) {
  return MakeForm(
      "Voice similarity of original and protected speech", source, panel, SimilarityNotes(result),
      [&] { return JsonSimilarity(result); },
      [&](AssessPage& page) {
        page.plots = {SimilarityPlot(result), SimilarityZooPlot(result)};
      });
}

AssessForm TandemForm(const TandemScores& scores, const TandemResult& result, const Panel& panel,
                      const TandemOptions& options, const std::string& source) {
  AssessForm form = MakeForm(
      "Spoofing: tandem of countermeasure and speaker verification", source, panel,
      TandemNotes(result), [&] { return JsonTandem(result, options); },
      [&](AssessPage& page) {
        page.plots = TandemPlots(scores, result, options);
        if (!result.per_attack.empty()) page.tables = {AttackTable(result)};
      });
  form.text = [&] { return FormText(panel, TandemNotes(result, /*attacks=*/true)); };
  return form;
}

AssessForm FairnessForm(const FairnessResult& result, const Panel& panel,
                        const FairnessSource& source, const std::string& file) {
  return MakeForm(
      "Fairness across groups", file, panel, FairnessNotes(source),
      [&] { return JsonFairness(result); },
      [&](AssessPage& page) {
        page.plots = FairnessPlots(FairnessCurve(source.trials.grouping.trials, source.options));
        page.tables = {GroupTable(result), CriteriaTable(result)};
      });
}

AssessForm LegalForm(const LegalResult& result, const Panel& panel, const LegalOptions& options,
                     const Trials& trials, const std::string& source) {
  return MakeForm(
      "Legal figures: linkability and singling out", source, panel,
      LegalNotes(result, options, trials),
      [&] {
        JsonFields f;
        f("linkability", JsonPoints(result.linkability));
        f("singling_out", JsonPoints(result.singling_out));
        f("n_enrol_speakers", result.n_enrol_speakers);
        f("n_test_speakers", result.n_test_speakers)("n_utterances", result.n_utterances);
        return f;
      },
      [&](AssessPage& page) { page.plots = LegalPlots(result); });
}

AssessForm WerForm(const WerResult& result, const Panel& panel, TextNormaliser normaliser,
                   const std::string& source) {
  return MakeForm(
      "Word error rate", source, panel, WerNotes(result, normaliser),
      [&result, normaliser] { return JsonWer(result, normaliser); },
      [&](AssessPage& page) {
        page.plots = {WerPlot(result)};
        page.tables = {WorstUtterances(result)};
      });
}

AssessForm VerifyForm(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source) {
  return {[&] { return VerifyJson(trials, data, result, options); },
          [&] { return VerifyText(trials, result, options); },
          [&, source] { return VerifyPage(trials, data, result, options, source); }};
}

}  // namespace sotto
