#include "release/run_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "voice/method_table.h"

namespace sotto {

std::vector<std::string> PrivacyNotes(const AnonymiseOptions& options) {
  std::vector<std::string> notes;
  if (options.experiment_seed) {
    notes.emplace_back(
        "--seed: the targets follow from a public number. This run is an experiment "
        "and protects nobody");
  }
  if (!options.key_file.empty()) {
    notes.emplace_back(
        "--key: two releases under one key are linkable (a speaker gets the same "
        "target in both); --context separates them");
  }
  const std::vector<std::string> own = options.Method().PrivacyNotes(options);
  notes.insert(notes.end(), own.begin(), own.end());
  return notes;
}

namespace {

nlohmann::ordered_json RecordedValue(const VoiceOptions& options, const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::kVoices:
      return options.Has(parameter.name) ? "given" : "default";
    case Parameter::Kind::kSwitch:
      return true;
    case Parameter::Kind::kNumber:
      return *options.Number(parameter.name);
    case Parameter::Kind::kCount:
      return static_cast<std::size_t>(*options.Number(parameter.name));
    default:
      return options.Value(parameter.name);
  }
}

void RecordMethod(const VoiceOptions& options, const RunFacts& run,
                  nlohmann::ordered_json& record) {
  const MethodDefinition& method = options.Method();
  record["method"] = method.Name();
  for (const Parameter& parameter : method.Parameters()) {
    if (parameter.record.empty() || !method.IsUsed(options, parameter)) continue;
    const bool is_set = parameter.kind == Parameter::Kind::kVoices || options.Has(parameter.name) ||
                        !options.Value(parameter.name).empty();
    if (is_set) record[parameter.record] = RecordedValue(options, parameter);
  }
  for (const auto& [field, value] : method.Facts(options)) record[field] = value;
  method.AddToRecord(options, run, record);
}

}  // namespace

std::string RunRecord(const AnonymiseOptions& options, const AnonymiseReport& report,
                      const std::string& version) {
  nlohmann::ordered_json record;
  record["sotto"] = version;
  record["verb"] = "anonymise";
  RecordMethod(options, {options.TargetStrategy(), report.target_draws}, record);
  if (options.mark) record["marked"] = true;
  record["strategy"] = Name(options.TargetStrategy());
  record["randomness"] = options.experiment_seed    ? "seeded experiment: protects nobody"
                         : options.key_file.empty() ? "fresh key from the operating system"
                                                    : "key file";
  record["context_given"] = !options.context.empty();
  record["ids"] = options.new_ids ? "replaced" : "kept";
  record["counts"] = {{"recordings", report.recordings},
                      {"utterances", report.utterances},
                      {"speakers", report.speakers},
                      {"done", report.done},
                      {"failed", report.failures.size()}};
  record["complete"] = report.complete;
  return DumpJson(record, 2) + "\n";
}

std::string MarkText(const VoiceOptions& options) {
  return fmt::format("{} (Sotto, method {})",
                     options.Method().IsSynthetic()
                         ? "synthetic speech: the voice was made by a neural network"
                         : "the voice was changed",
                     options.MethodName());
}

}  // namespace sotto
