// Method vtln (targets/vtln.h): warps towards a voice of a pool.
#pragma once

#include <memory>
#include <string>

#include "targets/source_voices.h"
#include "voice/method_table.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

class VtlnMethod : public VoiceMethod {
 public:
  VtlnMethod(TargetVoices targets, const VocoderTransformOptions& vocoder);
  FitNeeds Needs() const override;
  void Fit(SourceVoices sources) override { targets_.Fit(std::move(sources)); }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;

  TargetVoices targets_;
  VocoderTransformOptions vocoder_;
};

std::shared_ptr<const MethodDefinition> VtlnDefinition();

}  // namespace sotto
