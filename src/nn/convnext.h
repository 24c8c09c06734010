// A ConvNeXt block for sequences (Liu et al. 2022; in one dimension Siuzdak 2023, "Vocos"): a
// depthwise convolution over time, a normalisation of each frame, two linear layers with a GELU
// between, and the sum with the input. With a condition the normalised frame is scaled and shifted
// by linear functions of it (Perez et al. 2018, FiLM). With a normalisation of each channel over
// time instead, that is adaptive instance normalisation (Huang & Belongie 2017, AdaIN).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nn/conv.h"

namespace sotto {

// How far a net sees, in its own frames.
struct Reach {
  std::int64_t left = 0, right = 0;
};

struct ConvNextOptions {
  std::int64_t channels = 256, hidden = 768, blocks = 9;
  std::int64_t kernel = 7;
  // Of block i: entry i modulo the size. `ahead` counts taps after the frame itself: half of the
  // kernel looks both ways, 0 is causal.
  std::vector<std::int64_t> dilations = {1};
  std::vector<std::int64_t> ahead = {3};

  DepthwiseShape Depthwise(std::int64_t block) const {
    const auto i = static_cast<std::size_t>(block);
    return {channels, kernel, dilations[i % dilations.size()], ahead[i % ahead.size()]};
  }
  Reach Sees() const {
    Reach all;
    for (std::int64_t i = 0; i < blocks; ++i) {
      all.left += Depthwise(i).Left();
      all.right += Depthwise(i).Right();
    }
    return all;
  }
};

enum class BlockNorm {
  kLayer,     // of each frame over its channels, NAME.norm
  kInstance,  // of each channel over time, without weights
};

// `condition`: size × 1 per recording, or nullptr.
template <class Backend, BlockNorm norm = BlockNorm::kLayer>
typename Backend::Tensor ConvNextBlock(Backend& b, const typename Backend::Tensor& x,
                                       const std::string& name, const ConvNextOptions& o,
                                       std::int64_t block,
                                       const typename Backend::Tensor* condition,
                                       std::int64_t condition_size) {
  using Tensor = typename Backend::Tensor;
  Tensor y = b.DepthwiseConv(x, name + ".depthwise", o.Depthwise(block));
  if constexpr (norm == BlockNorm::kLayer) {
    y = b.LayerNorm(std::move(y), name + ".norm");
  } else {
    y = b.InstanceNorm(std::move(y));
  }
  if (condition != nullptr) {
    const Tensor film = b.Linear(*condition, name + ".film", condition_size, 2 * o.channels);
    y = b.Modulate(std::move(y), b.Rows(film, 0, o.channels), b.Rows(film, o.channels, o.channels));
  }
  y = b.Gelu(b.Linear(y, name + ".wide", o.channels, o.hidden));
  return b.Add(b.Linear(y, name + ".narrow", o.hidden, o.channels), x);
}

}  // namespace sotto
