#include "nn/eigen_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.h"

#ifdef EIGEN_USE_BLAS
// NOLINTBEGIN(readability-identifier-naming): OpenBLAS's names
extern "C" void openblas_set_num_threads(int threads);
extern "C" char* openblas_get_corename();
// NOLINTEND(readability-identifier-naming)
#endif

namespace sotto {
namespace {

using Tensor = EigenBackend::Tensor;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr Eigen::Index kFewFrames = 4;

Tensor Column(const NamedTensor& values) {
  return Eigen::Map<const Eigen::VectorXf>(values.values.data(),
                                           static_cast<Eigen::Index>(values.values.size()));
}

// x with (kernel − 1)·dilation further frames.
Tensor Pad(const Tensor& x, const ConvShape& shape) {
  const Eigen::Index n = x.cols();
  if (shape.padding == Padding::kZero) {
    Tensor padded = Tensor::Zero(x.rows(), shape.Left() + n + shape.Right());
    padded.middleCols(shape.Left(), n) = x;
    return padded;
  }
  const std::int64_t side = (shape.kernel - 1) * shape.dilation / 2;
  if (side >= n) {
    throw Error(fmt::format("{} frames are too few: the net needs {}", n, side + 1));
  }
  Tensor padded(x.rows(), n + 2 * side);
  padded.middleCols(side, n) = x;
  for (std::int64_t i = 1; i <= side; ++i) {
    padded.col(side - i) = x.col(i);
    padded.col(side + n - 1 + i) = x.col(n - 1 - i);
  }
  return padded;
}

template <class Parts, class PartOf>
Tensor StackOf(const Parts& parts, const PartOf& part_of) {
  Eigen::Index rows = 0;
  for (const auto& part : parts) rows += part_of(part).rows();
  Tensor y(rows, part_of(*parts.begin()).cols());
  Eigen::Index at = 0;
  for (const auto& part : parts) {
    y.middleRows(at, part_of(part).rows()) = part_of(part);
    at += part_of(part).rows();
  }
  return y;
}

// Of a layer of kernel 1, out × in; that of a linear layer may be stored as a matrix.
Eigen::Map<const RowMajor> PointwiseWeight(const TensorFile& weights, const std::string& name,
                                           const ConvShape& shape) {
  const auto found = weights.tensors.find(name + ".weight");
  const bool matrix = found != weights.tensors.end() && found->second.shape.size() == 2;
  const NamedTensor& weight = matrix ? weights.Get(name + ".weight", {shape.out, shape.in})
                                     : weights.Get(name + ".weight", {shape.out, shape.in, 1});
  return {weight.values.data(), shape.out, shape.in};
}

// Mean and deviation with the weights of `count` channels from `begin` on, a few channels at a
// time, so that what is made on the way stays small.
template <class WeightsOf>
Tensor StatisticsByRows(const Tensor& x, const WeightsOf& weights_of) {
  constexpr Eigen::Index kRows = 64;
  Tensor y(2 * x.rows(), 1);
  for (Eigen::Index begin = 0; begin < x.rows(); begin += kRows) {
    const Eigen::Index count = std::min(kRows, x.rows() - begin);
    const Tensor weights = weights_of(begin, count);
    Tensor part = x.middleRows(begin, count);
    const Eigen::VectorXf mean = part.cwiseProduct(weights).rowwise().sum();
    part.colwise() -= mean;
    y.middleRows(begin, count) = mean;
    y.middleRows(x.rows() + begin, count) =
        part.cwiseAbs2().cwiseProduct(weights).rowwise().sum().cwiseMax(kVarianceFloor).cwiseSqrt();
  }
  return y;
}

}  // namespace

void PrepareBlas([[maybe_unused]] char** argv, [[maybe_unused]] int threads) {
#ifdef EIGEN_USE_BLAS
  if (threads > 0) openblas_set_num_threads(threads);
#ifdef __x86_64__
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (avx2 && std::getenv("OPENBLAS_CORETYPE") == nullptr &&
      std::string_view(openblas_get_corename()) == "Prescott") {
    ::setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : "Haswell", 1);
    ::execv("/proc/self/exe", argv);  // on failure the slow kernels serve
  }
#endif
#endif
}

Tensor EigenBackend::Conv1d(const Tensor& x, const std::string& name,
                            const ConvShape& shape) const {
  if (x.rows() != shape.in) {
    throw Error(fmt::format("layer '{}': {} channels, expected {}", name, x.rows(), shape.in));
  }
  if (shape.kernel == 1) return Pointwise({&x}, name, shape);
  const NamedTensor& weight = weights_.Get(name + ".weight", {shape.out, shape.in, shape.kernel});
  const NamedTensor& bias = weights_.Get(name + ".bias", {shape.out});
  const std::int64_t reach = (shape.kernel - 1) * shape.dilation;
  const bool pads = shape.padding != Padding::kNone && reach > 0;
  const Tensor padded = pads ? Pad(x, shape) : Tensor();
  const Tensor& input = pads ? padded : x;
  const Eigen::Index frames = input.cols() - reach;
  if (frames < 1) {
    throw Error(fmt::format("{} frames are too few: the net needs {}", x.cols(), reach + 1));
  }
  Tensor y = Column(bias).replicate(1, frames);
  // Few frames: their neighbours in the order of the weights, so that these need not be put in
  // another order tap by tap.
  if (frames <= kFewFrames) {
    const Eigen::Map<const RowMajor> all(weight.values.data(), shape.out, shape.in * shape.kernel);
    RowMajor around(shape.in, shape.kernel);
    const Eigen::Map<const Eigen::VectorXf> column(around.data(), around.size());
    for (Eigen::Index t = 0; t < frames; ++t) {
      for (std::int64_t k = 0; k < shape.kernel; ++k) {
        around.col(k) = input.col(t + k * shape.dilation);
      }
      y.col(t).noalias() += all * column;
    }
    return y;
  }
  // Tap k of the stored out × in × kernel array, as a matrix.
  using Strided = Eigen::Map<const Tensor, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  for (std::int64_t k = 0; k < shape.kernel; ++k) {
    const Tensor tap = Strided(
        weight.values.data() + k, shape.out, shape.in,
        Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(shape.kernel, shape.in * shape.kernel));
    y.noalias() += tap * input.middleCols(k * shape.dilation, frames);
  }
  return y;
}

