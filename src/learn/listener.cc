#include "learn/listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kSize = Listener::kSize, kHeads = 8, kHead = 36, kTurned = 32, kWide = 1152;
constexpr double kEpsilon = 1e-5;

class Reader {
 public:
  Reader(const TensorFile& file, torch::Device device) : file_(file), device_(device) {
    const std::string prefix = "onnx::MatMul_", suffix = "_quantized";
    for (const auto& [name, tensor] : file.tensors) {
      if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
      int number = 0;
      const char* first = name.data() + prefix.size();
      const char* end = name.data() + name.size() - suffix.size();
      if (std::from_chars(first, end, number).ptr == end) matrices_.push_back(number);
    }
    std::sort(matrices_.begin(), matrices_.end());
  }

  Tensor Values(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const NamedTensor& t = file_.Get(name, shape);
    return torch::tensor(t.values).view(t.shape).to(device_);
  }
  // (integer − zero point)·scale. The file numbers its matrices in the order of their use.
  Tensor NextMatrix(std::int64_t in, std::int64_t out) {
    if (next_ == matrices_.size()) {
      throw Error(fmt::format("{}: not the encoder of Moonshine tiny ({} matrices)", file_.where,
                              matrices_.size()));
    }
    const std::string name = fmt::format("onnx::MatMul_{}_", matrices_[next_++]);
    return (Values(name + "quantized", {in, out}) - Values(name + "zero_point", {})) *
           Values(name + "scale", {});
  }
  // integer·scale + offset.
  Tensor Kernel(const std::string& name, const std::vector<std::int64_t>& shape) const {
    return Values(name + ".weight_quantized", shape) * Values(name + ".weight_scale", {1}) +
           Values(name + ".weight_zero_point", {1});
  }

 private:
  const TensorFile& file_;
  torch::Device device_;
  std::vector<int> matrices_;
  std::size_t next_ = 0;
};

// To mean 0 and variance 1 over the dimensions.
Tensor Standardise(const Tensor& x, const std::vector<std::int64_t>& over) {
  const Tensor centred = x - x.mean(over, /*keepdim=*/true);
  return centred * torch::rsqrt(centred.square().mean(over, /*keepdim=*/true) + kEpsilon);
}

// Spelt out: on a CPU libtorch 1.13's own gelu reads past a gradient that is not contiguous, as one
// that comes back through a transposition is not.
Tensor Gelu(const Tensor& x) { return 0.5 * x * (1.0 + torch::erf(x * std::numbers::sqrt2 * 0.5)); }

Tensor Normalise(const Tensor& x, const Tensor& weight) { return Standardise(x, {2}) * weight; }

// (x₀, x₁) to (x₀·cos − x₁·sin, x₁·cos + x₀·sin) for each pair of neighbours.
Tensor Turn(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const Tensor pairs = x.narrow(3, 0, kTurned).unflatten(3, {kTurned / 2, 2});
  const Tensor a = pairs.select(4, 0), b = pairs.select(4, 1);
  const Tensor turned = torch::stack({a * cosine - b * sine, b * cosine + a * sine}, 4).flatten(3);
  return torch::cat({turned, x.narrow(3, kTurned, kHead - kTurned)}, 3);
}

}  // namespace

Listener::Listener(const TensorFile& weights, torch::Device device) {
  Reader reader(weights, device);
  conv1_ = reader.Kernel("conv1", {kSize, 1, 127});
  conv2_ = reader.Kernel("conv2", {2 * kSize, kSize, 7});
  conv3_ = reader.Kernel("conv3", {kSize, 2 * kSize, 3});
  bias2_ = reader.Values("conv2.bias", {2 * kSize});
  bias3_ = reader.Values("conv3.bias", {kSize});
  scale_ = reader.Values("onnx::Mul_1488", {kSize, 1});
  shift_ = reader.Values("onnx::Add_1489", {kSize, 1});
  frequencies_ = reader.Values("/rotary_emb/Cast_1_output_0", {1, kTurned / 2, 1}).view({-1});
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = fmt::format("layers.{}.", i);
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    layer.before_attention = reader.Values(name + "input_layernorm.weight", {kSize});
    layer.before_mlp = reader.Values(name + "post_attention_layernorm.weight", {kSize});
    layer.query = reader.NextMatrix(kSize, kSize);
    layer.key = reader.NextMatrix(kSize, kSize);
    layer.value = reader.NextMatrix(kSize, kSize);
    layer.out = reader.NextMatrix(kSize, kSize);
    layer.wide = reader.NextMatrix(kSize, kWide);
    layer.wide_bias = reader.Values(name + "mlp.fc1.bias", {kWide});
    layer.narrow = reader.NextMatrix(kWide, kSize);
    layer.narrow_bias = reader.Values(name + "mlp.fc2.bias", {kSize});
  }
  last_ = reader.Values("layer_norm.weight", {kSize});
}

Tensor Listener::Attend(const Layer& layer, const Tensor& x, const Tensor& cosine,
                        const Tensor& sine) const {
  const auto heads = [&](const Tensor& matrix) {
    return torch::matmul(x, matrix).unflatten(2, {kHeads, kHead}).transpose(1, 2);
  };
  const Tensor query = Turn(heads(layer.query), cosine, sine);
  const Tensor key = Turn(heads(layer.key), cosine, sine);
  const Tensor share = torch::softmax(
      torch::matmul(query, key.transpose(2, 3)) / std::sqrt(static_cast<double>(kHead)), 3);
  return torch::matmul(torch::matmul(share, heads(layer.value)).transpose(1, 2).flatten(2),
                       layer.out);
}

Tensor Listener::operator()(const Tensor& samples) const {
  Tensor x = torch::tanh(torch::conv1d(samples.unsqueeze(1), conv1_, {}, 64));
  x = Standardise(x, {1, 2}) * scale_ + shift_;
  x = Gelu(torch::conv1d(x, conv2_, bias2_, 3));
  x = Gelu(torch::conv1d(x, conv3_, bias3_, 2)).transpose(1, 2);
  const Tensor angle = torch::outer(torch::arange(x.size(1), frequencies_.options()), frequencies_);
  const Tensor cosine = angle.cos(), sine = angle.sin();
  for (const Layer& layer : layers_) {
    x = x + Attend(layer, Normalise(x, layer.before_attention), cosine, sine);
    const Tensor wide = torch::matmul(Normalise(x, layer.before_mlp), layer.wide);
    x = x + torch::matmul(Gelu(wide + layer.wide_bias), layer.narrow) + layer.narrow_bias;
  }
  return Normalise(x, last_).transpose(1, 2);
}

}  // namespace sotto
