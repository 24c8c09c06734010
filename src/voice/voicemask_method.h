// Method voicemask (dsp/warp.h): the frequency axis warped by two numbers drawn in secret.
#pragma once

#include <memory>
#include <string>

#include "targets/source_voices.h"
#include "voice/method_table.h"
#include "voice/vocoder_transformer.h"
#include "voice/voicemask.h"

namespace sotto {

class VoiceMaskMethod : public VoiceMethod {
 public:
  VoiceMaskMethod(VoiceMaskOptions warp, TargetVoices targets,
                  const VocoderTransformOptions& vocoder);
  FitNeeds Needs() const override;
  void Fit(SourceVoices sources) override { targets_.Fit(std::move(sources)); }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;

  VoiceMaskOptions warp_;
  TargetVoices targets_;
  VocoderTransformOptions vocoder_;
};

std::shared_ptr<const MethodDefinition> VoiceMaskDefinition();

}  // namespace sotto
