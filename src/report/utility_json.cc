#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json_values.h"
#include "report/utility_report.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Ends(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json Alignment(const EditCounts& counts) {
  return {{"hits", counts.hits}, {"sub", counts.sub}, {"del", counts.del}, {"ins", counts.ins}};
}

// What the entries of wer[] and cer[] begin with.
Json Judge(const RecogniserJudgement& judgement) {
  Json json = {{"recogniser", judgement.name}};
  json["shares_model_with_method"] = judgement.shares_model_with_method
                                         ? Json(*judgement.shares_model_with_method)
                                         : Json(nullptr);
  return json;
}

// original, protected, ci and n of one recogniser, or nulls with the reason.
void AddRates(Json& json, const RecogniserJudgement& judgement, const EditCounts& original,
              const EditCounts& released, const char* count_name) {
  const std::string reason = WhyNoRate(judgement, original);
  const bool measured = reason.empty();
  json["original"] = measured ? Json(original.Rate()) : Json(nullptr);
  json["protected"] = measured ? Json(released.Rate()) : Json(nullptr);
  json[count_name] = measured ? Json(original.n) : Json(nullptr);
  if (!measured) json["reason"] = reason;
}

Json WerEntry(const RecogniserJudgement& judgement) {
  Json json = Judge(judgement);
  AddRates(json, judgement, judgement.original.words, judgement.released.words, "n_words");
  json["ci"] = Ends(judgement.wer_released);
  json["ci_original"] = Ends(judgement.wer_original);
  if (!judgement.reason.empty()) return json;
  json["model"] = judgement.model;
  json["n_utterances"] = judgement.heard.size();
  json["alignment"] = {{"original", Alignment(judgement.original.words)},
                       {"protected", Alignment(judgement.released.words)}};
  json["times_real_time"] = Number(judgement.audio_s / judgement.cpu_s);
  return json;
}

Json CerEntry(const RecogniserJudgement& judgement) {
  Json json = Judge(judgement);
  AddRates(json, judgement, judgement.original.chars, judgement.released.chars, "n_chars");
  json["ci"] = Ends(judgement.cer_released);
  json["ci_original"] = Ends(judgement.cer_original);
  return json;
}

// Puts value at a name with dots ("dnsmos.sig.original").
void Put(Json& json, const std::string& name, Json value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) {
    json[name] = std::move(value);
  } else {
    Put(json[name.substr(0, dot)], name.substr(dot + 1), std::move(value));
  }
}

Json GroupJson(const UtilityResult& result, const std::vector<std::size_t>& utterances) {
  const UtilitySummary summary = Summarise(result, utterances);
  Json json = {{"n_utterances", summary.utterances}};
  json["wer"] = Json::array();
  json["cer"] = Json::array();
  for (std::size_t k = 0; k < result.recognisers.size(); ++k) {
    const UtilitySummary::Errors& errors = summary.recognisers[k];
    Json wer = Judge(result.recognisers[k]);
    Json cer = Judge(result.recognisers[k]);
    AddRates(wer, result.recognisers[k], errors.words_original, errors.words_released, "n_words");
    AddRates(cer, result.recognisers[k], errors.chars_original, errors.chars_released, "n_chars");
    json["wer"].push_back(std::move(wer));
    json["cer"].push_back(std::move(cer));
  }
  for (std::size_t m = 0; m < kMeasures; ++m) {
    const std::string name(MeasureName(static_cast<Measure>(m)));
    Put(json, name, Number(summary.means[m]));
    if (!std::isfinite(summary.means[m])) {
      json["reason"][name] = WhyNoMean(result, static_cast<Measure>(m));
    }
  }
  return json;
}

}  // namespace

std::string WhyNoRate(const RecogniserJudgement& judgement, const EditCounts& original) {
  return !judgement.reason.empty() ? judgement.reason
         : original.n == 0         ? "it heard none of these utterances"
                                   : "";
}

std::string WhyNoMean(const UtilityResult& result, Measure measure) {
  const std::string& remark = result.figures[static_cast<std::size_t>(measure)].remark;
  return remark.empty() ? "not measurable in any of these utterances" : remark;
}

std::string UtilityJson(const UtilityResult& result) {
  Json json = {{"n_utterances", result.utterances.size()},
               {"n_speakers", BySpeaker(result).size()},
               {"seconds", result.seconds}};
  json["wer"] = Json::array();
  json["cer"] = Json::array();
  for (const RecogniserJudgement& judgement : result.recognisers) {
    json["wer"].push_back(WerEntry(judgement));
    json["cer"].push_back(CerEntry(judgement));
  }
  for (const Figure& figure : result.figures) Put(json, figure.name, Number(figure.value));
  json["ci"] = Json::object();
  json["reason"] = Json::object();
  for (const Figure& figure : result.figures) {
    json["ci"][figure.name] = Ends(figure.interval);
    if (!std::isfinite(figure.value)) json["reason"][figure.name] = figure.remark;
  }
  json["by_speaker"] = Json::object();
  for (const auto& [speaker, utterances] : BySpeaker(result)) {
    json["by_speaker"][speaker] = GroupJson(result, utterances);
  }
  const auto genders = ByGender(result);
  json["by_gender"] = Json::object();
  if (genders.size() == 1 && genders.begin()->first == "unknown") {
    json["by_gender"] = nullptr;
    json["reason"]["by_gender"] = "the originals do not say the speakers' gender";
  } else {
    for (const auto& [gender, utterances] : genders) {
      json["by_gender"][gender] = GroupJson(result, utterances);
    }
  }
  json["bootstrap"] = result.bootstrap;
  return JsonText(json);
}

}  // namespace sotto
