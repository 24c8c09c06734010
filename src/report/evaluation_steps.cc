#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.h"
#include "base/json.h"
#include "report/attack_page.h"
#include "report/evaluation_report.h"
#include "report/json_values.h"
#include "report/utility_report.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

double ParseNumber(const Json& json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_string()) return json == "inf" ? kInfinity : -kInfinity;
  return json.get<double>();
}

// The fields of a struct on their way into an object, or out of one: each struct is described once.
// What is empty is left out.
class Fields {
 public:
  Fields(Json& json, bool reads) : json_(json), reads_(reads) {}

  template <typename T>
  Fields& operator()(const char* name, T& value) {
    if (!reads_) {
      Json json = Written(value);
      const bool empty = json.is_null() || (json.is_structured() && json.empty()) || json == "";
      if (!empty || std::is_same_v<T, double>) json_[name] = std::move(json);
    } else if (json_.contains(name)) {
      Read(json_[name], value);
    } else if constexpr (
        !requires { value.begin(); } && !requires { value.has_value(); }) {
      throw Error(fmt::format("no '{}'", name));
    }
    return *this;
  }

  template <typename T>
  static Json Written(T& value) {
    Json json;
    if constexpr (std::is_same_v<T, double>) {
      json = JsonNumber(value);
    } else if constexpr (std::is_same_v<T, Attacker>) {
      json = Name(value);
    } else if constexpr (std::is_enum_v<T>) {
      json = static_cast<int>(value);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      json = value;
    } else if constexpr (requires { value.has_value(); }) {
      if (value) json = Written(*value);
    } else if constexpr (requires { value.begin(); }) {
      json = Json::array();
      for (auto& one : value) json.push_back(Written(one));
    } else {
      json = Json::object();
      Describe(Fields(json, false), value);
    }
    return json;
  }

  template <typename T>
  static void Read(Json& json, T& value) {
    if constexpr (std::is_same_v<T, double>) {
      value = ParseNumber(json);
    } else if constexpr (std::is_same_v<T, Attacker>) {
      value = ParseAttacker(json.get<std::string>());
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(json.get<int>());
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      value = json.get<T>();
    } else if constexpr (requires { value.has_value(); }) {
      Read(json, value.emplace());
    } else if constexpr (requires { value.emplace_back(); }) {
      for (Json& one : json) Read(one, value.emplace_back());
    } else if constexpr (requires { value.begin(); }) {
      for (std::size_t i = 0; i < value.size(); ++i) Read(json.at(i), value[i]);
    } else {
      Describe(Fields(json, true), value);
    }
  }

 private:
  Json& json_;
  const bool reads_;

  static void Describe(Fields f, Interval& x) { f("low", x.low)("high", x.high)("level", x.level); }
  static void Describe(Fields f, std::pair<std::string, std::size_t>& count) {
    f("name", count.first)("n", count.second);
  }
  static void Describe(Fields f, Figure& x) {
    f("name", x.name)("value", x.value)("counts", x.counts)("interval", x.interval);
    f("remark", x.remark);
  }
  static void Describe(Fields f, LadderRow& x) {
    f("attacker", x.attacker)("backend", x.backend)("impostors", x.impostors)("l", x.l);
    f("ran", x.ran)("reason", x.reason)("figures", x.figures)("bootstrap", x.bootstrap);
  }
  static void Describe(Fields f, ZooSpeaker& x) {
    f("speaker", x.name)("mean_tar_llr", x.mean_tar_llr)("mean_non_llr", x.mean_non_llr);
    f("n_tar", x.n_tar)("n_non", x.n_non);
  }
  static void Describe(Fields f, LadderResult& x) {
    f("speakers", x.speakers)("enrolment", x.enrolment)("trials", x.trials)("notes", x.notes);
    f("worst", x.worst)("exposed", x.exposed)("rows", x.rows)("unprotected", x.unprotected);
  }
  static void Describe(Fields f, CellAttack::OneGender& x) {
    std::string gender = Name(x.gender);
    f("gender", gender)("eer", x.eer)("n_tar", x.n_tar)("n_non", x.n_non);
    x.gender = ParseGender(gender);
  }
  static void Describe(Fields f, CellAttack::Among& x) {
    f("n", x.n)("linkability", x.linkability)("linkability_chance", x.linkability_chance);
    f("singling_out", x.singling_out)("singling_out_chance", x.singling_out_chance);
  }
  static void Describe(Fields f, CellAttack& x) {
    f("ladder", x.ladder)("by_gender", x.by_gender)("legal", x.legal);
  }
  static void Describe(Fields f, ProtectionResult::File& x) { f("id", x.id)("sha256", x.sha256); }
  static void Describe(Fields f, ProtectionResult& x) {
    f("recordings", x.recordings)("utterances", x.utterances)("speakers", x.speakers);
    f("timed_seconds", x.timed_seconds)("cpu_seconds", x.cpu_seconds);
    f("wall_seconds", x.wall_seconds)("jobs", x.jobs)("rtf", x.rtf)("rtf_reason", x.rtf_reason);
    f("notes", x.notes)("files", x.files);
  }
  static void Describe(Fields f, EditCounts& x) {
    f("n", x.n)("hits", x.hits)("sub", x.sub)("del", x.del)("ins", x.ins);
  }
  static void Describe(Fields f, UtteranceErrors& x) {
    f("id", x.id)("words", x.words)("chars", x.chars);
  }
  static void Describe(Fields f, WerResult& x) {
    f("words", x.words)("chars", x.chars)("utterances", x.per_utterance);
  }
  static void Describe(Fields f, RecogniserJudgement& x) {
    f("recogniser", x.name)("model", x.model)("reason", x.reason);
    f("shares_model_with_method", x.shares_model_with_method)("heard", x.heard);
    f("original", x.original)("protected", x.released);
    f("wer_original_ci", x.wer_original)("wer_protected_ci", x.wer_released);
    f("cer_original_ci", x.cer_original)("cer_protected_ci", x.cer_released);
    f("audio_seconds", x.audio_s)("cpu_seconds", x.cpu_s);
  }
  static void Describe(Fields f, PairedUtterance& x) {
    f("id", x.id)("speaker", x.speaker)("gender", x.gender);
  }
  static void Describe(Fields f, UtilityResult& x) {
    f("seconds", x.seconds)("bootstrap", x.bootstrap)("figures", x.figures);
    f("recognisers", x.recognisers)("utterances", x.utterances)("measured", x.measured);
  }
};

template <typename Result>
StepForm<Result> Form() {
  StepForm<Result> form;
  form.write = [](const Result& result) {
    Result copy = result;
    return DumpJson(Fields::Written(copy), 1);
  };
  form.read = [](std::string_view text, const std::string& where) {
    Result result;
    try {
      Json json = ParseOrderedJson(text);
      Fields::Read(json, result);
    } catch (const nlohmann::json::exception& error) {
      throw Error(fmt::format("{}: {}", where, JsonTrouble(error)));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", where, error.what()));
    }
    return result;
  };
  return form;
}

}  // namespace

StepForms EvaluationSteps() {
  StepForms forms{Form<ProtectionResult>(), Form<CellAttack>(), Form<UtilityResult>()};
  forms.attack.page = [](const CellAttack& result, const std::string& title) {
    return RenderAssessPage(AttackPage(result.ladder, title));
  };
  forms.utility.page = [](const UtilityResult& result, const std::string& title) {
    return RenderAssessPage(UtilityPage(result, title));
  };
  return forms;
}

}  // namespace sotto
