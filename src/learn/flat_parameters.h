// All parameters of a backend in one tensor, so that an optimiser's step, a moving average and the
// sum of gradients are a few kernels whatever the number of layers (a net of 100 tensors would
// otherwise spend more time starting kernels than computing). Running statistics of
// normalisations, where a net has them, lie in a second one and are averaged along.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "learn/torch_backend.h"

namespace sotto {

// By name; they share their values with whoever gave them.
using TensorMap = std::map<std::string, torch::Tensor>;

struct AdamOptions {
  double learning_rate = 5e-4;
  double beta1 = 0.8, beta2 = 0.99;
  double weight_decay = 0.01;  // decoupled (Loshchilov & Hutter 2019), of matrices only
  double clip = 10.0;          // of the gradient's norm
  // The sums of torch::optim::AdamW to the last bit: all values decay and nothing is clipped. The
  // speaker encoders in use were trained so.
  bool as_torch = false;
};

class FlatParameters {
 public:
  // Takes over the parameters and statistics the backend has; its layers must have run once.
  explicit FlatParameters(TorchBackend& backend);
  FlatParameters(const FlatParameters&) = delete;
  FlatParameters& operator=(const FlatParameters&) = delete;

  // Gives the backend views of the values for the next forward pass, with gradients or without.
  // Views without gradients, which it has from the beginning, follow all later changes.
  void Spread(bool with_gradients);
  // One step of AdamW with the gradients of the last backward pass; without a host transfer.
  void Step(const AdamOptions& options);
  // value ← decay·value + (1 − decay)·other.
  void AverageFrom(const FlatParameters& other, double decay);
  const torch::Tensor& Values() const { return flat_; }

  // What a net is, and what its optimiser knows, for a checkpoint: "NAME", "NAME.…".
  void AddWeights(const std::string& name, TensorMap& to) const;
  void AddOptimiser(const std::string& name, TensorMap& to) const;

 private:
  TorchBackend& backend_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::int64_t>> shapes_;
  torch::Tensor flat_, decays_, first_, second_, statistics_;
  torch::Tensor steps_ = torch::zeros({1});  // on the host
};

}  // namespace sotto
