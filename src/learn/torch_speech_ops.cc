// The operations of the nets that make speech (nn/conv.h), on batches.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "learn/torch_backend.h"

namespace sotto {
namespace {

using Tensor = TorchBackend::Tensor;

Tensor Hann(const StftShape& shape, const Tensor& like) {
  return torch::hann_window(shape.window, /*periodic=*/true,
                            like.options().dtype(torch::kFloat32).requires_grad(false));
}

// batch × frames × window to batch × samples: frame t begins at hop·t; (window − hop)/2 samples at
// either end are cut away.
Tensor OverlapAdd(const Tensor& frames, const StftShape& shape) {
  const std::int64_t parts = shape.window / shape.hop, n = frames.size(1);
  const Tensor split = frames.reshape({frames.size(0), n, parts, shape.hop});
  Tensor sum;
  for (std::int64_t p = 0; p < parts; ++p) {
    const Tensor shifted = torch::constant_pad_nd(split.select(2, p), {0, 0, p, parts - 1 - p});
    sum = p == 0 ? shifted : sum + shifted;
  }
  return sum.reshape({frames.size(0), -1}).narrow(1, (shape.window - shape.hop) / 2, n * shape.hop);
}

}  // namespace

Tensor TorchBackend::Linear(const Tensor& x, const std::string& name, std::int64_t in,
                            std::int64_t out) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  const Tensor weight = Parameter(name + ".weight", {out, in}, bound);
  const Tensor bias = Parameter(name + ".bias", {out}, bound);
  if (weight.dim() != 2 || weight.size(0) != out || weight.size(1) != in || x.size(1) != in) {
    throw Error(fmt::format("layer '{}' has other sizes than the net", name));
  }
  const auto type = x.scalar_type();
  return torch::linear(x.transpose(1, 2), weight.to(type), bias.to(type)).transpose(1, 2);
}

Tensor TorchBackend::DepthwiseConv(const Tensor& x, const std::string& name,
                                   const DepthwiseShape& s) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(s.kernel));
  const Tensor weight = Parameter(name + ".weight", {s.channels, s.kernel}, bound);
  const Tensor bias = Parameter(name + ".bias", {s.channels}, bound);
  if (weight.size(0) != s.channels || weight.size(1) != s.kernel || x.size(1) != s.channels) {
    throw Error(fmt::format("layer '{}' has other sizes than the net", name));
  }
  const auto type = x.scalar_type();
  const std::vector<std::int64_t> one{1}, none{0}, dilation{s.dilation};
  return torch::conv1d(torch::constant_pad_nd(x, {s.Left(), s.Right()}),
                       weight.unsqueeze(1).to(type), bias.to(type), one, none, dilation,
                       s.channels);
}

Tensor TorchBackend::LayerNorm(const Tensor& x, const std::string& name) {
  const std::int64_t n = x.size(1);
  const auto type = x.scalar_type();
  const Tensor weight = Constant(name + ".weight", n, 1.0f, true).to(type);
  const Tensor bias = Constant(name + ".bias", n, 0.0f, true).to(type);
  return torch::layer_norm(x.transpose(1, 2), {n}, weight, bias, kLayerNormFloor).transpose(1, 2);
}

Tensor TorchBackend::InstanceNorm(const Tensor& x) {
  // Statistics in single precision at least.
  const Tensor wide = x.scalar_type() == torch::kBFloat16 ? x.to(torch::kFloat32) : x;
  const Tensor centred = wide - wide.mean(2, /*keepdim=*/true);
  const Tensor variance = centred.square().mean(2, /*keepdim=*/true);
  return (centred * (variance + kInstanceNormFloor).rsqrt()).to(x.scalar_type());
}

