// What a run of any method is told: the method, and values of its parameters.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/parameter.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

class MethodDefinition;

class VoiceOptions : public ParameterValues {
 public:
  // The default method (voice/method_table.h), or one of the program's by its name.
  VoiceOptions();
  explicit VoiceOptions(std::string_view method);
  explicit VoiceOptions(std::shared_ptr<const MethodDefinition> method);

  // Another method; nothing that was set stays.
  void Use(std::string_view method);
  void Use(std::shared_ptr<const MethodDefinition> method);
  const MethodDefinition& Method() const { return *method_; }
  std::string MethodName() const;

  // Throws Error that names the method and what it takes, or what is allowed for the value.
  VoiceOptions& Set(std::string_view parameter, const std::string& value = {});
  // The same for what a record of an earlier version may say and nobody may ask for any more.
  void SetRecorded(const Parameter& parameter, const std::string& value);
  // Where the method has such a parameter.
  void SetIfKnown(std::string_view parameter, const std::string& value = {});

  bool Has(std::string_view parameter) const override { return values_.contains(parameter); }
  std::string Value(std::string_view parameter) const override;

  // All that changes what comes out, the contents of files included: an interrupted run is taken up
  // only by the same.
  std::string Text() const;
  // Throws Error where the values contradict each other.
  void Validate() const;

  double block_s = kFileBlockS;  // of the vocoder's analysis

 private:
  std::shared_ptr<const MethodDefinition> method_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace sotto
