// Method mcadams (voice/mcadams.h): a coefficient drawn from a range, or a public one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "targets/source_voices.h"
#include "voice/method_table.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

// What a user may ask for. At 0.3 formants from 300 to 4000 Hz lie between 1300 and 2900 at
// 16 kHz, and vowels are hardly told apart; at 1.2 angles above 6600 Hz meet the end of the axis
// (at 2: above 4500). The literature takes 0.5 to 0.9. McAdamsOptions allows more: inverses need
// it, and records of earlier versions may say it.
inline constexpr double kLeastAlpha = 0.3;
inline constexpr double kMostAlpha = 1.2;

// The transformer alone where the pitch stays, which keeps its 30 ms of latency; otherwise a
// vocoder behind it changes the pitch.
class McAdamsMethod : public VoiceMethod {
 public:
  // Throws Error when the range leaves what McAdamsOptions allows.
  McAdamsMethod(Range alpha, TargetDraws draws);
  McAdamsMethod(Range alpha, TargetVoices targets, const VocoderTransformOptions& vocoder);
  FitNeeds Needs() const override;
  void Fit(SourceVoices sources) override;

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;

  Range alpha_;
  TargetDraws draws_;
  std::optional<TargetVoices> targets_;  // where the pitch does not stay
  VocoderTransformOptions vocoder_;
};

std::shared_ptr<const MethodDefinition> McAdamsDefinition();

}  // namespace sotto
