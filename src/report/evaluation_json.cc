#include "report/evaluation_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/ladder_json.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

Json Ends(const Figure* figure) {
  if (figure == nullptr || !figure->interval) return nullptr;
  return {JsonNumber(figure->interval->low), JsonNumber(figure->interval->high)};
}

void PutPublishedDSys(Json& json, const LadderRow& row) {
  const Figure* figure = row.Find("d_sys");
  const bool few = figure != nullptr && IsUndefinedDSys(*figure);
  json["d_sys"] = few || figure == nullptr ? Json(nullptr) : JsonNumber(figure->value);
  json["d_sys_ci"] = few ? Json(nullptr) : Ends(figure);
  if (few) json["d_sys_reason"] = kFewTargets;
}

Json RowJson(const LadderRow& row) {
  Json json = {{"attacker", Name(row.attacker)}, {"status", row.ran ? "run" : "not run"}};
  json["eer"] = row.ran ? JsonNumber(row.Value("eer")) : Json(nullptr);
  json["ci"] = Ends(row.Find("eer"));
  if (row.ran) {
    json["backend"] = row.backend;
    json["l"] = row.l;
    json["impostors"] = row.impostors;
    json["d_sys_unbiased"] = JsonNumber(row.Value("d_sys_unbiased"));
    json["d_sys_unbiased_ci"] = Ends(row.Find("d_sys_unbiased"));
    PutPublishedDSys(json, row);
    json["zebra_bits"] = JsonNumber(row.Value("zebra.d_ece_bits"));
    json["zebra_bits_ci"] = Ends(row.Find("zebra.d_ece_bits"));
    json["zebra_worst_case_log10"] = JsonNumber(row.Value("zebra.worst_case_log10"));
    json["cllr_min"] = JsonNumber(row.Value("cllr_min"));
    json["top_1"] = JsonNumber(row.Value("top_k.1"));
  }
  json[row.ran ? "remark" : "reason"] = row.reason;
  return json;
}

Json Attributes(const LadderResult& ladder) {
  Json json = Json::array();
  for (const LadderRow& row : ladder.rows) {
    if (row.LinksSpeakers()) continue;
    Json one = {{"attacker", Name(row.attacker)}, {"classifier", row.backend}};
    one["status"] = row.ran ? "run" : "not run";
    one["accuracy"] = row.ran ? JsonNumber(row.Value("gender_accuracy")) : Json(nullptr);
    one["ci"] = Ends(row.Find("gender_accuracy"));
    one[row.ran ? "remark" : "reason"] = row.reason;
    json.push_back(std::move(one));
  }
  return json;
}

// Each recogniser's error rate on one side; `group`: of these utterances alone.
Json Rates(const char* name, const UtilityResult& utility, Side side,
           const UtilitySummary* group = nullptr) {
  Json json = Json::array();
  for (std::size_t k = 0; k < utility.recognisers.size(); ++k) {
    const RecogniserJudgement& judgement = utility.recognisers[k];
    const Figure rate =
        ErrorRate(name, judgement, side, group != nullptr ? &group->recognisers[k] : nullptr);
    const bool words = rate.name == "wer";
    Json one = {{"recogniser", judgement.name}, {name, JsonNumber(rate.value)}};
    if (group == nullptr) one["ci"] = Ends(&rate);
    one[words ? "n_words" : "n_chars"] =
        rate.counts.empty() ? Json(nullptr) : Json(rate.counts.front().second);
    if (words && group == nullptr && judgement.reason.empty()) {
      one["n_utterances"] = judgement.heard.size();
    }
    one["shares_model_with_method"] = judgement.shares_model_with_method
                                          ? Json(*judgement.shares_model_with_method)
                                          : Json(nullptr);
    if (!rate.remark.empty()) one["reason"] = rate.remark;
    json.push_back(std::move(one));
  }
  return json;
}

// Value and reason.
void PutFigure(Json& json, const std::string& name, const Figure* figure) {
  const bool known = figure != nullptr && std::isfinite(figure->value);
  json[name] = known ? Json(figure->value) : Json(nullptr);
  if (!known) json[name + "_reason"] = figure != nullptr ? figure->remark : "not measured";
}

// Value, interval and reason of a figure over all utterances.
void PutMeasure(Json& json, const std::string& name, const Figure* figure) {
  json[name] = nullptr;
  json[name + "_ci"] = Ends(figure);
  PutFigure(json, name, figure);
}

Json ByGenderJson(const EvaluatedCell& cell) {
  Json json = Json::object();
  const auto groups = ByGender(cell.utility);
  for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
    Json one;
    const auto& attacked = cell.attack.by_gender;
    const auto found = std::find_if(attacked.begin(), attacked.end(),
                                    [&](const auto& each) { return each.gender == gender; });
    const bool known = found != attacked.end();
    one["eer"] = known ? JsonNumber(found->eer.value) : Json(nullptr);
    one["ci"] = known ? Ends(&found->eer) : Json(nullptr);
    if (one["eer"].is_null()) {
      one["eer_reason"] = known ? found->eer.remark : "no attacker linked speakers";
    }
    if (const auto group = groups.find(Name(gender)); group != groups.end()) {
      const UtilitySummary summary = Summarise(cell.utility, group->second);
      one["wer"] = Rates("wer", cell.utility, Side::kProtected, &summary);
      one["wer_original"] = Rates("wer", cell.utility, Side::kOriginal, &summary);
      const auto put = [&](const char* name, Measure measure) {
        const Figure mean = GroupMean(cell.utility, summary, measure);
        PutFigure(one, name, &mean);
      };
      put("dnsmos_ovr", Measure::kOvrReleased);
      put("pitch_correlation", Measure::kPitchCorrelationLagged);
    }
    json[Name(gender)] = std::move(one);
  }
  return json;
}

