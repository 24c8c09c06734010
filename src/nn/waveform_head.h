// The last layer of the nets that make a waveform (synth_net.h, adain_net.h): every 10 ms a complex
// gain for each bin of the spectrum of a harmonic source, and a real one for each bin of noise;
// their sum goes through the inverse short-time transform:
//   Y = exp(a + iθ)·H + exp(c)·N
// so that the harmonics lie where F0 puts them whatever the net has learnt (source-filter: Wang,
// Takaki & Yamagishi 2019, NSF; filters in the spectrum: Liu, Chen & Yu 2020; the inverse transform
// as the last layer: Siuzdak 2023, Vocos). The harmonic source runs on through unvoiced stretches:
// what is voiced is for the gains to say, with the voicing as a hint.
#pragma once

#include <string>

#include "nn/conv.h"

namespace sotto {

template <class Tensor>
struct SynthInput {
  Tensor content;    // content × T/2
  Tensor pitch;      // 2 × T: log F0 (PitchFeature), voiced or not (1, 0)
  Tensor harmonic;   // 1 × T·hop samples, power 1
  Tensor noise;      // 1 × T·hop samples, power 1
  Tensor embedding;  // embedding × 1
};

// What the first layer sees: the content between its frames, the pitch, the shape of the source's
// spectrum `harmonic`. content + 2 + bins rows.
template <class Backend>
typename Backend::Tensor SynthFeatures(Backend& b, const SynthInput<typename Backend::Tensor>& in,
                                       const typename Backend::Tensor& harmonic) {
  using Tensor = typename Backend::Tensor;
  const Tensor content = b.UnfoldPairs(in.content);
  const Tensor shape = b.Affine(b.LogMagnitude(harmonic), 0.3f, 0.0f);
  return b.Work(b.Stack({&content, &in.pitch, &shape}));
}

// `x`: channels × T; `harmonic` and `noise`: spectra of the sources. 1 × T·hop samples.
template <class Backend>
typename Backend::Tensor WaveformHead(Backend& b, const typename Backend::Tensor& x,
                                      const std::string& name, std::int64_t channels,
                                      const typename Backend::Tensor& harmonic,
                                      const typename Backend::Tensor& noise,
                                      const StftShape& spectrum) {
  using Tensor = typename Backend::Tensor;
  constexpr float kFirstLogGain = -3.0f, kMostLogGain = 3.0f;
  const std::int64_t bins = spectrum.Bins();
  const Tensor gains = b.Full(b.Linear(x, name, channels, 3 * bins));
  // Sources of power 1 against speech of about 0.05: where the gains begin.
  const auto gain = [&](std::int64_t row) {
    return b.Exp(b.Affine(b.Rows(gains, row, bins), 1.0f, kFirstLogGain), kMostLogGain);
  };
  const Tensor voiced = gain(0), unvoiced = gain(2 * bins);
  const Tensor turn = b.Rows(gains, bins, bins);
  const Tensor re = b.Multiply(voiced, b.Cos(turn)), im = b.Multiply(voiced, b.Sin(turn));
  const Tensor h_re = b.Rows(harmonic, 0, bins), h_im = b.Rows(harmonic, bins, bins);
  const Tensor y_re = b.Add(b.Subtract(b.Multiply(re, h_re), b.Multiply(im, h_im)),
                            b.Multiply(unvoiced, b.Rows(noise, 0, bins)));
  const Tensor y_im = b.Add(b.Add(b.Multiply(re, h_im), b.Multiply(im, h_re)),
                            b.Multiply(unvoiced, b.Rows(noise, bins, bins)));
  return b.InverseStft(b.Stack({&y_re, &y_im}), spectrum);
}

}  // namespace sotto
