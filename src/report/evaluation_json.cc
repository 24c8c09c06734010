// What `sotto evaluate --json` prints, and what its page says alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

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

const LadderRow* Lowest(const std::vector<LadderRow>& rows) {
  const std::size_t row = LowestRow(rows);
  return row == LadderResult::kNone ? nullptr : &rows[row];
}

const LadderRow* Unprotected(const Evaluation& evaluation) {
  return Lowest(evaluation.cells.front().attack.ladder.unprotected);
}

Figure ErrorRate(const char* name, const RecogniserJudgement& judgement, Side side,
                 const UtilitySummary::Errors* group) {
  const bool words = std::string_view(name) == "wer", original = side == Side::kOriginal;
  const UtilitySummary::Errors errors =
      group != nullptr ? *group
                       : UtilitySummary::Errors{judgement.original.words, judgement.released.words,
                                                judgement.original.chars, judgement.released.chars};
  const EditCounts& before = words ? errors.words_original : errors.chars_original;
  const EditCounts& after = words ? errors.words_released : errors.chars_released;
  Figure figure;
  figure.name = name;
  figure.remark = WhyNoRate(judgement, before);
  figure.value = !figure.remark.empty() ? std::nan("") : (original ? before : after).Rate();
  if (figure.remark.empty()) figure.counts = {{words ? "n_words" : "n_chars", before.n}};
  if (group == nullptr) {
    figure.interval = words ? (original ? judgement.wer_original : judgement.wer_released)
                            : (original ? judgement.cer_original : judgement.cer_released);
  }
  return figure;
}

const Figure* FindMeasure(const UtilityResult& result, Measure measure) {
  return FindFigure(result.figures, MeasureName(measure));
}

std::string SemiInformedText(const EvaluatedCell& cell) {
  return !cell.attacker_encoder.empty()
             ? fmt::format("full: encoder {}", cell.attacker_encoder_fingerprint.substr(0, 8))
             : "quick: no retrained encoder was given for this protection; back-end, mean and LDA "
               "alone were re-estimated, where background speech was given";
}

std::string ResidualRisk(const LadderResult& attacked, const LadderRow* unprotected) {
  const LadderRow* strongest = Lowest(attacked.rows);
  const Figure* eer = strongest != nullptr ? strongest->Find("eer") : nullptr;
  if (eer == nullptr || std::isnan(eer->value)) {
    return "No attacker was run: nothing is known about the protection.";
  }
  std::string text = fmt::format(
      "The {} attacker tells whether two recordings are of one person with an equal "
      "error rate of {:.1f} %{} (50 % is chance",
      Name(strongest->attacker), 100.0 * eer->value,
      eer->interval ? fmt::format(" [{:.1f}, {:.1f}]", 100.0 * eer->interval->low,
                                  100.0 * eer->interval->high)
                    : "");
  const Figure* before = unprotected != nullptr ? unprotected->Find("eer") : nullptr;
  const bool known = before != nullptr && std::isfinite(before->value);
  if (known) text += fmt::format("; {:.1f} % without protection", 100.0 * before->value);
  text += "). ";
  if (known && eer->interval && before->interval && eer->interval->low <= before->interval->high) {
    text +=
        "That is within the intervals of unprotected speech: against this attacker no protection "
        "was shown.";
  } else if (eer->value < 0.1) {
    text += "This attacker links most recordings of a person: the risk is high.";
  } else if (eer->value < 0.3) {
    text += "Recordings of a person can still be linked far better than by chance.";
  } else if (eer->value < 0.4) {
    text += "Linking is weak but clearly better than by chance.";
  } else {
    text += "None of the attackers that were run linked recordings much better than by chance.";
  }
  std::string missing;
  for (const std::size_t i : LowestRows(attacked.rows)) {
    if (attacked.rows[i].ran) continue;
    missing += (missing.empty() ? "" : ", ") + Name(attacked.rows[i].attacker);
  }
  if (!missing.empty()) text += fmt::format(" Not run: {}.", missing);
  text +=
      " A stronger attacker may exist. Words, rhythm, accent and background are not hidden by a "
      "change of voice.";
  return text;
}

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
