// Nets that hear what is made while another one learns, and pass gradients on without learning
// themselves: they say whether a conversion has the voice and the words that were asked for.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "learn/bottleneck.h"
#include "learn/listener.h"
#include "learn/student.h"
#include "nn/encoder_net.h"
#include "nn/safetensors.h"

namespace sotto {

// Hears what the student hears (kStudentMels).
template <template <class> class Net, class Options>
class FrozenNet {
 public:
  FrozenNet(const TensorFile& file, const Options& options, torch::Device device)
      : net_(options, device), mel_(kStudentMels, device) {
    net_.backend.Load(file);
    for (auto& [name, value] : net_.backend.ParameterMap()) value.requires_grad_(false);
  }
  torch::Tensor operator()(const torch::Tensor& samples) { return net_(mel_(samples)); }

 private:
  TorchNet<Net, Options> net_;
  TorchMel mel_;
};

// batch × samples to batch × size × 1.
using FrozenSpeakerEncoder = FrozenNet<Ecapa, EcapaOptions>;
// Throws Error unless it is an ECAPA net with 80 mel bands and embeddings of `size`.
EcapaOptions ReadJudge(const TensorFile& file, std::int64_t size);

// batch × samples to batch × size × content frames.
using FrozenContentEncoder = FrozenNet<ContentStudent, ContentOptions>;

// What a recogniser hears, in the coordinates of the content.
class Words {
 public:
  // Throws Error when the content's teacher has states of another size than the listener.
  Words(const TensorFile& listener, const Bottleneck& bottleneck, torch::Device device);

  // batch × samples to batch × size × states.
  torch::Tensor operator()(const torch::Tensor& x) const;
  // DistillationLoss (student.h) of what is heard in `made`.
  torch::Tensor Loss(const torch::Tensor& made, const torch::Tensor& asked) const;

 private:
  Listener listener_;
  Bottleneck bottleneck_;
};

}  // namespace sotto
