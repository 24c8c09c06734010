#include "learn/flat_parameters.h"

#include <cmath>

#include "base/error.h"

namespace sotto {

using torch::Tensor;

FlatParameters::FlatParameters(TorchBackend& backend) : backend_(backend) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> values, decays;
  for (const auto& [name, value] : backend.ParameterMap()) {
    names_.push_back(name);
    counts_.push_back(value.numel());
    shapes_.push_back(value.sizes().vec());
    values.push_back(value.detach().reshape({-1}));
    decays.push_back(torch::full_like(values.back(), value.dim() > 1 ? 1.0 : 0.0));
  }
  flat_ = torch::cat(values).clone().requires_grad_(true);
  decays_ = torch::cat(decays);
  first_ = torch::zeros_like(decays_);
  second_ = torch::zeros_like(decays_);
  Spread(false);
  std::vector<Tensor> statistics = {torch::zeros({0}, decays_.options())};
  for (const auto& [name, value] : backend.BufferMap()) statistics.push_back(value);
  statistics_ = torch::cat(statistics);
  std::int64_t at = 0;
  for (auto& [name, value] : backend.BufferMap()) {
    value = statistics_.narrow(0, at, value.numel());
    at += value.numel();
  }
}

void FlatParameters::Spread(bool with_gradients) {
  const Tensor source = with_gradients ? flat_ : flat_.detach();
  const std::vector<Tensor> parts = source.split_with_sizes(counts_);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    backend_.ParameterMap()[names_[i]] = parts[i].view(shapes_[i]);
  }
}

void FlatParameters::Step(const AdamOptions& o) {
  torch::NoGradGuard no_grad;
  Tensor gradient = flat_.grad();
  if (!gradient.defined()) throw Error("an optimiser's step without gradients");
  gradient = torch::nan_to_num(gradient, 0.0, 0.0, 0.0);
  steps_ += 1.0;
  const auto t = steps_.item<double>();
  const double c1 = 1.0 - std::pow(o.beta1, t), c2 = 1.0 - std::pow(o.beta2, t);
  Tensor size;
  if (o.as_torch) {
    flat_.mul_(1.0 - o.learning_rate * o.weight_decay);
    first_.mul_(o.beta1).add_(gradient, 1.0 - o.beta1);
    second_.mul_(o.beta2).addcmul_(gradient, gradient, 1.0 - o.beta2);
    size = second_.sqrt() / std::sqrt(c2);
  } else {
    gradient = gradient * (o.clip / (gradient.norm() + 1e-6)).clamp_max(1.0);
    flat_.sub_(decays_ * flat_ * (o.learning_rate * o.weight_decay));
    first_.lerp_(gradient, 1.0 - o.beta1);
    second_.mul_(o.beta2).addcmul_(gradient, gradient, 1.0 - o.beta2);
    size = (second_ / c2).sqrt_();
  }
  flat_.addcdiv_(first_, size.add_(1e-8), -o.learning_rate / c1);
  flat_.mutable_grad() = Tensor();
}

void FlatParameters::AverageFrom(const FlatParameters& other, double decay) {
  torch::NoGradGuard no_grad;
  flat_.lerp_(other.flat_.detach(), 1.0 - decay);
  statistics_.lerp_(other.statistics_, 1.0 - decay);
}

void FlatParameters::AddWeights(const std::string& name, TensorMap& to) const {
  to[name] = flat_.detach();
  if (statistics_.numel() > 0) to[name + ".statistics"] = statistics_;
}

void FlatParameters::AddOptimiser(const std::string& name, TensorMap& to) const {
  to[name + ".first"] = first_;
  to[name + ".second"] = second_;
  to[name + ".steps"] = steps_;
}

}  // namespace sotto
