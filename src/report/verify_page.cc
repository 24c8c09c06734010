#include "report/verify_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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
      {"speaker", "mean target LLR", "mean non-target LLR", "targets", "non-targets", "animal"},
      {}};
  for (std::size_t s = 0; s < std::min(zoo.size(), kListedSpeakers); ++s) {
    const ZooSpeaker& speaker = zoo[s];
    table.rows.push_back({speaker.name, fmt::format("{:.3f}", speaker.mean_tar_llr),
                          fmt::format("{:.3f}", speaker.mean_non_llr),
                          fmt::to_string(speaker.n_tar), fmt::to_string(speaker.n_non),
                          speaker.animal});
  }
  return table;
}

ordered_json JsonProfile(const EceProfile& profile) {
  return {{"prior_log_odds", profile.prior_log_odds},
          {"ece_default", profile.ece_default},
          {"ece_min", profile.ece_min},
          {"ece_act", JsonNumbers(profile.ece_act)},
          {"dcf_default", profile.dcf_default},
          {"dcf_min", profile.dcf_min},
          {"dcf_act", profile.dcf_act}};
}

ordered_json JsonPav(const Pav& pav) {
  ordered_json blocks = ordered_json::array();
  for (const PavBlock& b : pav.blocks) {
    blocks.push_back({{"score_lo", JsonNumber(b.low)},
                      {"score_hi", JsonNumber(b.high)},
                      {"n_tar", b.tar},
                      {"n_non", b.non},
                      {"posterior", b.posterior},
                      {"llr", JsonNumber(b.llr)}});
  }
  return blocks;
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
  ordered_json json = ordered_json::array();
  for (const ZooSpeaker& s : zoo) {
    json.push_back({{"speaker", s.name},
                    {"n_tar", s.n_tar},
                    {"n_non", s.n_non},
                    {"mean_tar", JsonNumber(s.mean_tar)},
                    {"mean_non", JsonNumber(s.mean_non)},
                    {"mean_tar_llr", JsonNumber(s.mean_tar_llr)},
                    {"mean_non_llr", JsonNumber(s.mean_non_llr)},
                    {"animal", s.animal}});
  }
  return json;
}

ordered_json JsonIdentification(const VerifyResult& result, ordered_json& rank) {
  if (!result.identification) {
    rank = nullptr;
    return nullptr;
  }
  const Identification& id = *result.identification;
  ordered_json top_k = ordered_json::object();
  for (std::size_t j = 0; j < id.k.size(); ++j) {
    top_k[fmt::format("{}", id.k[j])] = JsonNumber(id.top_k[j]);
  }
  rank = {{"mean", JsonNumber(id.mean_rank)},
          {"median", JsonNumber(id.median_rank)},
          {"n", id.queries.size()}};
  return top_k;
}

ordered_json ToJson(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                    const VerifyOptions& options) {
  const ScoreFigures& f = result.scores;
  ordered_json json;
  json["n_tar"] = result.n_tar;
  json["n_non"] = result.n_non;
  json["eer"] = f.eer;
  json["eer_kaldi"] = f.eer_kaldi;
  json["eer_rocch"] = f.eer_rocch;
  json["eer_argmin"] = f.eer_argmin;
  json["auc"] = f.auc;
  json["rocch_area_error"] = f.rocch_area_error;
  json["cllr"] = JsonNumber(f.cllr);
  json["cllr_min"] = f.cllr_min;
  json["cllr_cal"] = JsonNumber(f.cllr_cal);
  for (std::size_t i = 0; i < options.priors.size(); ++i) {
    const std::string prior = fmt::format("{}", options.priors[i]);
    json["min_dcf"][prior] = f.min_dcf[i];
    json["act_dcf"][prior] = f.act_dcf[i];
  }
  const Linkability linkability = MeasureLinkability(data, options.linkability);
  json["d_sys"] = JsonNumber(f.d_sys);
  json["d_sys_unbiased"] = JsonNumber(f.d_sys_unbiased);
  json["d_sys_bins"] = linkability.bins;
  json["omega"] = options.linkability.omega;
  const Pav pav = FitPav(data);
  json["zebra"] = {{"d_ece_bits", f.zebra.d_ece_bits},
                   {"worst_case_log10", f.zebra.worst_case_log10},
                   {"tag", std::string(1, f.zebra.tag)}};
  json["c_ece"] = nullptr;
  if (result.calibrated) {
    const CalibratedDisclosure& c = *result.calibrated;
    json["c_ece"] = {{"linear", JsonNumber(c.c_ece_linear)},
                     {"isotonic", JsonNumber(c.c_ece_isotonic)},
                     {"cllr_linear", JsonNumber(c.cllr_linear)},
                     {"cllr_isotonic", JsonNumber(c.cllr_isotonic)},
                     {"a", JsonNumber(c.linear.a)},
                     {"b", JsonNumber(c.linear.b)}};
    if (!c.remark.empty()) json["c_ece"]["remark"] = c.remark;
  }
  ordered_json rank;
  json["top_k"] = JsonIdentification(result, rank);
  json["rank"] = rank;
  json["bootstrap"] = result.bootstrap;
  for (const Figure& figure : result.figures) json["figures"][figure.name] = JsonFigure(figure);
  json["n_duplicates"] = trials.n_duplicates;
  json["n_without_score"] = trials.n_without_score;
  json["n_without_trial"] = trials.n_without_trial;
  json["maximal_linkability"] = {{"30", JsonNumber(MaximalLinkability(data, 30))},
                                 {"100", JsonNumber(MaximalLinkability(data, 100))}};
  json["ece_profile"] = JsonProfile(MakeEceProfile(data, pav));
  json["linkability"] = {{"score", linkability.centre},
                         {"d", linkability.d},
                         {"mated", linkability.mated},
                         {"non_mated", linkability.non_mated}};
  json["det"] = JsonDet(data);
  json["pav"] = JsonPav(pav);
  if (trials.HasSpeakers()) json["zoo"] = JsonZoo(MeasureZoo(trials, WithLaplace(pav)));
  if (!options.attacker.empty()) json["attacker"] = options.attacker;
  return json;
}

}  // namespace

std::string PrintedVerify(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                          const VerifyOptions& options, bool json) {
  if (json) return JsonText(ToJson(trials, data, result, options));
  std::string text;
  if (!options.attacker.empty()) text = fmt::format("attacker: {}\n", options.attacker);
  text += FiguresText(ShownFigures(result.figures));
  text += fmt::format("zebra.tag: {}\nintervals: {}\n", result.scores.zebra.tag, result.bootstrap);
  if (trials.n_duplicates > 0) {
    text += fmt::format("{} trials repeat another with the same score; every row counts\n",
                        trials.n_duplicates);
  }
  if (const std::string left_out = LeftOutText(trials); !left_out.empty()) text += left_out + "\n";
  return text;
}

AssessPage VerifyPage(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source) {
  AssessPage page;
  page.title = "Verification and disclosure";
  page.subtitle = source;
  page.figures = ShownFigures(result.figures);
  page.notes = {fmt::format("ZEBRA tag {}", result.scores.zebra.tag),
                "intervals: " + result.bootstrap};
  if (std::string left_out = LeftOutText(trials); !left_out.empty()) {
    page.notes.push_back(std::move(left_out));
  }
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

}  // namespace sotto
