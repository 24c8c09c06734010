#include "voice/vocoder_definition.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

std::vector<Parameter> WithCommon(std::vector<Parameter> own, const std::string& pitch) {
  own.push_back(PitchParameter(pitch, {"keep", "target", "random"}));
  own.push_back(TargetGenderParameter());
  own.push_back({.name = "pool",
                 .kind = Parameter::Kind::kVoices,
                 .unit = "FILE",
                 .help = "Target voices, from sotto build; default: those in the program",
                 .record = "pool",
                 .must_be_recorded = true,
                 .attack_flag = "pool"});
  own.push_back(
      {.name = "profile",
       .kind = Parameter::Kind::kPath,
       .unit = "FILE",
       .help = "The voice to be changed, from sotto fit; default: fitted from the input where "
               "the method needs it",
       .in_texts = false});
  own.push_back({.name = "f0",
                 .preset = "fast",
                 .choices = {"fast", "robust"},
                 .help = "How the vocoder finds the pitch; robust works in noise and is slower",
                 .record = "f0"});
  return own;
}

class EditingMethod : public VoiceMethod {
 public:
  EditingMethod(TargetVoices targets, const VocoderTransformOptions& vocoder, UtteranceEdit edit,
                bool classes)
      : targets_(std::move(targets)),
        vocoder_(vocoder),
        edit_(std::move(edit)),
        classes_(classes) {}

  FitNeeds Needs() const override {
    return {.voices = targets_.NeedsFit(classes_),
            .genders = targets_.FollowGender(),
            .classes = classes_,
            .f0_method = vocoder_.f0_method};
  }
  void Fit(SourceVoices sources) override { targets_.Fit(std::move(sources)); }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t /*channel*/) const override {
    VocoderTransformOptions vocoder = vocoder_;
    vocoder.peak_limit = peak_limit;
    return MakeVocoderTransformer(rate_hz, edit_(targets_, speaker, utterance), vocoder);
  }

  TargetVoices targets_;
  const VocoderTransformOptions vocoder_;
  const UtteranceEdit edit_;
  const bool classes_;
};

}  // namespace

Parameter PitchParameter(const std::string& preset, std::vector<std::string> choices) {
  return {
      .name = "pitch",
      .preset = preset,
      .choices = std::move(choices),
      .help =
          "Keep the pitch, move it to a target voice's, or scale it by a secret factor of up to 4 "
          "semitones; default: keep with mcadams and voicemask, unless a target gender is asked "
          "for; target with the others, whose conversion includes it",
      .record = "pitch",
      .must_be_recorded = true};
}

Parameter TargetGenderParameter() {
  return {
      .name = "target-gender",
      .preset = "random",
      .choices = {kTargetGenders.begin(), kTargetGenders.end()},
      .help =
          "Gender of the target voice, compared with the speaker's (same and other need a method "
          "with a target voice, or --pitch target)",
      .record = "target_gender",
      .must_be_recorded = true};
}

PitchMode AskedPitch(const VoiceOptions& options) { return ParsePitchMode(options.Value("pitch")); }

TargetGender AskedGender(const VoiceOptions& options) {
  return ParseTargetGender(options.Value("target-gender"));
}

VocoderDefinition::VocoderDefinition(std::string name, std::string help, std::vector<Parameter> own,
                                     bool has_target)
    : MethodDefinition(std::move(name), std::move(help),
                       WithCommon(std::move(own), has_target ? "target" : "keep")),
      has_target_(has_target) {}

std::string VocoderDefinition::Preset(const VoiceOptions& options,
                                      const Parameter& parameter) const {
  const bool to_target = parameter.name == "pitch" && AskedGender(options) != TargetGender::kRandom;
  return to_target ? "target" : parameter.preset;
}

bool VocoderDefinition::UsesTargets(const VoiceOptions& options) const {
  return has_target_ || AskedPitch(options) == PitchMode::kTarget;
}

void VocoderDefinition::Check(const VoiceOptions& options) const {
  if (AskedGender(options) == TargetGender::kRandom || UsesTargets(options)) return;
  throw Error(
      fmt::format("--target-gender {}: method {} has a target voice only with --pitch target",
                  options.Value("target-gender"), Name()));
}

bool VocoderDefinition::IsUsed(const VoiceOptions& options, const Parameter& parameter) const {
  if (parameter.name == "target-gender" || parameter.name == "pool") return UsesTargets(options);
  return parameter.name != "f0" || UsesVocoder(options);
}

void VocoderDefinition::AddToRecord(const VoiceOptions& options, const RunFacts& /*run*/,
                                    nlohmann::ordered_json& record) const {
  if (!UsesTargets(options)) return;
  record["fitted"] = options.Has("profile") ? "from a profile" : "from the corpus itself";
}

VocoderTransformOptions VocoderDefinition::Vocoder(const VoiceOptions& options) {
  return {options.Value("f0") == "robust" ? F0Method::kRobust : F0Method::kFast, options.block_s,
          1.0};
}

std::unique_ptr<VoiceMethod> VocoderDefinition::MakeEditing(const VoiceOptions& options,
                                                            TargetDraws draws, UtteranceEdit edit,
                                                            bool classes) {
  std::optional<VoiceProfile> profile;
  if (const std::filesystem::path file = options.File("profile"); !file.empty()) {
    profile = ParseProfile(ReadTextFile(file), file.string());
  }
  TargetVoices targets(ReadPool(options.File("pool")), std::move(draws), AskedPitch(options),
                       AskedGender(options), std::move(profile));
  return std::make_unique<EditingMethod>(std::move(targets), Vocoder(options), std::move(edit),
                                         classes);
}

}  // namespace sotto
