// All parameters of a backend in one tensor, so that an optimiser's step, a moving average and the
// sum of gradients are a few kernels whatever the number of layers (a net of 100 tensors would
// otherwise spend more time starting kernels than computing).
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "learn/torch_backend.h"

namespace sotto {

struct AdamOptions {
  double learning_rate = 5e-4;
  double beta1 = 0.8, beta2 = 0.99;
  double weight_decay = 0.01;  // decoupled (Loshchilov & Hutter 2019), of matrices only
  double clip = 10.0;          // of the gradient's norm
};

class FlatParameters {
 public:
  // Takes over the parameters the backend has; its layers must have run once.
  explicit FlatParameters(TorchBackend& backend);

  // Gives the backend views of the values for the next forward pass; with gradients or without.
  void Spread(bool with_gradients);
  // One step of AdamW with the gradients of the last backward pass; without a host transfer.
  void Step(const AdamOptions& options);
  // value ← decay·value + (1 − decay)·other.
  void AverageFrom(const FlatParameters& other, double decay);
  const torch::Tensor& Values() const { return flat_; }
  void Set(const torch::Tensor& values);

 private:
  TorchBackend& backend_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::int64_t>> shapes_;
  torch::Tensor flat_, decays_, first_, second_;
  std::int64_t steps_ = 0;
};

}  // namespace sotto
