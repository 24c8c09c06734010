#include "voice/voice_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"
#include "voice/method_table.h"

namespace sotto {

VoiceOptions::VoiceOptions() : VoiceOptions(kDefaultMethod) {}

VoiceOptions::VoiceOptions(std::string_view method) : VoiceOptions(ProgramMethods().Find(method)) {}

VoiceOptions::VoiceOptions(std::shared_ptr<const MethodDefinition> method)
    : method_(std::move(method)) {}

void VoiceOptions::Use(std::string_view method) { Use(ProgramMethods().Find(method)); }

void VoiceOptions::Use(std::shared_ptr<const MethodDefinition> method) {
  method_ = std::move(method);
  values_.clear();
}

std::string VoiceOptions::MethodName() const { return method_->Name(); }

VoiceOptions& VoiceOptions::Set(std::string_view parameter, const std::string& value) {
  const Parameter* found = method_->Find(parameter);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const Parameter& known : method_->Parameters()) names.push_back(known.name);
    throw Error(fmt::format("'{}' is not an option of method {}: it takes {}", parameter,
                            MethodName(), names.empty() ? "none" : ListOf(names, "and")));
  }
  found->Read(value);
  if (found->check) found->check(value);
  SetRecorded(*found, value);
  return *this;
}

void VoiceOptions::SetRecorded(const Parameter& parameter, const std::string& value) {
  parameter.Read(value);
  const bool is_number = parameter.kind == Parameter::Kind::kNumber;
  values_[parameter.name] = parameter.normalise ? parameter.normalise(value)
                            : is_number ? fmt::format("{}", ParseNumber(value, parameter.name))
                                        : value;
}

void VoiceOptions::SetIfKnown(std::string_view parameter, const std::string& value) {
  if (method_->Find(parameter) != nullptr) Set(parameter, value);
}

std::string VoiceOptions::Value(std::string_view parameter) const {
  const auto given = values_.find(parameter);
  if (given != values_.end()) return given->second;
  const Parameter* known = method_->Find(parameter);
  return known == nullptr ? std::string() : method_->Preset(*this, *known);
}

std::string VoiceOptions::Text() const {
  std::string text = MethodName();
  for (const Parameter& parameter : method_->Parameters()) {
    if (!parameter.changes_sound || parameter.kind == Parameter::Kind::kNets) continue;
    std::string value = Value(parameter.name);
    if (parameter.IsFile()) {
      const std::filesystem::path file = method_->FileOf(*this, parameter);
      value = file.empty() ? "" : ContentDigest(ReadTextFile(file));
    }
    if (parameter.kind == Parameter::Kind::kSwitch) value = Has(parameter.name) ? "on" : "";
    text += fmt::format(" {}={}", parameter.name, value);
  }
  for (const auto& [name, value] : method_->Facts(*this))
    text += fmt::format(" {}={}", name, value);
  return text;
}

void VoiceOptions::Validate() const { method_->Check(*this); }

}  // namespace sotto
