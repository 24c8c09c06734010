#include "evaluate/evaluation_json.h"

#include <fmt/format.h>

#include <cmath>

#include "assess/linkability.h"
#include "report/ladder_json.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kExposedSpeakers = 5;

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
  Json json = {{"attacker", row.attacker}, {"status", row.ran ? "run" : "not run"}};
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

// The row with the lowest EER of those that ran; null when none did.
const LadderRow* Lowest(const std::vector<LadderRow>& rows) {
  const LadderRow* lowest = nullptr;
  for (const LadderRow& row : rows) {
    if (!row.ran || !row.links_speakers) continue;
    if (lowest == nullptr || row.Value("eer") < lowest->Value("eer")) lowest = &row;
  }
  return lowest;
}

// Each attacker's lowest EER over back-ends, L and both kinds of impostors.
Json Attackers(const LadderResult& ladder) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<LadderRow>> by_attacker;
  for (const LadderRow& row : ladder.rows) {
    if (!row.links_speakers) continue;
    if (by_attacker[row.attacker].empty()) order.push_back(row.attacker);
    by_attacker[row.attacker].push_back(row);
  }
  Json json = Json::array();
  for (const std::string& attacker : order) {
    const std::vector<LadderRow>& rows = by_attacker[attacker];
    const LadderRow* lowest = Lowest(rows);
    json.push_back(RowJson(lowest != nullptr ? *lowest : rows.front()));
  }
  return json;
}

Json Gender(const LadderResult& ladder) {
  Json json = Json::array();
  for (const LadderRow& row : ladder.rows) {
    if (row.links_speakers) continue;
    Json one = {{"attacker", row.attacker}, {"classifier", row.backend}};
    one["status"] = row.ran ? "run" : "not run";
    one["accuracy"] = row.ran ? JsonNumber(row.Value("gender_accuracy")) : Json(nullptr);
    one["ci"] = Ends(row.Find("gender_accuracy"));
    one[row.ran ? "remark" : "reason"] = row.reason;
    json.push_back(std::move(one));
  }
  return json;
}

// `side` of each recogniser's error rate; `name`: "wer" or "cer".
Json Rates(const Json& entries, const char* name, const char* side, const char* ci) {
  Json json = Json::array();
  for (const Json& entry : entries) {
    Json one = {{"recogniser", entry.at("recogniser")}, {name, entry.at(side)}};
    if (entry.contains(ci)) one["ci"] = entry[ci];
    for (const char* key :
         {"n_words", "n_chars", "n_utterances", "shares_model_with_method", "reason"}) {
      if (entry.contains(key)) one[key] = entry[key];
    }
    json.push_back(std::move(one));
  }
  return json;
}

// A figure of utility.json by its dotted name: value, interval and reason.
void PutFigure(Json& json, const std::string& name, const Json& utility, const std::string& path) {
  const Json* value = &utility;
  std::size_t at = 0;
  while (value != nullptr && at != std::string::npos) {
    const std::size_t dot = path.find('.', at);
    const std::string key = path.substr(at, dot == std::string::npos ? dot : dot - at);
    const auto found = value->find(key);
    value = found == value->end() ? nullptr : &*found;
    at = dot == std::string::npos ? dot : dot + 1;
  }
  json[name] = value != nullptr ? *value : Json(nullptr);
  if (utility.contains("ci")) {
    const auto ci = utility["ci"].find(path);
    json[name + "_ci"] = ci != utility["ci"].end() ? *ci : Json(nullptr);
  }
  if (!json[name].is_null()) return;
  const auto reasons = utility.find("reason");
  const bool known = reasons != utility.end() && reasons->contains(path);
  json[name + "_reason"] = known ? (*reasons)[path] : Json("not measured");
}

Json ByGender(const EvaluatedCell& cell) {
  Json json = Json::object();
  const Json& measured = cell.utility.at("by_gender");
  const Json& attacked = cell.attack.at("worst_by_gender");
  for (const char* gender : {"F", "M"}) {
    Json one;
    if (attacked.contains(gender)) {
      one["eer"] = attacked[gender].at("eer");
      one["ci"] = attacked[gender].at("ci");
      if (one["eer"].is_null()) one["eer_reason"] = attacked[gender].value("reason", "");
    } else {
      one["eer"] = one["ci"] = nullptr;
      one["eer_reason"] = "no attacker linked speakers";
    }
    if (measured.is_object() && measured.contains(gender)) {
      one["wer"] = Rates(measured[gender].at("wer"), "wer", "protected", "");
      one["wer_original"] = Rates(measured[gender].at("wer"), "wer", "original", "");
      PutFigure(one, "dnsmos_ovr", measured[gender], "dnsmos.ovr.protected");
      PutFigure(one, "pitch_correlation", measured[gender], "pitch_correlation_lagged");
    }
    json[gender] = std::move(one);
  }
  return json;
}

