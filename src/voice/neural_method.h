// The methods that speak by nets (`--method neural`, `--method adain`): voice/neural_voice.h with a
// target drawn for each speaker or utterance: without a look at the source, or by voice-ind with
// one that is bounded.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "targets/pseudo_speakers.h"
#include "targets/voice_ind_targets.h"
#include "voice/method_table.h"
#include "voice/neural_options.h"
#include "voice/neural_voice.h"

namespace sotto {

class NeuralMethod : public VoiceMethod {
 public:
  // Throws Error as OpenNeuralNets (neural_nets.h) and OpenAdainNets (adain_nets.h) do, and where
  // Moonshine is asked for and missing.
  NeuralMethod(const NeuralOptions& options, TargetGender gender, PitchMode pitch,
               TargetDraws draws, NeuralKind kind = NeuralKind::kSynth);

  // The gender of the target may follow the source's, which must then be known; voice-ind chooses
  // by the source's embedding.
  FitNeeds Needs() const override;
  void Fit(SourceVoices sources) override { sources_ = std::move(sources); }
  // voice-ind: a speaker who is a voice of the pool.
  void RefuseSpeakers(const std::vector<std::string>& speakers) const override;

  // The voice that this utterance gets, at its beginning or after pause n of a stream. voice-ind
  // chooses by the utterance's own embedding wherever in it.
  SpeakerVoice Target(const std::string& speaker, const std::string& utterance,
                      std::size_t pause = 0) const;
  // Those of voice-ind; with strategy perm one for each speaker, of an empty name.
  std::vector<TargetDraw> DrawsMade(const std::string& utterance) const override {
    return ledger_->Of(utterance);
  }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;
  Gender SourceGender(const std::string& speaker) const;
  SpeakerVoice TargetBySource(Gender gender, const std::string& speaker,
                              const std::string& utterance, std::size_t pause) const;

  NeuralOptions o_;
  TargetGender gender_;
  PitchMode pitch_;
  TargetDraws draws_;
  std::shared_ptr<const VoiceNets> models_;
  std::shared_ptr<const NeuralModels> live_;  // the same, where it can run as speech comes
  SpeakerPool pool_;
  std::optional<PseudoSpeakers> generator_;  // unless the pool itself is the target
  std::optional<VoiceIndTargets> voice_ind_;
  std::shared_ptr<const SpeakerEncoder> encoder_;  // of voice_ind_
  std::shared_ptr<const MoonshineContent> teacher_;
  std::optional<SourceVoices> sources_;
  std::shared_ptr<DrawLedger> ledger_;  // shared with the copies that transformers keep
};

std::shared_ptr<const MethodDefinition> NeuralDefinition();
std::shared_ptr<const MethodDefinition> AdainDefinition();

}  // namespace sotto
