// The backend for use: one utterance at a time, Eigen with a BLAS under it. Tensors are channels ×
// frames, column-major, so that one frame lies together and a convolution is one matrix product a
// tap.
#pragma once

#include <Eigen/Core>
#include <initializer_list>
#include <string>
#include <vector>

#include "nn/attention.h"
#include "nn/conv.h"
#include "nn/safetensors.h"

namespace sotto {

class EigenBackend {
 public:
  using Tensor = Eigen::MatrixXf;

  // Keeps a reference: `weights` must outlive the backend.
  explicit EigenBackend(const TensorFile& weights) : weights_(weights) {}

  // Cross-correlation with NAME.weight (out × in × kernel) plus NAME.bias (out).
  Tensor Conv1d(const Tensor& x, const std::string& name, const ConvShape& shape) const;
  // The same with kernel 1 over parts that lie one below the other, in the order of the weight; one
  // of a single frame is below every frame. They are put together block by block only.
  Tensor Pointwise(const std::vector<const Tensor*>& parts, const std::string& name,
                   const ConvShape& shape) const;
  // (x − NAME.running_mean)/√(NAME.running_var + 1e-5)·NAME.weight + NAME.bias.
  Tensor BatchNorm(Tensor x, const std::string& name) const;

  static Tensor Relu(Tensor x, float leak = 0.0f);
  static Tensor Tanh(Tensor x);
  static Tensor Sigmoid(Tensor x);
  static Tensor Add(Tensor a, const Tensor& b) {
    a += b;
    return a;
  }
  static Tensor Scale(Tensor x, const Tensor& factors);
  static Tensor Rows(const Tensor& x, std::int64_t begin, std::int64_t count);
  static Tensor Stack(std::initializer_list<const Tensor*> parts);
  static Tensor Stack(const std::vector<Tensor>& parts);
  static Tensor MeanOverTime(const Tensor& x) { return x.rowwise().mean(); }
  static Tensor SoftmaxOverTime(Tensor x);
  // Mean and deviation over time with weights that add up to 1 in each row.
  static Tensor Statistics(const Tensor& x, const Tensor& weights);
  // The same with equal weights.
  static Tensor Statistics(const Tensor& x);
  // With the weights SoftmaxOverTime(Conv1d(hidden)), a few channels at a time.
  Tensor AttentiveStatistics(const Tensor& x, const Tensor& hidden, const std::string& name,
                             const ConvShape& shape) const;
  static Tensor CentreRows(const Tensor& x) { return x.colwise() - x.rowwise().mean(); }

  // NAME.weight (out × in) and NAME.bias.
  Tensor Linear(const Tensor& x, const std::string& name, std::int64_t in, std::int64_t out) const;
  // NAME.weight (channels × kernel) and NAME.bias.
  Tensor DepthwiseConv(const Tensor& x, const std::string& name, const DepthwiseShape& shape) const;
  // Frames begin … begin + count − 1 of that alone.
  Tensor DepthwiseConv(const Tensor& x, const std::string& name, const DepthwiseShape& shape,
                       Eigen::Index begin, Eigen::Index count) const;
  // Each frame to mean 0 and variance 1 over its channels, then NAME.weight and NAME.bias.
  Tensor LayerNorm(Tensor x, const std::string& name) const;
  // Each channel to mean 0 and variance 1 over time.
  static Tensor InstanceNorm(Tensor x);
  // heads·key × frames twice and heads·value × frames to heads·value × frames.
  static Tensor Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttentionShape& shape);
  // x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) (Hendrycks & Gimpel 2016).
  static Tensor Gelu(Tensor x);
  static Tensor Modulate(Tensor x, const Tensor& scale, const Tensor& shift);
  static Tensor Affine(const Tensor& x, float scale, float offset) {
    return (x.array() * scale + offset).matrix();
  }
  static Tensor FoldPairs(const Tensor& x);
  static Tensor UnfoldPairs(const Tensor& x);
  static Tensor Stft(const Tensor& x, const StftShape& shape);
  // Of the windows that lie wholly in x, the first from its first sample on.
  static Tensor Spectra(const Tensor& x, const StftShape& shape);
  static Tensor InverseStft(const Tensor& spectrum, const StftShape& shape);
  // What InverseStft adds up, one frame a column, and divides by.
  static Tensor WindowedFrames(const Tensor& spectrum, const StftShape& shape);
  static Eigen::ArrayXf SquaredWindow(const StftShape& shape);
  static Tensor LogMagnitude(const Tensor& spectrum);
  // exp(min(x, most)).
  static Tensor Exp(const Tensor& x, float most) { return x.array().min(most).exp().matrix(); }
  static Tensor Cos(const Tensor& x) { return x.array().cos().matrix(); }
  static Tensor Sin(const Tensor& x) { return x.array().sin().matrix(); }
  static Tensor Multiply(const Tensor& a, const Tensor& b) { return a.cwiseProduct(b); }
  static Tensor Subtract(Tensor a, const Tensor& b) {
    a -= b;
    return a;
  }
  static Tensor Work(Tensor x) { return x; }
  static Tensor Full(Tensor x) { return x; }

 private:
  const TensorFile& weights_;
};

// First thing in main(): one thread for matrix products, since utterances run in parallel instead,
// and the right kernels. OpenBLAS knows CPUs by a table of models and takes its oldest kernels
// (SSE3, five times slower) for one that is newer than itself; where that happened the program
// starts itself again with the kernels its instruction set allows. OPENBLAS_CORETYPE in the
// environment overrules.
void PrepareBlas(char** argv, int threads = 1);

}  // namespace sotto
