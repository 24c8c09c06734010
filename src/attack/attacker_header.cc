#include "attack/attacker_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace sotto {
namespace {

using nlohmann::json;

json ParseObject(std::string_view text, const std::string& where) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw Error(fmt::format("{}: no JSON object", where));
  return object;
}

}  // namespace

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
  const MethodDefinition& method = release.voice.Method();
  const auto trained = SoundFields(*run, method);
  for (const std::string& name : method.RecordFields()) {
    const auto a = trained.find(name), b = release.parameters.find(name);
    const std::string theirs = a == trained.end() ? "nothing" : a->second;
    const std::string ours = b == release.parameters.end() ? "nothing" : b->second;
    if (theirs != ours) {
      return fmt::format("trained against {} '{}', the release says '{}'", name, theirs, ours);
    }
  }
  const auto base = header.find("base");
  if (base == header.end() || !base->is_string()) {
    throw Error(fmt::format("{}: no text 'base'", inside));
  }
  const auto from = base->get<std::string>();
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
