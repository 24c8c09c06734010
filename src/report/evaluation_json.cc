// What `sotto evaluate --json` prints.
#include <algorithm>
#include <cmath>

#include "report/attack_page.h"
#include "report/evaluation_report.h"
#include "report/json_values.h"
#include "report/utility_report.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

Json Ends(const Figure* figure) {
  if (figure == nullptr || !figure->interval) return nullptr;
  return {JsonNumber(figure->interval->low), JsonNumber(figure->interval->high)};
}

void PutPublishedDSys(JsonFields f, const LadderRow& row) {
  const Figure* figure = row.Find("d_sys");
  const bool few = figure != nullptr && IsUndefinedDSys(*figure);
  f("d_sys", few || figure == nullptr ? Json(nullptr) : JsonNumber(figure->value));
  f("d_sys_ci", few ? Json(nullptr) : Ends(figure));
  if (few) f("d_sys_reason", kFewTargets);
}

JsonFields RowJson(const LadderRow& row) {
  JsonFields f;
  f("attacker", Name(row.attacker))("status", row.ran ? "run" : "not run");
  f("eer", row.ran ? JsonNumber(row.Value("eer")) : Json(nullptr))("ci", Ends(row.Find("eer")));
  if (row.ran) {
    f("backend", row.backend)("l", row.l)("impostors", row.impostors);
    f("d_sys_unbiased", row.Value("d_sys_unbiased"));
    f("d_sys_unbiased_ci", Ends(row.Find("d_sys_unbiased")));
    PutPublishedDSys(f, row);
    f("zebra_bits", row.Value("zebra.d_ece_bits"));
    f("zebra_bits_ci", Ends(row.Find("zebra.d_ece_bits")));
    f("zebra_worst_case_log10", row.Value("zebra.worst_case_log10"));
    f("cllr_min", row.Value("cllr_min"))("top_1", row.Value("top_k.1"));
  }
  return f(row.ran ? "remark" : "reason", row.reason);
}

Json Attributes(const LadderResult& ladder) {
  Json json = Json::array();
  for (const LadderRow& row : ladder.rows) {
    if (row.LinksSpeakers()) continue;
    JsonFields f;
    f("attacker", Name(row.attacker))("classifier", row.backend);
    f("status", row.ran ? "run" : "not run");
    f("accuracy", row.ran ? JsonNumber(row.Value("gender_accuracy")) : Json(nullptr));
    f("ci", Ends(row.Find("gender_accuracy")))(row.ran ? "remark" : "reason", row.reason);
    json.push_back(f.json());
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
    JsonFields f;
    f("recogniser", judgement.name)(name, rate.value);
    if (group == nullptr) f("ci", Ends(&rate));
    f(words ? "n_words" : "n_chars",
      rate.counts.empty() ? Json(nullptr) : Json(rate.counts.front().second));
    if (words && group == nullptr && judgement.reason.empty()) {
      f("n_utterances", judgement.heard.size());
    }
    f("shares_model_with_method", judgement.shares_model_with_method);
    if (!rate.remark.empty()) f("reason", rate.remark);
    json.push_back(f.json());
  }
  return json;
}

// Value and reason.
void PutFigure(JsonFields f, const std::string& name, double value, const std::string& reason) {
  f(name, std::isfinite(value) ? Json(value) : Json(nullptr));
  if (!std::isfinite(value)) f(name + "_reason", reason);
}

// Value, interval and reason of a figure over all utterances.
void PutMeasure(JsonFields f, const std::string& name, const Figure* figure) {
  f(name, nullptr)(name + "_ci", Ends(figure));
  PutFigure(f, name, figure != nullptr ? figure->value : std::nan(""),
            figure != nullptr ? figure->remark : "not measured");
}

void PutGender(JsonFields f, const EvaluatedCell& cell, Gender gender) {
  const auto& attacked = cell.attack.by_gender;
  const auto found = std::find_if(attacked.begin(), attacked.end(),
                                  [&](const auto& each) { return each.gender == gender; });
  const Figure* eer = found != attacked.end() ? &found->eer : nullptr;
  f("eer", eer != nullptr ? JsonNumber(eer->value) : Json(nullptr))("ci", Ends(eer));
  if (eer == nullptr || std::isnan(eer->value)) {
    f("eer_reason", eer != nullptr ? eer->remark : "no attacker linked speakers");
  }
  const auto groups = ByGender(cell.utility);
  const auto group = groups.find(Name(gender));
  if (group == groups.end()) return;
  const UtilitySummary summary = Summarise(cell.utility, group->second);
  f("wer", Rates("wer", cell.utility, Side::kProtected, &summary));
  f("wer_original", Rates("wer", cell.utility, Side::kOriginal, &summary));
  for (const auto& [name, measure] : {std::pair("dnsmos_ovr", Measure::kOvrReleased),
                                      {"pitch_correlation", Measure::kPitchCorrelationLagged}}) {
    PutFigure(f, name, summary.means[static_cast<std::size_t>(measure)],
              WhyNoMean(cell.utility, measure));
  }
}

}  // namespace

