#include "learn/torch_source.h"

#include <cmath>
#include <numbers>

#include "nn/source.h"

namespace sotto {

using torch::Tensor;

Tensor HarmonicSources(const Tensor& f0_hz, const Tensor& phase) {
  const std::int64_t frames = f0_hz.size(1), hop = kSynthHop, half = hop / 2;
  const Tensor log_f0 = f0_hz.to(torch::kFloat64).log();
  // Between the centres of frames; the ends stand still.
  const Tensor share = torch::arange(hop, log_f0.options()) / static_cast<double>(hop);
  const Tensor from = log_f0.narrow(1, 0, frames - 1).unsqueeze(2);
  const Tensor to = log_f0.narrow(1, 1, frames - 1).unsqueeze(2);
  const Tensor between = (from + (to - from) * share).reshape({f0_hz.size(0), -1});
  const Tensor f0 = torch::cat({log_f0.narrow(1, 0, 1).expand({-1, half}), between,
                                log_f0.narrow(1, frames - 1, 1).expand({-1, half})},
                               1)
                        .exp();
  constexpr double kTurn = 2.0 * std::numbers::pi;
  const Tensor angle =
      torch::remainder(torch::cumsum(f0 * (kTurn / kSynthRateHz), 1) + phase.unsqueeze(1), kTurn);
  const Tensor k = torch::floor(kHighestHarmonicHz / f0).clamp_min(1.0);
  const Tensor below = 2.0 * torch::sin(0.5 * angle);
  const Tensor flat = below.abs() < 1e-5;
  const Tensor sum = torch::where(
      flat, k,
      torch::sin((k + 0.5) * angle) / torch::where(flat, torch::ones_like(below), below) - 0.5);
  return ((2.0 / k).sqrt() * sum).to(torch::kFloat32);
}

}  // namespace sotto
