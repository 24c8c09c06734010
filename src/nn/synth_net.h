// The source-filter synthesiser: content, pitch and a speaker embedding to a waveform, as a
// template over a backend (conv.h). Every 10 ms a complex gain for each bin of the spectrum of a
// harmonic source, and a real one for each bin of noise; their sum goes through the inverse
// short-time transform:
//   Y = exp(a + iθ)·H + exp(c)·N
// so that the harmonics lie where F0 puts them whatever the net has learnt (source-filter: Wang,
// Takaki & Yamagishi 2019, NSF; filters in the spectrum: Liu, Chen & Yu 2020; ConvNeXt blocks and
// the inverse transform as the last layer: Siuzdak 2023, Vocos). The harmonic source runs on
// through unvoiced stretches: what is voiced is for the gains to say, with the voicing as a hint.
//
// The defaults see 30 frames (300 ms) to either side; `ahead` bounds the look-ahead. 7.7 million
// parameters, 14.7 MiB in half precision.
#pragma once

#include <string>

#include "nn/convnext.h"

namespace sotto {

struct SynthOptions {
  std::int64_t content = 128;    // size of the bottleneck (content_net.h)
  std::int64_t embedding = 192;  // of the speaker, scaled to length √embedding
  std::int64_t condition = 128;
  StftShape spectrum;
  ConvNextOptions body = {384, 1024, 8, 7, {1}, {3}};

  // In frames of 10 ms: the blocks, the content between two of its frames, the windows.
  Reach Sees() const {
    Reach all = body.Sees();
    const std::int64_t windows = 2 * ((spectrum.window - spectrum.hop) / 2 / spectrum.hop + 1);
    all.left += windows + 2;
    all.right += windows + 2;
    return all;
  }
};

template <class Tensor>
struct SynthInput {
  Tensor content;    // content × T/2
  Tensor pitch;      // 2 × T: log F0 (PitchFeature), voiced or not (1, 0)
  Tensor harmonic;   // 1 × T·hop samples, power 1
  Tensor noise;      // 1 × T·hop samples, power 1
  Tensor embedding;  // embedding × 1
};

template <class Backend>
class Synthesiser {
 public:
  using Tensor = typename Backend::Tensor;

  Synthesiser(const SynthOptions& options, Backend& backend) : o_(options), b_(backend) {}

  // 1 × T·hop samples; T is even.
  Tensor Forward(const SynthInput<Tensor>& in) {
    const std::int64_t bins = o_.spectrum.Bins();
    const Tensor h = b_.Stft(in.harmonic, o_.spectrum), n = b_.Stft(in.noise, o_.spectrum);
    const Tensor content = b_.UnfoldPairs(in.content);
    const Tensor shape = b_.Affine(b_.LogMagnitude(h), 0.3f, 0.0f);
    Tensor x = b_.Work(b_.Stack({&content, &in.pitch, &shape}));
    x = b_.LayerNorm(b_.Linear(x, "stem", o_.content + 2 + bins, o_.body.channels), "stem_norm");
    const Tensor voice =
        b_.Gelu(b_.Linear(b_.Work(in.embedding), "voice", o_.embedding, o_.condition));
    for (std::int64_t i = 0; i < o_.body.blocks; ++i) {
      x = ConvNextBlock<Backend>(b_, x, "blocks." + std::to_string(i), o_.body, i, &voice,
                                 o_.condition);
    }
    x = b_.LayerNorm(std::move(x), "head_norm");
    const Tensor gains = b_.Full(b_.Linear(x, "head", o_.body.channels, 3 * bins));
    // Sources of power 1 against speech of about 0.05: where the gains begin.
    const auto gain = [&](std::int64_t row) {
      return b_.Exp(b_.Affine(b_.Rows(gains, row, bins), 1.0f, kFirstLogGain), kMostLogGain);
    };
    const Tensor voiced = gain(0), unvoiced = gain(2 * bins);
    const Tensor turn = b_.Rows(gains, bins, bins);
    const Tensor re = b_.Multiply(voiced, b_.Cos(turn)), im = b_.Multiply(voiced, b_.Sin(turn));
    const Tensor h_re = b_.Rows(h, 0, bins), h_im = b_.Rows(h, bins, bins);
    const Tensor y_re = b_.Add(b_.Subtract(b_.Multiply(re, h_re), b_.Multiply(im, h_im)),
                               b_.Multiply(unvoiced, b_.Rows(n, 0, bins)));
    const Tensor y_im = b_.Add(b_.Add(b_.Multiply(re, h_im), b_.Multiply(im, h_re)),
                               b_.Multiply(unvoiced, b_.Rows(n, bins, bins)));
    return b_.InverseStft(b_.Stack({&y_re, &y_im}), o_.spectrum);
  }

 private:
  static constexpr float kFirstLogGain = -3.0f, kMostLogGain = 3.0f;

  SynthOptions o_;
  Backend& b_;
};

}  // namespace sotto
