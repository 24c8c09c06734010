// A recogniser that listens while a synthesiser learns: the encoder of Moonshine tiny (Jeffries et
// al. 2024, "Moonshine: Speech Recognition for Live Transcription and Voice Commands", section 3.1)
// with gradients, its weights taken from the ONNX file that `./do deps --onnx` installs. Mel
// spectra tell little about whether words can still be understood; what this net hears in speech
// that was made, compared with what it hears in the recording, does.
//
// The net: convolutions 127/64 (tanh, normalised over the whole crop), 7/3 and 3/2 (GELU), then
// six transformer layers of 288 with 8 heads, normalisation before each part, and rotary positions
// on 32 of a head's 36 values (Su et al. 2021, neighbours paired). 41.7 states a second. Weights
// are 8-bit integers in the file; here values are computed in float throughout, where the runtime
// also rounds activations: states differ by some percent of their size (listener_test.cc).
//
// It is used in training alone, none of its weights is in what is trained.
#pragma once

#include <torch/torch.h>

#include <array>

#include "nn/safetensors.h"

namespace sotto {

class Listener {
 public:
  static constexpr std::int64_t kSize = 288;

  // `weights`: nn/onnx_weights.h. Throws Error when they are not those of Moonshine tiny.
  Listener(const TensorFile& weights, torch::Device device);

  // batch × samples at 16 kHz to batch × 288 × states. At least 0.1 s.
  torch::Tensor operator()(const torch::Tensor& samples) const;

 private:
  static constexpr int kLayers = 6;
  struct Layer {
    torch::Tensor before_attention, before_mlp;  // of the normalisations
    torch::Tensor query, key, value, out, wide, wide_bias, narrow, narrow_bias;
  };

  torch::Tensor Attend(const Layer& layer, const torch::Tensor& x, const torch::Tensor& cosine,
                       const torch::Tensor& sine) const;

  torch::Tensor conv1_, conv2_, conv3_, bias2_, bias3_, scale_, shift_, frequencies_, last_;
  std::array<Layer, kLayers> layers_;
};

}  // namespace sotto
