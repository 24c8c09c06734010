// Voice conversion by separating what is said from who says it with instance normalisation (Chou &
// Lee 2019, "One-shot Voice Conversion by Separating Speaker and Content Representations with
// Instance Normalization"), as a template over a backend (conv.h). Three parts that are trained
// together from nothing but speech:
//   content: log-mel frames at 100 Hz, in pairs, through ConvNeXt blocks. After every layer each
//     channel is brought to mean 0 and variance 1 over time, IN(x) = (x − μ)/σ, so that what stays
//     the same through a recording, the voice above all, is taken away; a narrow end at 50 Hz.
//   speaker: the same frames through blocks without that, and the mean over time: one vector.
//   decoder: content, F0 and voicing through blocks whose normalised channels are scaled and
//     shifted by linear functions of that vector,
//     AdaIN(x) = (1 + γ(s))·IN(x) + β(s)       (Huang & Belongie 2017)
//     into gains for a harmonic source and noise (waveform_head.h).
// The paper's decoder gives mel spectra for a separate vocoder, and its content is a variational
// code, KL(N(μ, 1) ‖ N(0, 1)) = μ²/2. Here the last normalisation fixes the mean of μ² to 1, and
// the deviation of the noise added in training is the knob that bounds what passes:
// ½·log₂(1 + 1/σ²) bits for each value.
//
// Means and variances are those of all frames that are given at once: the crop in training (about 2
// s), up to 24 s in use (adain.h). 3.9 million parameters, 7.5 MiB in half precision.
#pragma once

#include <string>

#include "nn/convnext.h"
#include "nn/waveform_head.h"

namespace sotto {

struct AdainOptions {
  std::int64_t mels = 80;
  std::int64_t bottleneck = 64;
  std::int64_t embedding = 128;  // of the speaker, scaled to length √embedding
  std::int64_t stem_kernel = 5;
  StftShape spectrum;
  ConvNextOptions content = {192, 512, 6, 7, {1, 2, 4}, {3}};
  ConvNextOptions speaker = {128, 256, 4, 7, {1, 2}, {3}};
  ConvNextOptions decoder = {256, 576, 5, 7, {1, 2}, {3}};
};

template <class Backend>
class Adain {
 public:
  using Tensor = typename Backend::Tensor;

  Adain(const AdainOptions& options, Backend& backend) : o_(options), b_(backend) {}

  // mels × 2T to bottleneck × T.
  Tensor Content(const Tensor& mels) {
    Tensor x = b_.InstanceNorm(Stem(mels, "content.stem", o_.content.channels));
    for (std::int64_t i = 0; i < o_.content.blocks; ++i) {
      x = b_.InstanceNorm(ConvNextBlock<Backend, BlockNorm::kInstance>(
          b_, x, "content.blocks." + std::to_string(i), o_.content, i, nullptr, 0));
    }
    return b_.InstanceNorm(
        b_.Full(b_.Linear(x, "content.head", o_.content.channels, o_.bottleneck)));
  }

  // mels × 2T to embedding × 1, not yet scaled.
  Tensor Speaker(const Tensor& mels) {
    Tensor x = b_.LayerNorm(Stem(mels, "speaker.stem", o_.speaker.channels), "speaker.stem_norm");
    for (std::int64_t i = 0; i < o_.speaker.blocks; ++i) {
      x = ConvNextBlock<Backend>(b_, x, "speaker.blocks." + std::to_string(i), o_.speaker, i,
                                 nullptr, 0);
    }
    x = b_.LayerNorm(std::move(x), "speaker.head_norm");
    return b_.Linear(b_.MeanOverTime(b_.Full(x)), "speaker.head", o_.speaker.channels,
                     o_.embedding);
  }

  // 1 × T·hop samples; T is even.
  Tensor Speak(const SynthInput<Tensor>& in) {
    const std::int64_t bins = o_.spectrum.Bins(), channels = o_.decoder.channels;
    const Tensor h = b_.Stft(in.harmonic, o_.spectrum), n = b_.Stft(in.noise, o_.spectrum);
    Tensor x = SynthFeatures<Backend>(b_, in, h);
    x = b_.LayerNorm(b_.Linear(x, "decoder.stem", o_.bottleneck + 2 + bins, channels),
                     "decoder.stem_norm");
    const Tensor voice = b_.Work(in.embedding);
    for (std::int64_t i = 0; i < o_.decoder.blocks; ++i) {
      x = ConvNextBlock<Backend, BlockNorm::kInstance>(b_, x, "decoder.blocks." + std::to_string(i),
                                                       o_.decoder, i, &voice, o_.embedding);
    }
    x = b_.LayerNorm(std::move(x), "decoder.head_norm");
    return WaveformHead<Backend>(b_, x, "decoder.head", channels, h, n, o_.spectrum);
  }

 private:
  Tensor Stem(const Tensor& mels, const std::string& name, std::int64_t channels) {
    // Natural logarithms of energies of 16-bit samples lie between 5 and 20.
    const Tensor x = b_.Work(b_.FoldPairs(b_.Affine(mels, 0.25f, -3.0f)));
    return b_.Conv1d(x, name, {2 * o_.mels, channels, o_.stem_kernel, 1, Padding::kZero});
  }

  AdainOptions o_;
  Backend& b_;
};

}  // namespace sotto