Tensor TorchBackend::Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                            const AttentionShape& s) {
  const std::int64_t frames = query.size(2);
  const auto plain = query.options().dtype(torch::kFloat32).requires_grad(false);
  const Tensor at = torch::arange(frames, plain);
  std::vector<float> steps;
  for (std::int64_t i = 0; i < s.key / 2; ++i) steps.push_back(static_cast<float>(s.Turn(i)));
  const Tensor angle = torch::outer(at, torch::tensor(steps).to(query.device()));
  const Tensor cosine = angle.cos().to(query.scalar_type());
  const Tensor sine = angle.sin().to(query.scalar_type());
  // batch × heads × frames × size
  const auto heads = [&](const Tensor& x) {
    return x.unflatten(1, {s.heads, x.size(1) / s.heads}).transpose(2, 3);
  };
  const auto turned = [&](const Tensor& x) {
    const Tensor pairs = heads(x).unflatten(3, {s.key / 2, 2});
    const Tensor a = pairs.select(4, 0), b = pairs.select(4, 1);
    return torch::stack({a * cosine - b * sine, b * cosine + a * sine}, 4).flatten(3);
  };
  const double scale = 1.0 / std::sqrt(static_cast<double>(s.key));
  Tensor scores = torch::matmul(turned(query) * scale, turned(key).transpose(2, 3));
  if (frames > s.reach + 1) {
    const Tensor far = (at.unsqueeze(0) - at.unsqueeze(1)).abs() > static_cast<double>(s.reach);
    scores = scores.masked_fill(far, -1e9);
  }
  const Tensor share = torch::softmax(scores, 3).to(value.scalar_type());
  return torch::matmul(share, heads(value)).transpose(2, 3).flatten(1, 2);
}

Tensor TorchBackend::FoldPairs(const Tensor& x) {
  const std::int64_t batch = x.size(0), rows = x.size(1), frames = x.size(2);
  if (frames % 2 != 0) throw Error(fmt::format("{} frames are no pairs", frames));
  return x.transpose(1, 2).reshape({batch, frames / 2, 2 * rows}).transpose(1, 2);
}

Tensor TorchBackend::UnfoldPairs(const Tensor& x) {
  const std::int64_t n = x.size(2);
  const Tensor before = torch::cat({x.narrow(2, 0, 1), x.narrow(2, 0, n - 1)}, 2);
  const Tensor after = torch::cat({x.narrow(2, 1, n - 1), x.narrow(2, n - 1, 1)}, 2);
  return torch::stack({0.75 * x + 0.25 * before, 0.75 * x + 0.25 * after}, 3)
      .reshape({x.size(0), x.size(1), 2 * n});
}

Tensor TorchBackend::Stft(const Tensor& x, const StftShape& shape) {
  const std::int64_t side = (shape.window - shape.hop) / 2;
  const Tensor frames =
      torch::constant_pad_nd(x.select(1, 0), {side, side}).unfold(1, shape.window, shape.hop);
  const Tensor spectrum =
      torch::view_as_real(torch::fft::rfft(frames * Hann(shape, x)));  // batch × T × bins × 2
  return torch::cat({spectrum.select(3, 0), spectrum.select(3, 1)}, 2).transpose(1, 2);
}

Tensor TorchBackend::InverseStft(const Tensor& spectrum, const StftShape& shape) {
  const Tensor rows = spectrum.transpose(1, 2);
  const std::int64_t bins = shape.Bins();
  const Tensor complex = torch::complex(rows.narrow(2, 0, bins), rows.narrow(2, bins, bins));
  const Tensor window = Hann(shape, spectrum);
  const Tensor frames = torch::fft::irfft(complex, shape.window) * window;
  const Tensor norm = OverlapAdd(window.square().expand({1, rows.size(1), shape.window}), shape);
  return (OverlapAdd(frames, shape) / norm).unsqueeze(1);
}

Tensor TorchBackend::LogMagnitude(const Tensor& spectrum) {
  const std::int64_t bins = spectrum.size(1) / 2;
  return 0.5 * (spectrum.narrow(1, 0, bins).square() + spectrum.narrow(1, bins, bins).square() +
                kLogPowerFloor)
                   .log();
}

Tensor TorchBackend::Conv2d(const Tensor& x, const std::string& name, std::int64_t out,
                            const std::vector<std::int64_t>& kernel,
                            const std::vector<std::int64_t>& stride) {
  const std::int64_t in = x.size(1);
  const double bound = 1.0 / std::sqrt(static_cast<double>(in * kernel[0] * kernel[1]));
  const Tensor weight = Parameter(name + ".weight", {out, in, kernel[0], kernel[1]}, bound);
  const Tensor bias = Parameter(name + ".bias", {out}, bound);
  const auto type = x.scalar_type();
  const std::vector<std::int64_t> padding{kernel[0] / 2, kernel[1] / 2};
  return torch::conv2d(x, weight.to(type), bias.to(type), stride, padding);
}

}  // namespace sotto