Json LegalJson(const CellAttack& attack) {
  Json json = Json::array();
  for (const CellAttack::Among& one : attack.legal) {
    json.push_back({{"n", one.n},
                    {"linkability", JsonNumber(one.linkability)},
                    {"linkability_chance", one.linkability_chance},
                    {"singling_out", JsonNumber(one.singling_out)},
                    {"singling_out_chance", one.singling_out_chance}});
  }
  return json;
}

}  // namespace

Json CellJson(const EvaluatedCell& cell, const SpeakerNaming& naming,
              const LadderRow* unprotected) {
  const LadderResult& ladder = cell.attack.ladder;
  Json json = {{"cell", cell.id}, {"method", cell.method}};
  json["parameters"] = cell.record.parameters;
  json["strategy"] = sotto::Name(cell.strategy);
  json["randomness"] = cell.record.randomness;
  const LadderRow* strongest = Lowest(ladder.rows);
  json["worst"] = strongest != nullptr ? RowJson(*strongest) : Json(nullptr);
  if (strongest == nullptr) json["worst_reason"] = "no attacker ran";
  json["legal"] = LegalJson(cell.attack);
  json["attackers"] = Json::array();
  for (const std::size_t i : LowestRows(ladder.rows)) {
    json["attackers"].push_back(RowJson(ladder.rows[i]));
  }
  json["attributes"] = Attributes(ladder);
  json["wer"] = Rates("wer", cell.utility, Side::kProtected);
  json["cer"] = Rates("cer", cell.utility, Side::kProtected);
  const auto put = [&](const char* name, Measure measure) {
    PutMeasure(json, name, FindMeasure(cell.utility, measure));
  };
  put("dnsmos_ovr", Measure::kOvrReleased);
  put("dnsmos_sig", Measure::kSigReleased);
  put("dnsmos_bak", Measure::kBakReleased);
  put("pitch_correlation", Measure::kPitchCorrelationLagged);
  put("voicing_agreement", Measure::kVoicingAgreement);
  PutMeasure(json, "g_vd_db", FindFigure(cell.utility.figures, "g_vd_db"));
  json["rtf"] = cell.protection.rtf ? Json(*cell.protection.rtf) : Json(nullptr);
  if (!cell.protection.rtf) json["rtf_reason"] = cell.protection.rtf_reason;
  json["by_gender"] = ByGenderJson(cell);
  json["exposed"] = Json::array();
  for (const ZooSpeaker& speaker : ladder.exposed) {
    if (json["exposed"].size() == kExposedSpeakers) break;
    json["exposed"].push_back({{"speaker", naming(speaker.name)},
                               {"mean_tar_llr", JsonNumber(speaker.mean_tar_llr)},
                               {"mean_non_llr", JsonNumber(speaker.mean_non_llr)},
                               {"n_tar", speaker.n_tar},
                               {"n_non", speaker.n_non}});
  }
  json["semi_informed"] = SemiInformedText(cell);
  json["attack_notes"] = ladder.notes;
  json["bootstrap"] = strongest != nullptr ? strongest->bootstrap : "";
  json["residual_risk"] = ResidualRisk(ladder, unprotected);
  return json;
}

Json ReferenceJson(const Evaluation& evaluation) {
  const EvaluatedCell& cell = evaluation.cells.front();
  const LadderRow* unprotected = Unprotected(evaluation);
  Json json =
      unprotected != nullptr ? RowJson(*unprotected) : Json{{"eer", nullptr}, {"ci", nullptr}};
  json["wer"] = Rates("wer", cell.utility, Side::kOriginal);
  PutMeasure(json, "dnsmos_ovr", FindMeasure(cell.utility, Measure::kOvrOriginal));
  return json;
}

std::string EvaluationJson(const Evaluation& evaluation, const SpeakerNaming& naming) {
  Json json = {{"sotto", evaluation.version}, {"measured", kMeasured}};
  json["originals"] = {{"recordings", evaluation.recordings},
                       {"utterances", evaluation.utterances},
                       {"speakers", evaluation.speakers}};
  json["encoder"] = {{"name", evaluation.encoder}, {"fingerprint", evaluation.encoder_fingerprint}};
  json["ladder"] = evaluation.quick ? "quick" : "full";
  json["background"] = evaluation.background;
  json["seed"] = evaluation.seed ? Json(*evaluation.seed) : Json(nullptr);
  json["intervals"] = {{"resamples", evaluation.resamples}, {"level", evaluation.level}};
  json["reference"] = ReferenceJson(evaluation);
  json["cells"] = Json::array();
  for (const EvaluatedCell& cell : evaluation.cells) {
    json["cells"].push_back(CellJson(cell, naming, Unprotected(evaluation)));
  }
  json["steps"] = {{"made", evaluation.steps_made}, {"found", evaluation.steps_found}};
  return JsonText(json);
}

}  // namespace sotto
