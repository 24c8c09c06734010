// sotto assess verify: as JSON, as text and as a page.
#include <fmt/format.h>

#include "report/assess_forms.h"
#include "report/assess_plots.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kDetPoints = 600;
constexpr std::size_t kJsonDetPoints = 1000;
constexpr std::size_t kListedSpeakers = 20;

PageTable ExposedSpeakers(const std::vector<ZooSpeaker>& zoo) {
  PageTable table{
      "Most exposed speakers",
      {"speaker", "mean target LLR", "mean non-target LLR", "targets", "non-targets", "animal"}};
  for (std::size_t s = 0; s < std::min(zoo.size(), kListedSpeakers); ++s) {
    const ZooSpeaker& speaker = zoo[s];
    table.rows.push_back({speaker.name, fmt::format("{:.3f}", speaker.mean_tar_llr),
                          fmt::format("{:.3f}", speaker.mean_non_llr),
                          fmt::to_string(speaker.n_tar), fmt::to_string(speaker.n_non),
                          speaker.animal});
  }
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

AssessForm VerifyForm(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source) {
  return {[&] { return VerifyJson(trials, data, result, options); },
          [&] { return VerifyText(trials, result, options); },
          [&, source] { return VerifyPage(trials, data, result, options, source); }};
}

}  // namespace sotto
