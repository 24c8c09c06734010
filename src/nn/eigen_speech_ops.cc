// The operations of the nets that make speech (nn/conv.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "nn/eigen_backend.h"

namespace sotto {
namespace {

using Tensor = EigenBackend::Tensor;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Eigen::ArrayXf> Values(const NamedTensor& tensor) {
  return {tensor.values.data(), static_cast<Eigen::Index>(tensor.values.size())};
}

// Transforms as matrix products: with x[n] ± x[N − n] a real transform of N points is a product
// with (N/2 + 1)² cosines and one with (N/2 − 1)² sines. At N = 640 that costs 2.5 % of the
// synthesiser's own products, and needs no FFT in this room.
struct Bases {
  explicit Bases(const StftShape& shape) : window(shape.window) {
    const std::int64_t n = shape.window, half = n / 2;
    if (n < 4 || n % 2 != 0 || shape.hop < 2 || shape.hop % 2 != 0 || n % shape.hop != 0) {
      throw Error(fmt::format("spectra with a window of {} and a hop of {}", n, shape.hop));
    }
    const auto angle = [n](std::int64_t a, std::int64_t b) {
      return 2.0 * std::numbers::pi * static_cast<double>(a * b % n) / static_cast<double>(n);
    };
    cosines.resize(half + 1, half + 1);
    sines.resize(half - 1, half - 1);
    for (std::int64_t k = 0; k <= half; ++k) {
      for (std::int64_t i = 0; i <= half; ++i) {
        cosines(k, i) = static_cast<float>(std::cos(angle(k, i)));
        if (k >= 1 && i >= 1 && k < half && i < half) {
          sines(k - 1, i - 1) = static_cast<float>(std::sin(angle(k, i)));
        }
      }
    }
    hann.resize(n);
    for (std::int64_t i = 0; i < n; ++i) {
      hann[i] = static_cast<float>(0.5 - 0.5 * std::cos(angle(i, 1)));
    }
  }
  std::int64_t window;
  RowMajor cosines, sines;
  Eigen::ArrayXf hann;
};

// y += weight·x. Few columns go one by one: a product of matrices first copies the weights into its
// own order, which for two columns takes longer than the product itself (0.18 against 0.08 of real
// time for the synthesiser, two frames at a time). Sixty-four rows of weights at once stay in the
// cache for the next column.
template <class Weight>
void AddProduct(const Weight& weight, const Tensor& x, Tensor& y) {
  constexpr Eigen::Index kFew = 4, kRows = 64;
  if (x.cols() > kFew) {
    y.noalias() += weight * x;
    return;
  }
  for (Eigen::Index r = 0; r < weight.rows() && x.cols() > 0; r += kRows) {
    const Eigen::Index count = std::min(kRows, weight.rows() - r);
    const auto rows = weight.middleRows(r, count);
    for (Eigen::Index t = 0; t < x.cols(); ++t) {
      y.col(t).segment(r, count).noalias() += rows * x.col(t);
    }
  }
}

Tensor Product(const RowMajor& weight, const Tensor& x) {
  Tensor y = Tensor::Zero(weight.rows(), x.cols());
  AddProduct(weight, x, y);
  return y;
}

// Pairs (a, b) of neighbouring rows to (a·cos − b·sin, b·cos + a·sin) of an angle that grows from
// frame to frame.
Tensor Turned(const Tensor& x, const AttentionShape& s) {
  Tensor y(x.rows(), x.cols());
  for (Eigen::Index r = 0; r < x.rows(); r += 2) {
    const double step = s.Turn(r % s.key / 2);
    for (Eigen::Index t = 0; t < x.cols(); ++t) {
      const double angle = step * static_cast<double>(t);
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      y(r, t) = x(r, t) * cosine - x(r + 1, t) * sine;
      y(r + 1, t) = x(r + 1, t) * cosine + x(r, t) * sine;
    }
  }
  return y;
}

const Bases& BasesOf(const StftShape& shape) {
  thread_local Bases bases(shape);
  if (bases.window != shape.window) bases = Bases(shape);
  return bases;
}

}  // namespace

Tensor EigenBackend::Linear(const Tensor& x, const std::string& name, std::int64_t in,
                            std::int64_t out) const {
  if (x.rows() != in) {
    throw Error(fmt::format("layer '{}': {} channels, expected {}", name, x.rows(), in));
  }
  const NamedTensor& weight = weights_.Get(name + ".weight", {out, in});
  Tensor y = Values(weights_.Get(name + ".bias", {out})).matrix().replicate(1, x.cols());
  AddProduct(Eigen::Map<const RowMajor>(weight.values.data(), out, in), x, y);
  return y;
}

Tensor EigenBackend::DepthwiseConv(const Tensor& x, const std::string& name,
                                   const DepthwiseShape& s) const {
  return DepthwiseConv(x, name, s, 0, x.cols());
}

Tensor EigenBackend::DepthwiseConv(const Tensor& x, const std::string& name,
                                   const DepthwiseShape& s, Eigen::Index begin,
                                   Eigen::Index count) const {
  if (x.rows() != s.channels) {
    throw Error(fmt::format("layer '{}': {} channels, expected {}", name, x.rows(), s.channels));
  }
  const NamedTensor& stored = weights_.Get(name + ".weight", {s.channels, s.kernel});
  const Eigen::MatrixXf taps =  // one tap a column
      Eigen::Map<const RowMajor>(stored.values.data(), s.channels, s.kernel);
  const auto bias = Values(weights_.Get(name + ".bias", {s.channels}));
  Tensor y(x.rows(), count);
  for (Eigen::Index t = 0; t < count; ++t) {
    y.col(t).array() = bias;
    for (std::int64_t k = 0; k < s.kernel; ++k) {
      const Eigen::Index from = begin + t - s.Left() + k * s.dilation;
      if (from < 0 || from >= x.cols()) continue;
      y.col(t).array() += taps.col(k).array() * x.col(from).array();
    }
  }
  return y;
}

Tensor EigenBackend::LayerNorm(Tensor x, const std::string& name) const {
  const auto weight = Values(weights_.Get(name + ".weight", {x.rows()}));
  const auto bias = Values(weights_.Get(name + ".bias", {x.rows()}));
  const auto n = static_cast<float>(x.rows());
  for (Eigen::Index t = 0; t < x.cols(); ++t) {
    auto frame = x.col(t).array();
    frame -= frame.sum() / n;
    const float scale = 1.0f / std::sqrt(frame.square().sum() / n + kLayerNormFloor);
    frame = frame * scale * weight + bias;
  }
  return x;
}

Tensor EigenBackend::InstanceNorm(Tensor x) {
  const Eigen::VectorXf mean = x.rowwise().mean();
  x.colwise() -= mean;
  const Eigen::ArrayXf scale =
      (x.array().square().rowwise().mean() + kInstanceNormFloor).sqrt().inverse();
  x.array().colwise() *= scale;
  return x;
}

Tensor EigenBackend::Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                            const AttentionShape& s) {
  constexpr Eigen::Index kTogether = 128;  // queries: the scores of one product
  const Eigen::Index frames = query.cols();
  const Tensor turned = Turned(query, s) / std::sqrt(static_cast<float>(s.key));
  const Tensor keys = Turned(key, s);
  Tensor y(s.heads * s.value, frames);
  for (Eigen::Index from = 0; from < frames; from += kTogether) {
    const Eigen::Index count = std::min(kTogether, frames - from);
    const Eigen::Index first = std::max<Eigen::Index>(0, from - s.reach);
    const Eigen::Index heard = std::min(frames, from + count + s.reach) - first;
    for (std::int64_t h = 0; h < s.heads; ++h) {
      Tensor scores = keys.block(h * s.key, first, s.key, heard).transpose() *
                      turned.block(h * s.key, from, s.key, count);
      for (Eigen::Index t = 0; t < count; ++t) {
        const Eigen::Index near = std::max<Eigen::Index>(0, from + t - s.reach - first);
        const Eigen::Index much = std::min(heard, from + t + s.reach + 1 - first) - near;
        auto inside = scores.col(t).segment(near, much).array();
        inside = (inside - inside.maxCoeff()).exp();
        inside /= inside.sum();
        scores.col(t).head(near).setZero();
        scores.col(t).tail(heard - near - much).setZero();
      }
      y.block(h * s.value, from, s.value, count).noalias() =
          value.block(h * s.value, first, s.value, heard) * scores;
    }
  }
  return y;
}

