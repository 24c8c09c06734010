// What the methods that go through the vocoder have in common: the pitch, and target voices of a
// pool.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "targets/pitch.h"
#include "targets/source_voices.h"
#include "voice/method_table.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

// --pitch and --target-gender, which other methods take too.
Parameter PitchParameter(const std::string& preset, std::vector<std::string> choices);
Parameter TargetGenderParameter();

PitchMode AskedPitch(const VoiceOptions& options);
TargetGender AskedGender(const VoiceOptions& options);

// What is done to the frames of an utterance.
using UtteranceEdit = std::function<MakeFrameEditor(
    const TargetVoices& targets, const std::string& speaker, const std::string& utterance)>;

class VocoderDefinition : public MethodDefinition {
 public:
  // `own` come before the common parameters. `has_target`: a target voice whatever the pitch.
  VocoderDefinition(std::string name, std::string help, std::vector<Parameter> own,
                    bool has_target);

  std::string Preset(const VoiceOptions& options, const Parameter& parameter) const override;
  void Check(const VoiceOptions& options) const override;
  bool IsUsed(const VoiceOptions& options, const Parameter& parameter) const override;
  void AddToRecord(const VoiceOptions& options, const RunFacts& run,
                   nlohmann::ordered_json& record) const override;

 protected:
  virtual bool UsesVocoder(const VoiceOptions& /*options*/) const { return true; }
  static VocoderTransformOptions Vocoder(const VoiceOptions& options);
  // The method that does nothing else; `classes`: it has to know those of the source. Reads the
  // pool and the profile, and throws Error as they do.
  static std::unique_ptr<VoiceMethod> MakeEditing(const VoiceOptions& options, TargetDraws draws,
                                                  UtteranceEdit edit, bool classes = false);

 private:
  bool UsesTargets(const VoiceOptions& options) const;
  bool has_target_;
};

// The methods of this kind, each in a file of its own (mcadams_method.cc …).
std::shared_ptr<const MethodDefinition> McAdamsDefinition();
std::shared_ptr<const MethodDefinition> VoiceMaskDefinition();
std::shared_ptr<const MethodDefinition> VtlnDefinition();

}  // namespace sotto
