// The backend for training: libtorch, batches of batch × channels × frames. It offers what
// nn/conv.h lists, so that the nets of `nn` train as they are written there. Parameters come into
// being when a layer first runs.
#pragma once

#include <torch/torch.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "nn/attention.h"
#include "nn/conv.h"
#include "nn/safetensors.h"

namespace sotto {

class TorchBackend {
 public:
  using Tensor = torch::Tensor;

  explicit TorchBackend(torch::Device device) : device_(device) {}

  Tensor Conv1d(const Tensor& x, const std::string& name, const ConvShape& shape);
  Tensor Pointwise(const std::vector<const Tensor*>& parts, const std::string& name,
                   const ConvShape& shape);
  Tensor BatchNorm(const Tensor& x, const std::string& name);
  static Tensor Relu(const Tensor& x, float leak = 0.0f);
  static Tensor Tanh(const Tensor& x) { return torch::tanh(x); }
  static Tensor Sigmoid(const Tensor& x) { return torch::sigmoid(x); }
  static Tensor Add(const Tensor& a, const Tensor& b) { return a + b; }
  static Tensor Scale(const Tensor& x, const Tensor& factors) { return x * factors; }
  static Tensor Rows(const Tensor& x, std::int64_t begin, std::int64_t count) {
    return x.narrow(1, begin, count);
  }
  static Tensor Stack(std::initializer_list<const Tensor*> parts);
  static Tensor Stack(const std::vector<Tensor>& parts) { return torch::cat(parts, 1); }
  static Tensor MeanOverTime(const Tensor& x) { return x.mean(2, /*keepdim=*/true); }
  static Tensor SoftmaxOverTime(const Tensor& x) { return torch::softmax(x, 2, torch::kFloat32); }
  static Tensor Statistics(const Tensor& x, const Tensor& weights);
  static Tensor Statistics(const Tensor& x);
  Tensor AttentiveStatistics(const Tensor& x, const Tensor& hidden, const std::string& name,
                             const ConvShape& shape) {
    return Statistics(x, SoftmaxOverTime(Conv1d(hidden, name, shape)));
  }
  static Tensor CentreRows(const Tensor& x) { return x - x.mean(2, /*keepdim=*/true); }

  // The operations of the nets that make speech (torch_speech_ops.cc). Linear layers and
  // normalisations leave the channels of a frame together in memory.
  Tensor Linear(const Tensor& x, const std::string& name, std::int64_t in, std::int64_t out);
  Tensor DepthwiseConv(const Tensor& x, const std::string& name, const DepthwiseShape& shape);
  Tensor LayerNorm(const Tensor& x, const std::string& name);
  static Tensor InstanceNorm(const Tensor& x);
  static Tensor Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttentionShape& shape);
  // With SetDropout, some of the values become 0.
  Tensor Gelu(const Tensor& x) const {
    const Tensor y = torch::gelu(x, "tanh");
    return dropout_ > 0.0 ? torch::dropout(y, dropout_, /*train=*/true) : y;
  }
  static Tensor Modulate(const Tensor& x, const Tensor& scale, const Tensor& shift) {
    return torch::addcmul(shift, x, scale + 1.0);
  }
  static Tensor Affine(const Tensor& x, float scale, float offset) { return x * scale + offset; }
  static Tensor FoldPairs(const Tensor& x);
  static Tensor UnfoldPairs(const Tensor& x);
  static Tensor Stft(const Tensor& x, const StftShape& shape);
  static Tensor InverseStft(const Tensor& spectrum, const StftShape& shape);
  static Tensor LogMagnitude(const Tensor& spectrum);
  static Tensor Exp(const Tensor& x, float most) { return x.clamp_max(most).exp(); }
  static Tensor Cos(const Tensor& x) { return x.cos(); }
  static Tensor Sin(const Tensor& x) { return x.sin(); }
  static Tensor Multiply(const Tensor& a, const Tensor& b) { return a * b; }
  static Tensor Subtract(const Tensor& a, const Tensor& b) { return a - b; }
  Tensor Work(const Tensor& x) const { return x.to(work_); }
  static Tensor Full(const Tensor& x) { return x.to(torch::kFloat32); }
  // Of training alone: batch × in × height × width, zeros around it, weight normalised by nothing.
  Tensor Conv2d(const Tensor& x, const std::string& name, std::int64_t out,
                const std::vector<std::int64_t>& kernel, const std::vector<std::int64_t>& stride);

  // The type that Work() converts to (kBFloat16 on a GPU).
  void SetWork(torch::ScalarType type) { work_ = type; }
  // Share of the values behind each GELU that is dropped (Srivastava et al. 2014); 0 outside of
  // training.
  void SetDropout(double share) { dropout_ = share; }
  // Batch statistics and gradients (training), or running statistics.
  void SetTraining(bool training) { training_ = training; }

  // The weights of this name, for operations that stand elsewhere; where there are none yet, drawn
  // uniformly on ±bound.
  Tensor Parameter(const std::string& name, const std::vector<std::int64_t>& shape, double bound);

  // By name. Values may be replaced by others of the same sizes (flat_parameters.h).
  std::map<std::string, Tensor>& ParameterMap() { return parameters_; }
  std::map<std::string, Tensor>& BufferMap() { return buffers_; }  // running statistics
  // Replaces or creates all values; shapes are checked when layers run.
  void Load(const TensorFile& file);
  // Adds all values to `file`.
  void Save(TensorFile& file) const;

 private:
  Tensor Constant(const std::string& name, std::int64_t size, float value, bool trainable);

  torch::Device device_;
  bool training_ = false;
  double dropout_ = 0.0;
  torch::ScalarType work_ = torch::kFloat32;
  std::map<std::string, Tensor> parameters_;
  std::map<std::string, Tensor> buffers_;
};

// A net of `nn` with its weights.
template <template <class> class Net, class Options>
class TorchNet {
 public:
  TorchNet(const Options& options, torch::Device device, bool bf16 = false)
      : backend(device), options_(options) {
    if (bf16) backend.SetWork(torch::kBFloat16);
  }
  template <class Input>
  torch::Tensor operator()(const Input& x) {
    return Net<TorchBackend>(options_, backend).Forward(x);
  }
  TorchBackend backend;

 private:
  Options options_;
};

// The stored values where they lie: the tensor must not outlive them.
torch::Tensor AsTensor(const NamedTensor& stored);
// A copy in single precision.
NamedTensor AsStored(const torch::Tensor& values);

}  // namespace sotto