Json CellJson(const EvaluatedCell& cell, const SpeakerNaming& naming,
              const LadderRow* unprotected) {
  const LadderResult& ladder = cell.attack.ladder;
  const LadderRow* strongest = Lowest(ladder.rows);
  JsonFields f;
  f("cell", cell.id)("method", cell.method)("parameters", cell.record.parameters);
  f("strategy", sotto::Name(cell.strategy))("randomness", cell.record.randomness);
  f("worst", strongest != nullptr ? RowJson(*strongest).json() : Json(nullptr));
  if (strongest == nullptr) f("worst_reason", "no attacker ran");
  f("legal", JsonList(cell.attack.legal, [](const CellAttack::Among& one) {
      JsonFields among;
      among("n", one.n);
      among("linkability", one.linkability)("linkability_chance", one.linkability_chance);
      return among("singling_out", one.singling_out)("singling_out_chance",
                                                     one.singling_out_chance);
    }));
  f("attackers",
    JsonList(LowestRows(ladder.rows), [&](std::size_t i) { return RowJson(ladder.rows[i]); }));
  f("attributes", Attributes(ladder));
  f("wer", Rates("wer", cell.utility, Side::kProtected));
  f("cer", Rates("cer", cell.utility, Side::kProtected));
  for (const auto& [name, measure] : {std::pair("dnsmos_ovr", Measure::kOvrReleased),
                                      {"dnsmos_sig", Measure::kSigReleased},
                                      {"dnsmos_bak", Measure::kBakReleased},
                                      {"pitch_correlation", Measure::kPitchCorrelationLagged},
                                      {"voicing_agreement", Measure::kVoicingAgreement}}) {
    PutMeasure(f, name, FindMeasure(cell.utility, measure));
  }
  PutMeasure(f, "g_vd_db", FindFigure(cell.utility.figures, "g_vd_db"));
  f("rtf", cell.protection.rtf);
  if (!cell.protection.rtf) f("rtf_reason", cell.protection.rtf_reason);
  for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
    PutGender(f("by_gender")(Name(gender)), cell, gender);
  }
  const std::span<const ZooSpeaker> exposed = ladder.exposed;
  f("exposed", JsonList(exposed.first(std::min(exposed.size(), kExposedSpeakers)),
                        [&](const ZooSpeaker& speaker) {
                          return ExposedJson(speaker, naming(speaker.name));
                        }));
  f("semi_informed", SemiInformedText(cell))("attack_notes", ladder.notes);
  f("bootstrap", strongest != nullptr ? strongest->bootstrap : "");
  return f("residual_risk", ResidualRisk(ladder, unprotected)).json();
}

Json ReferenceJson(const Evaluation& evaluation) {
  const EvaluatedCell& cell = evaluation.cells.front();
  const LadderRow* unprotected = Unprotected(evaluation);
  JsonFields f =
      unprotected != nullptr ? RowJson(*unprotected) : JsonFields()("eer", nullptr)("ci", nullptr);
  f("wer", Rates("wer", cell.utility, Side::kOriginal));
  PutMeasure(f, "dnsmos_ovr", FindMeasure(cell.utility, Measure::kOvrOriginal));
  return f.json();
}

std::string EvaluationJson(const Evaluation& evaluation, const SpeakerNaming& naming) {
  JsonFields f;
  f("sotto", evaluation.version)("measured", kMeasured);
  f("originals")("recordings", evaluation.recordings)("utterances", evaluation.utterances);
  f("originals")("speakers", evaluation.speakers);
  f("encoder")("name", evaluation.encoder)("fingerprint", evaluation.encoder_fingerprint);
  f("ladder", evaluation.quick ? "quick" : "full")("background", evaluation.background);
  f("seed", evaluation.seed);
  f("intervals")("resamples", evaluation.resamples)("level", evaluation.level);
  f("reference", ReferenceJson(evaluation));
  f("cells", JsonList(evaluation.cells, [&](const EvaluatedCell& cell) {
      return CellJson(cell, naming, Unprotected(evaluation));
    }));
  f("steps")("made", evaluation.steps_made)("found", evaluation.steps_found);
  return f.Text();
}

}  // namespace sotto
