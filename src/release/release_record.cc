#include "release/release_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "speaker/hider.h"
#include "speaker/pool_pseudonyms.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string Text(const json& record, const char* name, const std::string& where) {
  const auto found = record.find(name);
  if (found == record.end() || !found->is_string()) {
    throw Error(
        fmt::format("{}: no text '{}': is it the record of a sotto anonymise run?", where, name));
  }
  return found->get<std::string>();
}

json ParseObject(std::string_view text, const std::string& where) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw Error(fmt::format("{}: not a JSON object", where));
  return object;
}

// As a flag would say it; throws Error where the field has another type.
std::string ValueOf(const json& field, const Parameter& parameter, const std::string& where) {
  using Kind = Parameter::Kind;
  const auto wrong = [&](const char* wanted) {
    return Error(fmt::format("{}: '{}' must be {}", where, parameter.record, wanted));
  };
  switch (parameter.kind) {
    case Kind::kNumber:
      if (!field.is_number()) throw wrong("a number");
      return fmt::format("{}", field.get<double>());
    case Kind::kCount:
      if (!field.is_number_unsigned()) throw wrong("a whole number from 1 on");
      return fmt::format("{}", field.get<std::size_t>());
    case Kind::kSwitch:
      if (!field.is_boolean()) throw wrong("true or false");
      return "";
    default:
      if (!field.is_string()) throw wrong("text");
      return field.get<std::string>();
  }
}

void ReadParameters(const json& record, const std::string& where, ReleaseRecord& release) {
  VoiceOptions& voice = release.voice;
  const std::vector<Parameter>& parameters = voice.Method().Parameters();
  for (const Parameter& parameter : parameters) {
    const auto field = record.find(parameter.record);
    if (parameter.record.empty() || field == record.end()) continue;
    const std::string value = ValueOf(*field, parameter, where);
    if (parameter.kind == Parameter::Kind::kVoices) {
      release.lacks_pool = value != "default";
    } else if (*field != false) {
      voice.SetRecorded(parameter, value);
    }
  }
  for (const Parameter& parameter : parameters) {
    if (!parameter.fact.empty()) release.nets = Text(record, parameter.fact.c_str(), where);
    const bool needed = parameter.must_be_recorded && voice.Method().IsUsed(voice, parameter);
    if (!needed || record.contains(parameter.record)) continue;
    throw Error(fmt::format("{}: no {} '{}': is it the record of a sotto anonymise run?", where,
                            parameter.kind == Parameter::Kind::kNumber ? "number" : "text",
                            parameter.record));
  }
}

}  // namespace

std::map<std::string, std::string> SoundFields(const json& record, const MethodDefinition& method) {
  std::map<std::string, std::string> fields;
  for (const std::string& name : method.RecordFields()) {
    const auto found = record.find(name);
    if (found == record.end()) continue;
    fields[name] = found->is_string() ? found->get<std::string>() : DumpJson(*found);
  }
  return fields;
}

PoolRuleRecord ParsePoolRule(std::string_view text, const std::string& where,
                             const MethodTable& methods) {
  const json record = ParseObject(text, where);
  const auto verb = record.find("verb");
  if (verb == record.end() || *verb != "protect-embedding") {
    return ParseReleaseRecord(text, where, methods).Rule();
  }
  const std::string method = Text(record, "method", where);
  const auto part = [&](const char* name) {
    const auto found = record.find(name);
    if (found == record.end() || !found->is_object()) {
      throw Error(fmt::format("{}: no object '{}'", where, name));
    }
    return *found;
  };
  if (method == "voice-ind") {
    const json own = part("voice_ind");
    const auto eps = own.find("epsilon");
    if (eps == own.end() || !eps->is_number()) {
      throw Error(fmt::format("{}: no number 'epsilon'", where));
    }
    return {PoolRule::kNearest, fmt::format("voice-ind, eps {:g}", eps->get<double>())};
  }
  const std::vector<std::string> hiders = ProgramHiders().Names();  // these take no other voice
  if (std::find(hiders.begin(), hiders.end(), method) != hiders.end()) {
    return {PoolRule::kIndependent, method};
  }
  if (method != "pool") {
    throw Error(fmt::format("{}: method '{}': voice-ind, pool, {} is allowed", where, method,
                            ListOf(hiders)));
  }
  const std::string region = Text(part("pool"), "region", where);
  try {
    return {ProgramPoolRegions().Find(region)->Rule(), "region " + region};
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
}

PoolRuleRecord ReleaseRecord::Rule() const {
  const auto rule = voice.Method().Rule(voice);
  if (!rule) return {PoolRule::kIndependent, "method " + voice.MethodName()};
  return rule->Known(voice);
}

std::string ReleaseRecord::RuleRemark() const {
  const auto rule = voice.Method().Rule(voice);
  return rule ? rule->Remark(voice, strategy) : "";
}

std::string ReleaseRecord::Describe() const {
  std::string text;
  for (const std::string& name : voice.Method().RecordFields()) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) continue;
    text += text.empty() ? found->second : fmt::format(", {} {}", name, found->second);
  }
  return fmt::format("{}, strategy {}", text, Name(strategy));
}

ReleaseRecord ParseReleaseRecord(std::string_view text, const std::string& where,
                                 const MethodTable& methods) {
  const json record = ParseObject(text, where);
  ReleaseRecord release;
  try {
    release.voice.Use(methods.Find(Text(record, "method", where)));
    release.strategy = ParseStrategy(Text(record, "strategy", where));
    ReadParameters(record, where, release);
    release.voice.Validate();
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.starts_with(where) ? what : fmt::format("{}: {}", where, what));
  }
  const auto flag = [&](const char* name) {
    const auto found = record.find(name);
    return found != record.end() && found->is_boolean() && found->get<bool>();
  };
  const auto complete = record.find("complete");
  if (complete != record.end() && complete->is_boolean() && !complete->get<bool>()) {
    throw Error(fmt::format("{}: the run is not complete", where));
  }
  release.context_given = flag("context_given");
  release.new_ids = record.contains("ids") && Text(record, "ids", where) == "replaced";
  if (record.contains("randomness")) release.randomness = Text(record, "randomness", where);
  release.seeded = release.randomness.starts_with("seeded");
  release.parameters = SoundFields(record, release.voice.Method());
  return release;
}

fs::path RecordFile(const fs::path& released) {
  return (fs::is_directory(released) ? released : released.parent_path()) / "sotto-run.json";
}

std::optional<std::string> RecordedContent(const fs::path& released) {
  const fs::path path = RecordFile(released);
  if (!fs::exists(path)) return std::nullopt;
  const json record = TryParseJson(ReadTextFile(path));
  if (!record.is_object() || !record.contains("method")) {
    throw Error(fmt::format("'{}' is not a record of sotto anonymise", path.string()));
  }
  return record.value("content", std::string());
}

ReleaseRecord ReadReleaseRecord(const fs::path& released, const MethodTable& methods) {
  const fs::path path = RecordFile(released);
  if (!fs::exists(path)) {
    throw Error(fmt::format("'{}' has no sotto-run.json: attackers must know how it was protected",
                            path.parent_path().string()));
  }
  return ParseReleaseRecord(ReadTextFile(path), path.string(), methods);
}

}  // namespace sotto
