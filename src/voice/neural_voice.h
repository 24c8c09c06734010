// The way of the methods neural and adain through one recording: content (what is said, less its
// mean: content_centre.h), F0 moved to the target's level and range, and the target's embedding go
// into the net that speaks; what comes out is another voice saying the same.
//
// Works at 16 kHz: other rates are brought there and back, so that nothing is left above 8 kHz.
// Blocks of twenty seconds with two seconds of context: bounded memory for any length. The level
// follows the input's (voice/level_control.h), and 20 ms away from any sound of the input there is
// none in the output. Exactly as many samples come out as went in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "nn/adain.h"
#include "nn/content.h"
#include "nn/synth.h"
#include "targets/pseudo_speakers.h"
#include "voice/moonshine_content.h"
#include "voice/neural_pitch.h"
#include "voice/transformer.h"

namespace sotto {

// Nets that belong together: one hears what is said, one says it.
class VoiceNets {
 public:
  virtual ~VoiceNets() = default;
  // mels × n (100 Hz) to size × `frames`.
  virtual Eigen::MatrixXf Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const = 0;
  // The same from the teacher's states; Error where there was no teacher.
  virtual Eigen::MatrixXf FromTeacher(const Eigen::MatrixXf& states, std::int64_t frames) const = 0;
  virtual const WaveformNet& Waveform() const = 0;
  // Deviation of the noise on the content.
  virtual double ContentNoise() const { return 0.0; }
  // Whether the content has a mean over time, which is to go (voice/content_centre.h).
  virtual bool ContentHasMean() const { return true; }
};

// Content encoder and synthesiser.
class NeuralModels : public VoiceNets {
 public:
  // Throws Error unless both have the same bottleneck.
  NeuralModels(TensorFile content, TensorFile synth);

  Eigen::MatrixXf Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const override {
    return content_.Encode(mels, frames);
  }
  Eigen::MatrixXf FromTeacher(const Eigen::MatrixXf& states, std::int64_t frames) const override {
    return content_.FromTeacher(states, frames);
  }
  const WaveformNet& Waveform() const override { return synth_; }

  const ContentNet& Content() const { return content_; }
  const SynthNet& Synth() const { return synth_; }
  double ContentNoise() const override { return content_noise_; }

 private:
  ContentNet content_;
  SynthNet synth_;
  double content_noise_ = 0.0;
};

// One net for all (nn/adain_net.h). Means and variances of its content are those of a block with
// the context around it.
class AdainModels : public VoiceNets {
 public:
  explicit AdainModels(TensorFile file) : net_(std::move(file)) {}

  Eigen::MatrixXf Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const override {
    return net_.Encode(mels, frames);
  }
  Eigen::MatrixXf FromTeacher(const Eigen::MatrixXf& states, std::int64_t frames) const override;
  const WaveformNet& Waveform() const override { return net_; }
  bool ContentHasMean() const override { return false; }  // instance normalisation

 private:
  AdainNet net_;
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
                                                         std::shared_ptr<const VoiceNets> models,
                                                         const NeuralVoiceOptions& options);

}  // namespace sotto