Tensor EigenBackend::Pointwise(const std::vector<const Tensor*>& parts, const std::string& name,
                               const ConvShape& shape) const {
  constexpr Eigen::Index kBlock = 512;  // frames
  Eigen::Index rows = 0, frames = 0;
  for (const Tensor* part : parts) {
    rows += part->rows();
    frames = std::max(frames, part->cols());
  }
  if (rows != shape.in) {
    throw Error(fmt::format("layer '{}': {} channels, expected {}", name, rows, shape.in));
  }
  if (frames < 1) throw Error("0 frames are too few: the net needs 1");
  const Eigen::Map<const RowMajor> weight = PointwiseWeight(weights_, name, shape);
  Tensor column = Column(weights_.Get(name + ".bias", {shape.out}));
  std::vector<std::pair<Eigen::Index, const Tensor*>> varying;  // with their first row
  rows = 0;
  for (const Tensor* part : parts) {
    if (part->cols() < frames) {
      column.noalias() += weight.middleCols(rows, part->rows()) * *part;
    } else {
      varying.emplace_back(rows, part);
    }
    rows += part->rows();
  }
  Tensor y = column.replicate(1, frames);
  if (varying.size() == 1) {
    const auto& [row, part] = varying.front();
    y.noalias() += weight.middleCols(row, part->rows()) * *part;
    return y;
  }
  Tensor block = Tensor::Zero(shape.in, std::min(kBlock, frames));
  for (Eigen::Index begin = 0; begin < frames; begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, frames - begin);
    for (const auto& [row, part] : varying) {
      block.block(row, 0, part->rows(), count) = part->middleCols(begin, count);
    }
    y.middleCols(begin, count).noalias() += weight * block.leftCols(count);
  }
  return y;
}

Tensor EigenBackend::BatchNorm(Tensor x, const std::string& name) const {
  const std::int64_t n = x.rows();
  const Eigen::ArrayXf scale =
      Column(weights_.Get(name + ".weight", {n})).array() /
      (Column(weights_.Get(name + ".running_var", {n})).array() + kBatchNormFloor).sqrt();
  const Eigen::ArrayXf offset = Column(weights_.Get(name + ".bias", {n})).array() -
                                Column(weights_.Get(name + ".running_mean", {n})).array() * scale;
  x.array().colwise() *= scale;
  x.array().colwise() += offset;
  return x;
}

// What an assignment returns would be copied.
Tensor EigenBackend::Relu(Tensor x, float leak) {
  x = x.cwiseMax(leak * x);
  return x;
}
Tensor EigenBackend::Tanh(Tensor x) {
  x = x.array().tanh().matrix();
  return x;
}
Tensor EigenBackend::Sigmoid(Tensor x) {
  x = x.array().logistic().matrix();
  return x;
}

Tensor EigenBackend::Scale(Tensor x, const Tensor& factors) {
  x.array().colwise() *= factors.col(0).array();
  return x;
}

Tensor EigenBackend::Rows(const Tensor& x, std::int64_t begin, std::int64_t count) {
  return x.middleRows(begin, count);
}

Tensor EigenBackend::Stack(std::initializer_list<const Tensor*> parts) {
  return StackOf(parts, [](const Tensor* part) -> const Tensor& { return *part; });
}

Tensor EigenBackend::Stack(const std::vector<Tensor>& parts) {
  return StackOf(parts, [](const Tensor& part) -> const Tensor& { return part; });
}

Tensor EigenBackend::SoftmaxOverTime(Tensor x) {
  x.colwise() -= x.rowwise().maxCoeff().eval();
  x = x.array().exp().matrix();
  const Eigen::VectorXf sum = x.rowwise().sum();
  x.array().colwise() /= sum.array();
  return x;
}

Tensor EigenBackend::Statistics(const Tensor& x, const Tensor& weights) {
  return StatisticsByRows(
      x, [&](Eigen::Index begin, Eigen::Index count) { return weights.middleRows(begin, count); });
}

Tensor EigenBackend::Statistics(const Tensor& x) {
  const float weight = 1.0f / static_cast<float>(x.cols());
  return StatisticsByRows(x, [&](Eigen::Index, Eigen::Index count) {
    return Tensor::Constant(count, x.cols(), weight);
  });
}

Tensor EigenBackend::AttentiveStatistics(const Tensor& x, const Tensor& hidden,
                                         const std::string& name, const ConvShape& shape) const {
  const Eigen::Map<const RowMajor> weight = PointwiseWeight(weights_, name, shape);
  const Tensor bias = Column(weights_.Get(name + ".bias", {shape.out}));
  return StatisticsByRows(x, [&](Eigen::Index begin, Eigen::Index count) {
    Tensor scores = bias.middleRows(begin, count).replicate(1, x.cols());
    scores.noalias() += weight.middleRows(begin, count) * hidden;
    return SoftmaxOverTime(std::move(scores));
  });
}

}  // namespace sotto
