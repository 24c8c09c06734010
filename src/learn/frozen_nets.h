// Nets that hear what is made while another one learns, and pass gradients on without learning
// themselves: they say whether a conversion has the voice and the words that were asked for.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "learn/bottleneck.h"
#include "learn/listener.h"
#include "learn/torch_backend.h"
#include "learn/torch_mel.h"
#include "nn/content.h"
#include "nn/encoder_net.h"
#include "nn/safetensors.h"

namespace sotto {

class FrozenSpeakerEncoder {
 public:
  // Throws Error unless it is an ECAPA net with 80 mel bands and embeddings of `size`.
  FrozenSpeakerEncoder(const TensorFile& file, std::int64_t size, torch::Device device);
  // batch × samples to batch × size × 1.
  torch::Tensor operator()(const torch::Tensor& x);

 private:
  EcapaOptions options_;
  TorchBackend backend_;
  TorchMel mel_;
};

class FrozenContentEncoder {
 public:
  FrozenContentEncoder(const TensorFile& file, torch::Device device);
  // batch × samples to batch × size × content frames.
  torch::Tensor operator()(const torch::Tensor& x);

 private:
  ContentOptions options_;
  TorchBackend backend_;
  TorchMel mel_;
};

// What a recogniser hears, in the coordinates of the content.
class Words {
 public:
  // Throws Error when the content's teacher has states of another size than the listener.
  Words(const TensorFile& listener, const Bottleneck& bottleneck, torch::Device device);

  // batch × samples to batch × size × states.
  torch::Tensor operator()(const torch::Tensor& x) const;
  // DistillationLoss (student.h) of what is heard in `made`.
  torch::Tensor Loss(const torch::Tensor& made, const torch::Tensor& asked) const;
  // Squared error over the variance of what was asked for.
  double RelativeError(const torch::Tensor& made, const torch::Tensor& asked) const;

 private:
  Listener listener_;
  Bottleneck bottleneck_;
};

}  // namespace sotto
