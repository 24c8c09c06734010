#include "attack/release_record.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What changes the protected sound, the strategy and the draws apart.
constexpr const char* kParameters[] = {"method",      "alpha",     "pitch",        "target_gender",
                                       "pool",        "f0",        "target",       "eps",
                                       "target_pool", "content",   "content_mean", "bend_semitones",
                                       "nets",        "streaming", "max_draws"};

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
  if (!object.is_object()) throw Error(fmt::format("{}: no JSON object", where));
  return object;
}

void ReadNeural(const json& record, const std::string& where, ReleaseRecord& release) {
  NeuralOptions& neural = release.voice.neural;
  release.voice.target_gender = ParseTargetGender(Text(record, "target_gender", where));
  neural.target = ParseNeuralTarget(Text(record, "target", where));
  if (neural.target == NeuralTarget::kVoiceInd) {
    const auto eps = record.find("eps");
    if (eps == record.end() || !eps->is_number()) {
      throw Error(fmt::format("{}: no number 'eps'", where));
    }
    neural.eps = eps->get<double>();
  }
  // Earlier versions drew after every pause, however many there were.
  if (const auto most = record.find("max_draws"); most != record.end()) {
    if (!most->is_number_unsigned()) {
      throw Error(fmt::format("{}: 'max_draws' is no whole number from 1 on", where));
    }
    neural.max_draws = most->get<std::size_t>();
  }
  neural.teacher = Text(record, "content", where) == "moonshine";
  const auto bend = record.find("bend_semitones");
  if (bend == record.end() || !bend->is_number()) {
    throw Error(fmt::format("{}: no number 'bend_semitones'", where));
  }
  neural.bend_semitones = bend->get<double>();
  neural.streaming = record.value("streaming", json(false)) == true;
  release.pool_given = Text(record, "target_pool", where) != "default";
  release.nets = Text(record, "nets", where);
}

std::map<std::string, std::string> Parameters(const json& record) {
  std::map<std::string, std::string> parameters;
  for (const char* name : kParameters) {
    const auto found = record.find(name);
    if (found == record.end()) continue;
    parameters[name] = found->is_string() ? found->get<std::string>() : DumpJson(*found);
  }
  return parameters;
}

}  // namespace

bool ReleaseRecord::HasDraws() const {
  return voice.method != "mcadams" || !voice.alpha.IsFixed() || voice.Pitch() != PitchMode::kKeep;
}

PoolRuleRecord ReleaseRecord::Rule() const {
  if (!voice.IsNeural()) return {PoolRule::kIndependent, "method " + voice.method};
  const std::string text = std::string("target ") + Name(voice.neural.target);
  if (voice.neural.target != NeuralTarget::kVoiceInd) return {PoolRule::kIndependent, text};
  return {PoolRule::kNearest, fmt::format("{}, eps {:g}", text, voice.neural.eps.value_or(0.0))};
}

PoolRuleRecord ParsePoolRule(std::string_view text, const std::string& where) {
  const json record = ParseObject(text, where);
  const auto verb = record.find("verb");
  if (verb == record.end() || *verb != "protect-embedding") {
    return ParseReleaseRecord(text, where).Rule();
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
  if (method != "pool") {
    throw Error(fmt::format("{}: method '{}': voice-ind or pool is allowed", where, method));
  }
  const std::string region = Text(part("pool"), "region", where);
  return {region == "farthest"  ? PoolRule::kFarthest
          : region == "nearest" ? PoolRule::kNearest
                                : PoolRule::kIndependent,
          "region " + region};
}

std::string ReleaseRecord::Describe() const {
  std::string text;
  for (const auto& name : kParameters) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) continue;
    text += text.empty() ? found->second : fmt::format(", {} {}", name, found->second);
  }
  return fmt::format("{}, strategy {}", text, Name(strategy));
}

ReleaseRecord ParseReleaseRecord(std::string_view text, const std::string& where) {
  const json record = ParseObject(text, where);
  ReleaseRecord release;
  try {
    release.voice.method = Text(record, "method", where);
    release.strategy = ParseStrategy(Text(record, "strategy", where));
    if (release.voice.method == "mcadams") {
      release.voice.alpha = Range::Parse(Text(record, "alpha", where), "alpha");
    }
    release.voice.pitch = ParsePitchMode(Text(record, "pitch", where));
    if (release.voice.IsNeural()) {
      ReadNeural(record, where, release);
    } else if (record.contains("target_gender")) {
      release.voice.target_gender = ParseTargetGender(Text(record, "target_gender", where));
      release.pool_given = Text(record, "pool", where) != "default";
    }
    if (record.contains("f0")) {
      release.voice.f0_method =
          Text(record, "f0", where) == "robust" ? F0Method::kRobust : F0Method::kFast;
    }
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
  release.seeded =
      record.contains("randomness") && Text(record, "randomness", where).starts_with("seeded");
  release.parameters = Parameters(record);
  return release;
}

ReleaseRecord ReadReleaseRecord(const fs::path& released) {
  const fs::path folder = fs::is_directory(released) ? released : released.parent_path();
  const fs::path path = folder / "sotto-run.json";
  if (!fs::exists(path)) {
    throw Error(fmt::format("'{}' has no sotto-run.json: attackers must know how it was protected",
                            folder.string()));
  }
  return ParseReleaseRecord(ReadTextFile(path), path.string());
}

void RequireAttackerOf(std::string_view text, const ReleaseRecord& release,
                       const std::string& base_weights, const std::string& where) {
  const std::string mismatch = AttackerMismatch(text, release, base_weights, where);
  if (!mismatch.empty()) throw Error(fmt::format("{}: {}", where, mismatch));
}

std::string AttackerMismatch(std::string_view text, const ReleaseRecord& release,
                             const std::string& base_weights, const std::string& where) {
  if (text.empty()) {
    throw Error(fmt::format(
        "{}: the metadata has no 'sotto.attacker': it does not say which protection it was "
        "trained against",
        where));
  }
  const std::string inside = where + ": sotto.attacker";
  const json header = ParseObject(text, inside);
  const auto run = header.find("run");
  if (run == header.end() || !run->is_object()) {
    throw Error(fmt::format("{}: no object 'run'", inside));
  }
  const auto trained = Parameters(*run);
  for (const char* name : kParameters) {
    const auto a = trained.find(name), b = release.parameters.find(name);
    const std::string theirs = a == trained.end() ? "nothing" : a->second;
    const std::string ours = b == release.parameters.end() ? "nothing" : b->second;
    if (theirs != ours) {
      return fmt::format("trained against {} '{}', the release says '{}'", name, theirs, ours);
    }
  }
  const std::string from = Text(header, "base", inside);
  if (!from.empty() && from != base_weights) {
    return fmt::format("fine-tuned from the weights '{}', this attack's encoder has '{}'", from,
                       base_weights);
  }
  return {};
}

std::vector<AttackerCurvePoint> ParseTrainingCurve(std::string_view text,
                                                   const std::string& where) {
  if (text.empty()) return {};
  const json training = ParseObject(text, where + ": sotto.training");
  const auto points = training.find("curve");
  if (points == training.end() || !points->is_array()) return {};
  std::vector<AttackerCurvePoint> curve;
  for (const json& point : *points) {
    const auto number = [&](const char* name) {
      const auto value = point.find(name);
      return value != point.end() && value->is_number() ? value->get<double>() : std::nan("");
    };
    if (point.is_object()) {
      curve.push_back({number("step"), number("loss"), number("held_out_eer")});
    }
  }
  return curve;
}

}  // namespace sotto
