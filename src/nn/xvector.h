// The x-vector TDNN (Snyder et al. 2018), as a template over a backend (conv.h): five frame layers,
// mean and deviation over time, and the first segment layer, whose affine output is the embedding.
// Tensor names are SpeechBrain's (its blocks 0 to 16, activations counted). Its deviation divides
// by n − 1, ours by n. Frames: at least 3.
#pragma once

#include <string>

#include "nn/conv.h"

namespace sotto {

struct XvectorOptions {
  std::int64_t mels = 24;
  std::int64_t channels = 512;
  std::int64_t pooled = 1500;
  std::int64_t embedding = 512;
  bool centre_mels = true;
  float leak = 0.0f;  // slope of the activation below 0 (SpeechBrain: 0.01)
};

template <class Backend>
class Xvector {
 public:
  using Tensor = typename Backend::Tensor;

  Xvector(const XvectorOptions& options, Backend& backend) : o_(options), b_(backend) {}

  Tensor Forward(const Tensor& mels) {
    Tensor x = o_.centre_mels ? b_.CentreRows(mels) : mels;
    x = Layer(x, 0, {o_.mels, o_.channels, 5, 1});
    x = Layer(x, 3, {o_.channels, o_.channels, 3, 2});
    x = Layer(x, 6, {o_.channels, o_.channels, 3, 3});
    x = Layer(x, 9, {o_.channels, o_.channels, 1, 1});
    x = Layer(x, 12, {o_.channels, o_.pooled, 1, 1});
    return b_.Conv1d(b_.Statistics(x), "blocks.16.w", {2 * o_.pooled, o_.embedding, 1, 1});
  }

 private:
  Tensor Layer(const Tensor& x, int index, const ConvShape& shape) {
    return b_.BatchNorm(
        b_.Relu(b_.Conv1d(x, "blocks." + std::to_string(index) + ".conv.conv", shape), o_.leak),
        "blocks." + std::to_string(index + 2) + ".norm.norm");
  }

  XvectorOptions o_;
  Backend& b_;
};

}  // namespace sotto
