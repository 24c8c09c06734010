// The neural method's way through one recording: content (what is said), F0 moved to the target's
// level and range, and the target's embedding go into the synthesiser; what comes out is another
// voice saying the same.
//
// Works at 16 kHz: other rates are brought there and back, so that nothing is left above 8 kHz.
// Blocks of twenty seconds with two seconds of context: bounded memory for any length. The level
// follows the input's (voice/level_control.h). Exactly as many samples come out as went in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "nn/content.h"
#include "nn/synth.h"
#include "voice/moonshine_content.h"
#include "voice/neural_pitch.h"
#include "voice/pseudo_speakers.h"
#include "voice/transformer.h"

namespace sotto {

// Content encoder and synthesiser that belong together.
class NeuralModels {
 public:
  // Throws Error unless both have the same bottleneck.
  NeuralModels(TensorFile content, TensorFile synth);

  const ContentNet& Content() const { return content_; }
  const SynthNet& Synth() const { return synth_; }
  double ContentNoise() const { return content_noise_; }

 private:
  ContentNet content_;
  SynthNet synth_;
  double content_noise_ = 0.0;
};

// ln 2⁻²³, as log-mel features of silence have it: where a recording is too short for one frame.
inline constexpr float kSilentLogMel = -15.9f;

struct NeuralVoiceOptions {
  SpeakerVoice target;
  PitchMode pitch = PitchMode::kTarget;  // kTarget or kKeep
  std::vector<ContourBend> bend;         // none or one
  std::uint64_t noise_seed = 0;          // of the breath in the synthesis: it hides nothing
  // Of the noise on the content, which protects; needed where the nets were trained with it.
  std::optional<Key> content_key;
  double peak_limit = 1.0;
  double block_s = 20.0;
  // Where given, its states instead of the student's.
  std::shared_ptr<const MoonshineContent> teacher;
};

// Any rate from 8 to 192 kHz.
std::unique_ptr<StreamTransformer> MakeNeuralTransformer(int rate_hz,
                                                         std::shared_ptr<const NeuralModels> models,
                                                         const NeuralVoiceOptions& options);

}  // namespace sotto