Json CellJson(const EvaluatedCell& cell, const SpeakerNaming& naming, const Json& reference) {
  const LadderResult ladder = ParseLadderJson(cell.attack, cell.id + "/attack.json");
  Json json = {{"cell", cell.id}, {"method", cell.method}};
  json["parameters"] = cell.record.parameters;
  json["strategy"] = sotto::Name(cell.strategy);
  json["randomness"] = cell.protection.at("record").at("randomness");
  const LadderRow* worst = Lowest(ladder.rows);
  json["worst"] = worst != nullptr ? RowJson(*worst) : Json(nullptr);
  if (worst == nullptr) json["worst_reason"] = "no attacker ran";
  json["legal"] = cell.attack.at("worst_legal");
  json["attackers"] = Attackers(ladder);
  json["attributes"] = Gender(ladder);
  json["wer"] = Rates(cell.utility.at("wer"), "wer", "protected", "ci");
  json["cer"] = Rates(cell.utility.at("cer"), "cer", "protected", "ci");
  PutFigure(json, "dnsmos_ovr", cell.utility, "dnsmos.ovr.protected");
  PutFigure(json, "dnsmos_sig", cell.utility, "dnsmos.sig.protected");
  PutFigure(json, "dnsmos_bak", cell.utility, "dnsmos.bak.protected");
  PutFigure(json, "pitch_correlation", cell.utility, "pitch_correlation_lagged");
  PutFigure(json, "voicing_agreement", cell.utility, "voicing_agreement");
  PutFigure(json, "g_vd_db", cell.utility, "g_vd_db");
  json["rtf"] = cell.protection.at("rtf");
  if (json["rtf"].is_null()) json["rtf_reason"] = cell.protection.at("rtf_reason");
  json["by_gender"] = ByGender(cell);
  json["exposed"] = Json::array();
  for (const Json& speaker : cell.attack.at("exposed")) {
    if (json["exposed"].size() == kExposedSpeakers) break;
    json["exposed"].push_back({{"speaker", naming(speaker.at("speaker").get<std::string>())},
                               {"mean_tar_llr", speaker.at("mean_tar_llr")},
                               {"mean_non_llr", speaker.at("mean_non_llr")},
                               {"n_tar", speaker.at("n_tar")},
                               {"n_non", speaker.at("n_non")}});
  }
  json["semi_informed"] =
      !cell.attacker_encoder.empty()
          ? fmt::format("full: encoder {}", cell.attacker_encoder_fingerprint.substr(0, 8))
          : "quick: no retrained encoder was given for this protection; back-end, mean and LDA "
            "alone were re-estimated, where background speech was given";
  json["attack_notes"] = cell.attack.at("notes");
  json["bootstrap"] = worst != nullptr ? worst->bootstrap : "";
  json["residual_risk"] = ResidualRisk(json, reference);
  return json;
}

Json Reference(const EvaluatedCell& cell) {
  const LadderResult ladder = ParseLadderJson(cell.attack, cell.id + "/attack.json");
  const LadderRow* lowest = Lowest(ladder.unprotected);
  Json json = lowest != nullptr ? RowJson(*lowest) : Json{{"eer", nullptr}, {"ci", nullptr}};
  json["wer"] = Rates(cell.utility.at("wer"), "wer", "original", "ci_original");
  PutFigure(json, "dnsmos_ovr", cell.utility, "dnsmos.ovr.original");
  return json;
}

}  // namespace

std::string ResidualRisk(const Json& cell, const Json& reference) {
  const Json& worst = cell.at("worst");
  if (worst.is_null() || worst.at("eer").is_null()) {
    return "No attacker was run: nothing is known about the protection.";
  }
  const double eer = worst["eer"].get<double>();
  const bool has_ends = worst.at("ci").is_array();
  std::string text = fmt::format(
      "The {} attacker tells whether two recordings are of one person with an equal "
      "error rate of {:.1f} %{} (50 % is chance",
      worst.at("attacker").get<std::string>(), 100.0 * eer,
      has_ends ? fmt::format(" [{:.1f}, {:.1f}]", 100.0 * worst["ci"][0].get<double>(),
                             100.0 * worst["ci"][1].get<double>())
               : "");
  const bool known = reference.contains("eer") && reference["eer"].is_number();
  if (known) {
    text += fmt::format("; {:.1f} % without protection", 100.0 * reference["eer"].get<double>());
  }
  text += "). ";
  const bool as_without = known && has_ends && reference.at("ci").is_array() &&
                          worst["ci"][0].get<double>() <= reference["ci"][1].get<double>();
  if (as_without) {
    text +=
        "That is within the intervals of unprotected speech: against this attacker no protection "
        "was shown.";
  } else if (eer < 0.1) {
    text += "This attacker links most recordings of a person: the risk is high.";
  } else if (eer < 0.3) {
    text += "Recordings of a person can still be linked far better than by chance.";
  } else if (eer < 0.4) {
    text += "Linking is weak but clearly better than by chance.";
  } else {
    text += "None of the attackers that were run linked recordings much better than by chance.";
  }
  std::string missing;
  for (const Json& attacker : cell.at("attackers")) {
    if (attacker.at("status") == "run") continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ",
                           attacker.at("attacker").get<std::string>());
  }
  if (!missing.empty()) text += fmt::format(" Not run: {}.", missing);
  text +=
      " A stronger attacker may exist. Words, rhythm, accent and background are not hidden by a "
      "change of voice.";
  return text;
}

Json EvaluationJson(const Evaluation& evaluation, const SpeakerNaming& naming) {
  Json json = {{"sotto", evaluation.version}, {"measured", kMeasured}};
  json["originals"] = {{"recordings", evaluation.recordings},
                       {"utterances", evaluation.utterances},
                       {"speakers", evaluation.speakers}};
  json["encoder"] = {{"name", evaluation.encoder}, {"fingerprint", evaluation.encoder_fingerprint}};
  json["ladder"] = evaluation.quick ? "quick" : "full";
  json["background"] = evaluation.background;
  json["seed"] = evaluation.seed ? Json(*evaluation.seed) : Json(nullptr);
  json["intervals"] = {{"resamples", evaluation.resamples}, {"level", evaluation.level}};
  json["reference"] = Reference(evaluation.cells.front());
  json["cells"] = Json::array();
  for (const EvaluatedCell& cell : evaluation.cells) {
    json["cells"].push_back(CellJson(cell, naming, json["reference"]));
  }
  json["steps"] = {{"made", evaluation.steps_made}, {"found", evaluation.steps_found}};
  return json;
}

}  // namespace sotto
