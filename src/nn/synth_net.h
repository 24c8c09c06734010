// The source-filter synthesiser: content, pitch and a speaker embedding to a waveform, as a
// template over a backend (conv.h): ConvNeXt blocks (Siuzdak 2023, Vocos) conditioned on the
// embedding, and gains for a harmonic source and noise (waveform_head.h).
//
// The defaults see 30 frames (300 ms) to either side; `ahead` bounds the look-ahead. 7.7 million
// parameters, 14.7 MiB in half precision.
#pragma once

#include <string>

#include "nn/convnext.h"
#include "nn/waveform_head.h"

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

template <class Backend>
class Synthesiser {
 public:
  using Tensor = typename Backend::Tensor;

  Synthesiser(const SynthOptions& options, Backend& backend) : o_(options), b_(backend) {}

  // 1 × T·hop samples; T is even.
  Tensor Forward(const SynthInput<Tensor>& in) {
    const std::int64_t bins = o_.spectrum.Bins();
    const Tensor h = b_.Stft(in.harmonic, o_.spectrum), n = b_.Stft(in.noise, o_.spectrum);
    Tensor x = SynthFeatures<Backend>(b_, in, h);
    x = b_.LayerNorm(b_.Linear(x, "stem", o_.content + 2 + bins, o_.body.channels), "stem_norm");
    const Tensor voice =
        b_.Gelu(b_.Linear(b_.Work(in.embedding), "voice", o_.embedding, o_.condition));
    for (std::int64_t i = 0; i < o_.body.blocks; ++i) {
      x = ConvNextBlock<Backend>(b_, x, "blocks." + std::to_string(i), o_.body, i, &voice,
                                 o_.condition);
    }
    x = b_.LayerNorm(std::move(x), "head_norm");
    return WaveformHead<Backend>(b_, x, "head", o_.body.channels, h, n, o_.spectrum);
  }

 private:
  SynthOptions o_;
  Backend& b_;
};

}  // namespace sotto
