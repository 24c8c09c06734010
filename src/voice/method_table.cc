#include "voice/method_table.h"

#include <fmt/format.h>

#include "base/error.h"
#include "voice/neural_method.h"
#include "voice/vocoder_definition.h"

namespace sotto {

std::vector<std::string> MethodDefinition::RecordFields() const {
  std::vector<std::string> fields = {"method"};
  for (const Parameter& parameter : Parameters()) {
    if (parameter.changes_sound && !parameter.record.empty()) fields.push_back(parameter.record);
  }
  for (const std::string& fact : FactFields()) fields.push_back(fact);
  return fields;
}

std::string MethodDefinition::Preset(const VoiceOptions& /*options*/,
                                     const Parameter& parameter) const {
  return parameter.preset;
}

std::filesystem::path MethodDefinition::FileOf(const VoiceOptions& options,
                                               const Parameter& parameter) const {
  return options.File(parameter.name);
}

void MethodDefinition::SetUpStream(VoiceOptions& options, Strategy strategy) const {
  if (strategy == Strategy::kRandom) {
    throw Error(fmt::format("--strategy random: method {} draws once for a stream", Name()));
  }
  options.block_s = kStreamBlockS;
}

MethodTable MethodsWith(const TargetRules& rules) {
  MethodTable methods;
  methods.Add(McAdamsDefinition());
  methods.Add(VoiceMaskDefinition());
  methods.Add(VtlnDefinition());
  methods.Add(NeuralDefinition(rules));
  methods.Add(AdainDefinition(rules));
  return methods;
}

const MethodTable& ProgramMethods() {
  static const MethodTable table = MethodsWith(ProgramTargetRules());
  return table;
}

std::string BelongsTo(std::string_view parameter, const MethodTable& methods) {
  return fmt::format("--{} belongs to --method {}", parameter, ListOf(methods.Owners(parameter)));
}

namespace {

void SetFromText(VoiceOptions& options, std::string_view one, const MethodTable& methods) {
  const std::size_t equals = one.find('=');
  const std::string name(one.substr(0, equals));
  const MethodDefinition& method = options.Method();
  const Parameter* known = method.Find(name);
  if (known == nullptr && !methods.Owners(name).empty()) {
    throw Error(BelongsTo(name, methods));
  }
  if (known != nullptr && !known->in_texts) {
    throw Error(fmt::format("'{}' is a flag, not part of a method", name));
  }
  if (options.Has(name)) throw Error(fmt::format("option '{}' is given twice", name));
  options.Set(name, equals == std::string_view::npos ? "" : std::string(one.substr(equals + 1)));
}

}  // namespace

VoiceOptions ParseMethodText(const std::string& text, const MethodTable& methods) {
  const std::size_t colon = text.find(':');
  try {
    VoiceOptions options(methods.Find(text.substr(0, colon)));
    std::size_t at = colon;
    while (at != std::string::npos) {
      const std::size_t comma = text.find(',', at + 1);
      SetFromText(options,
                  std::string_view(text).substr(
                      at + 1, comma == std::string::npos ? comma : comma - at - 1),
                  methods);
      at = comma;
    }
    options.Validate();
    return options;
  } catch (const Error& error) {
    throw Error(fmt::format("method '{}': {}", text, error.what()));
  }
}

std::unique_ptr<StreamTransformer> FolderMethod::MakeChannel(int /*rate_hz*/, double /*peak_limit*/,
                                                             const std::string& /*speaker*/,
                                                             const std::string& /*utterance*/,
                                                             std::size_t /*channel*/) const {
  throw Error("this method works on whole folders, not on sound as it arrives");
}

std::unique_ptr<VoiceMethod> MakeVoiceMethod(const VoiceOptions& options, TargetDraws draws) {
  options.Validate();
  return options.Method().Make(options, std::move(draws));
}

}  // namespace sotto