Tensor EigenBackend::Gelu(Tensor x) {
  constexpr float kA = 0.7978845608f, kB = 0.044715f;
  auto a = x.array();
  a = 0.5f * a * (1.0f + (kA * a * (1.0f + kB * a.square())).tanh());
  return x;
}

Tensor EigenBackend::Modulate(Tensor x, const Tensor& scale, const Tensor& shift) {
  const Eigen::ArrayXf factor = scale.col(0).array() + 1.0f;
  for (Eigen::Index t = 0; t < x.cols(); ++t) {
    x.col(t).array() = x.col(t).array() * factor + shift.col(0).array();
  }
  return x;
}

Tensor EigenBackend::FoldPairs(const Tensor& x) {
  if (x.cols() % 2 != 0) throw Error(fmt::format("{} frames are no pairs", x.cols()));
  return Eigen::Map<const Tensor>(x.data(), 2 * x.rows(), x.cols() / 2);
}

Tensor EigenBackend::UnfoldPairs(const Tensor& x) {
  const Eigen::Index n = x.cols();
  Tensor y(x.rows(), 2 * n);
  for (Eigen::Index t = 0; t < n; ++t) {
    y.col(2 * t) = 0.75f * x.col(t) + 0.25f * x.col(std::max<Eigen::Index>(t - 1, 0));
    y.col(2 * t + 1) = 0.75f * x.col(t) + 0.25f * x.col(std::min(t + 1, n - 1));
  }
  return y;
}

