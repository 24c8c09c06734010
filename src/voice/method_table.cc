#include "voice/method_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "voice/mcadams_method.h"
#include "voice/neural_method.h"
#include "voice/voicemask_method.h"
#include "voice/vtln_method.h"

namespace sotto {

const Parameter* MethodDefinition::Find(std::string_view parameter) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const Parameter& known) { return known.name == parameter; });
  return found == parameters_.end() ? nullptr : &*found;
}

std::vector<std::string> MethodDefinition::RecordFields() const {
  std::vector<std::string> fields = {"method"};
  for (const Parameter& parameter : parameters_) {
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
    throw Error(fmt::format("--strategy random: method {} draws once for a stream", name_));
  }
  options.block_s = kStreamBlockS;
}

PoolRuleRecord MethodDefinition::Rule(const VoiceOptions& /*options*/) const {
  return {PoolRule::kIndependent, "method " + name_};
}

void MethodTable::Add(std::shared_ptr<const MethodDefinition> method) {
  for (const auto& known : methods_) {
    if (known->Name() == method->Name()) {
      throw Error(fmt::format("two methods '{}'", method->Name()));
    }
  }
  methods_.push_back(std::move(method));
}

std::shared_ptr<const MethodDefinition> MethodTable::Find(std::string_view name) const {
  for (const auto& method : methods_) {
    if (method->Name() == name) return method;
  }
  throw Error(fmt::format("method '{}': {} is allowed", name, ListOf(Names())));
}

std::vector<std::string> MethodTable::Names() const {
  std::vector<std::string> names;
  for (const auto& method : methods_) names.push_back(method->Name());
  return names;
}

std::vector<std::string> MethodTable::Owners(std::string_view parameter) const {
  std::vector<std::string> owners;
  for (const auto& method : methods_) {
    if (method->Find(parameter) != nullptr) owners.push_back(method->Name());
  }
  return owners;
}

const MethodTable& ProgramMethods() {
  static const MethodTable table = [] {
    MethodTable methods;
    methods.Add(McAdamsDefinition());
    methods.Add(VoiceMaskDefinition());
    methods.Add(VtlnDefinition());
    methods.Add(NeuralDefinition());
    methods.Add(AdainDefinition());
    return methods;
  }();
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
    throw Error(fmt::format("'{}' is a flag, and no part of a method", name));
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

std::unique_ptr<VoiceMethod> MakeVoiceMethod(const VoiceOptions& options, TargetDraws draws) {
  options.Validate();
  return options.Method().Make(options, std::move(draws));
}

}  // namespace sotto
