// The methods that speak by nets (`--method neural`, `--method adain`): voice/neural_voice.h with a
// target chosen for each speaker or utterance by a rule of targets/target_rule.h.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "targets/pitch.h"
#include "targets/target_rule.h"
#include "voice/method_table.h"
#include "voice/neural_nets.h"
#include "voice/neural_voice.h"

namespace sotto {

class NeuralMethod : public VoiceMethod {
 public:
  // Throws Error as OpenNeuralNets and OpenAdainNets (neural_nets.h) do, where the
  // target is no rule of the table, and where Moonshine is asked for and missing.
  NeuralMethod(const VoiceOptions& options, TargetDraws draws, NeuralKind kind = NeuralKind::kSynth,
               const TargetRules& rules = ProgramTargetRules());

  // The gender of the target may follow the source's, which must then be known; a rule may choose
  // by the source's embedding.
  FitNeeds Needs() const override;
  void Fit(SourceVoices sources) override { sources_ = std::move(sources); }
  void RefuseSpeakers(const std::vector<std::string>& speakers) const override {
    targets_->RefuseSpeakers(speakers);
  }

  // The voice that this utterance gets, at its beginning or after pause n of a stream.
  SpeakerVoice Target(const std::string& speaker, const std::string& utterance,
                      std::size_t pause = 0) const;
  std::vector<TargetDraw> DrawsMade(const std::string& utterance) const override {
    return targets_->DrawsMade(utterance);
  }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;
  Gender SourceGender(const std::string& speaker) const;

  NeuralOptions o_;
  TargetGender gender_;
  PitchMode pitch_;
  TargetDraws draws_;
  std::shared_ptr<const VoiceNets> models_;
  std::shared_ptr<const NeuralModels> live_;  // the same, where it can run as speech comes
  std::shared_ptr<const SpeakerPool> pool_;
  std::shared_ptr<const TargetChoice> targets_;  // shared with the copies that transformers keep
  std::shared_ptr<const MoonshineContent> teacher_;
  std::optional<SourceVoices> sources_;
};

// adain takes the rules that do not look at the source: its voices are not by the encoder.
std::shared_ptr<const MethodDefinition> NeuralDefinition(const TargetRules& rules);
std::shared_ptr<const MethodDefinition> AdainDefinition(const TargetRules& rules);

}  // namespace sotto
