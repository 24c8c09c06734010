// Who says, while a synthesiser learns, whether a conversion has the voice and the words that were
// asked for: nets that do not learn themselves, but pass gradients on.
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

// The speaker encoder and the content encoder.
class Judges {
 public:
  // Throws Error when `encoder` is no ECAPA net with 80 mel bands.
  Judges(const TensorFile& content, const TensorFile& encoder, torch::Device device);

  std::int64_t EmbeddingSize() const { return speaker_.embedding; }
  // batch × samples to batch × size × 1 and batch × size × content frames.
  torch::Tensor Speaker(const torch::Tensor& x);
  torch::Tensor Content(const torch::Tensor& x);

 private:
  ContentOptions content_;
  EcapaOptions speaker_;
  TorchBackend content_backend_, speaker_backend_;
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
