#include "learn/torch_backend.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

using Tensor = TorchBackend::Tensor;

constexpr double kBatchNormMomentum = 0.1;

}  // namespace

// Uniform on ±bound, as torch's own layers begin (Kaiming, a = √5).
Tensor TorchBackend::Parameter(const std::string& name, const std::vector<std::int64_t>& shape,
                               double bound) {
  auto found = parameters_.find(name);
  if (found == parameters_.end()) {
    torch::NoGradGuard no_grad;
    Tensor value = torch::empty(shape, torch::TensorOptions(device_)).uniform_(-bound, bound);
    found = parameters_.emplace(name, value.requires_grad_(true)).first;
  }
  return found->second;
}

Tensor TorchBackend::Constant(const std::string& name, std::int64_t size, float value,
                              bool trainable) {
  auto& where = trainable ? parameters_ : buffers_;
  auto found = where.find(name);
  if (found == where.end()) {
    Tensor fresh = torch::full({size}, value, torch::TensorOptions(device_));
    found = where.emplace(name, fresh.requires_grad_(trainable)).first;
  }
  return found->second;
}

Tensor TorchBackend::Conv1d(const Tensor& x, const std::string& name, const ConvShape& shape) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(shape.in * shape.kernel));
  Tensor weight = Parameter(name + ".weight", {shape.out, shape.in, shape.kernel}, bound);
  if (weight.dim() == 2) weight = weight.unsqueeze(2);  // a linear layer of a foreign file
  const Tensor bias = Parameter(name + ".bias", {shape.out}, bound);
  if (weight.size(0) != shape.out || weight.size(1) != shape.in || weight.size(2) != shape.kernel) {
    throw Error(fmt::format("layer '{}' has other sizes than the net", name));
  }
  const std::int64_t side = (shape.kernel - 1) * shape.dilation / 2;
  Tensor input = x;
  if (side > 0 && shape.padding != Padding::kNone) {
    input = shape.padding == Padding::kReflect
                ? torch::reflection_pad1d(x, {side, side})
                : torch::constant_pad_nd(x, {shape.Left(), shape.Right()});
  }
  const auto type = x.scalar_type();
  const std::vector<std::int64_t> one{1}, none{0}, dilation{shape.dilation};
  return torch::conv1d(input, weight.to(type), bias.to(type), one, none, dilation);
}

Tensor TorchBackend::BatchNorm(const Tensor& x, const std::string& name) {
  const std::int64_t n = x.size(1);
  const Tensor weight = Constant(name + ".weight", n, 1.0f, true);
  const Tensor bias = Constant(name + ".bias", n, 0.0f, true);
  const Tensor mean = Constant(name + ".running_mean", n, 0.0f, false);
  const Tensor variance = Constant(name + ".running_var", n, 1.0f, false);
  return torch::batch_norm(x, weight, bias, mean, variance, training_, kBatchNormMomentum,
                           kBatchNormFloor, /*cudnn_enabled=*/true);
}

Tensor TorchBackend::Relu(const Tensor& x, float leak) {
  return leak == 0.0f ? torch::relu(x) : torch::leaky_relu(x, leak);
}

Tensor TorchBackend::Stack(std::initializer_list<const Tensor*> parts) {
  std::vector<Tensor> tensors;
  for (const Tensor* part : parts) tensors.push_back(*part);
  return torch::cat(tensors, 1);
}

Tensor TorchBackend::Statistics(const Tensor& x, const Tensor& weights) {
  const Tensor wide = x.to(torch::kFloat32);
  const Tensor mean = (wide * weights).sum(2, true);
  const Tensor variance = ((wide - mean).square() * weights).sum(2, true);
  return torch::cat({mean, variance.clamp_min(kVarianceFloor).sqrt()}, 1);
}

Tensor TorchBackend::Statistics(const Tensor& x) {
  const Tensor wide = x.to(torch::kFloat32);
  const Tensor mean = wide.mean(2, true);
  const Tensor variance = (wide - mean).square().mean(2, true);
  return torch::cat({mean, variance.clamp_min(kVarianceFloor).sqrt()}, 1);
}

Tensor TorchBackend::Pointwise(const std::vector<const Tensor*>& parts, const std::string& name,
                               const ConvShape& shape) {
  const Tensor& first = *parts.front();
  std::vector<Tensor> whole;
  for (const Tensor* part : parts) {
    const bool below_all = part->size(2) < first.size(2);
    whole.push_back(below_all ? part->to(first.scalar_type()).expand({-1, -1, first.size(2)})
                              : *part);
  }
  return Conv1d(whole.size() == 1 ? first : torch::cat(whole, 1), name, shape);
}

void TorchBackend::Load(const TensorFile& file) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : file.tensors) {
    const bool buffer = name.ends_with(".running_mean") || name.ends_with(".running_var");
    const Tensor value = AsTensor(tensor).clone().to(device_);
    (buffer ? buffers_ : parameters_)[name] = value.requires_grad_(!buffer);
  }
}

void TorchBackend::Save(TensorFile& file) const {
  for (const auto* map : {&parameters_, &buffers_}) {
    for (const auto& [name, value] : *map) file.tensors[name] = AsStored(value);
  }
}

Tensor AsTensor(const NamedTensor& stored) {
  return torch::from_blob(const_cast<float*>(stored.values.data()), stored.shape);
}

NamedTensor AsStored(const Tensor& values) {
  const Tensor plain = values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return {plain.sizes().vec(), {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()}};
}

}  // namespace sotto