Tensor EigenBackend::Stft(const Tensor& x, const StftShape& shape) {
  if (x.rows() != 1 || x.cols() % shape.hop != 0) {
    throw Error(
        fmt::format("spectra of {} x {} samples at a hop of {}", x.rows(), x.cols(), shape.hop));
  }
  Tensor padded = Tensor::Zero(1, x.cols() + 2 * shape.Before());
  padded.middleCols(shape.Before(), x.cols()) = x;
  return Spectra(padded, shape);
}

Tensor EigenBackend::Spectra(const Tensor& x, const StftShape& shape) {
  const Bases& bases = BasesOf(shape);
  const Eigen::Index n = shape.window, half = n / 2;
  const Eigen::Index frames = std::max<Eigen::Index>(0, (x.cols() - n + shape.hop) / shape.hop);
  Tensor even(half + 1, frames), odd(half - 1, frames);
  Eigen::ArrayXf frame(n);
  for (Eigen::Index t = 0; t < frames; ++t) {
    frame = Eigen::Map<const Eigen::ArrayXf>(x.data() + t * shape.hop, n) * bases.hann;
    even(0, t) = frame[0];
    even(half, t) = frame[half];
    for (Eigen::Index i = 1; i < half; ++i) {
      even(i, t) = frame[i] + frame[n - i];
      odd(i - 1, t) = frame[i] - frame[n - i];
    }
  }
  Tensor y(2 * half + 2, frames);
  y.topRows(half + 1) = Product(bases.cosines, even);
  y.row(half + 1).setZero();
  y.row(2 * half + 1).setZero();
  y.middleRows(half + 2, half - 1) = -Product(bases.sines, odd);
  return y;
}

Tensor EigenBackend::WindowedFrames(const Tensor& spectrum, const StftShape& shape) {
  const Bases& bases = BasesOf(shape);
  const Eigen::Index n = shape.window, half = n / 2;
  if (spectrum.rows() != 2 * half + 2) {
    throw Error(fmt::format("spectra with {} rows, expected {}", spectrum.rows(), 2 * half + 2));
  }
  // x[i] = (X₀ + (−1)^i·X_half + 2·Σ (re·cos − im·sin))/N
  Tensor weighted = spectrum.topRows(half + 1);
  weighted.middleRows(1, half - 1) *= 2.0f;
  const Tensor even = Product(bases.cosines, weighted);  // of x[i] and x[N − i]
  const Tensor odd = Product(bases.sines, -2.0f * spectrum.middleRows(half + 2, half - 1));
  const float scale = 1.0f / static_cast<float>(n);
  Tensor frames(n, spectrum.cols());
  for (Eigen::Index t = 0; t < spectrum.cols(); ++t) {
    auto frame = frames.col(t).array();
    frame[0] = even(0, t);
    frame[half] = even(half, t);
    for (Eigen::Index i = 1; i < half; ++i) {
      frame[i] = even(i, t) + odd(i - 1, t);
      frame[n - i] = even(i, t) - odd(i - 1, t);
    }
    frame *= bases.hann * scale;
  }
  return frames;
}

Eigen::ArrayXf EigenBackend::SquaredWindow(const StftShape& shape) {
  return BasesOf(shape).hann.square();
}

Tensor EigenBackend::InverseStft(const Tensor& spectrum, const StftShape& shape) {
  const Tensor windowed = WindowedFrames(spectrum, shape);
  const Eigen::ArrayXf square = SquaredWindow(shape);
  const Eigen::Index n = shape.window, hop = shape.hop, frames = spectrum.cols();
  Eigen::ArrayXf sum = Eigen::ArrayXf::Zero(frames * hop + n);
  Eigen::ArrayXf norm = Eigen::ArrayXf::Zero(frames * hop + n);
  for (Eigen::Index t = 0; t < frames; ++t) {
    sum.segment(t * hop, n) += windowed.col(t).array();
    norm.segment(t * hop, n) += square;
  }
  return (sum.segment(shape.Before(), frames * hop) / norm.segment(shape.Before(), frames * hop))
      .matrix()
      .transpose();
}

Tensor EigenBackend::LogMagnitude(const Tensor& spectrum) {
  const Eigen::Index bins = spectrum.rows() / 2;
  return (0.5f * (spectrum.topRows(bins).array().square() +
                  spectrum.bottomRows(bins).array().square() + kLogPowerFloor)
                     .log())
      .matrix();
}

}  // namespace sotto
