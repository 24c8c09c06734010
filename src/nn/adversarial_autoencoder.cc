#include "nn/adversarial_autoencoder.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

// A hair below C, since sums of floats are rounded.
constexpr double kRoom = 1.0 - 1e-5;
constexpr Index kBlock = 512;  // columns at a time, so that what is between stays in the cache

NamedTensor Stored(const MatrixXf& m) {
  NamedTensor tensor{{m.rows(), m.cols()}, {}};
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) tensor.values.push_back(m(i, j));
  }
  return tensor;
}

NamedTensor Stored(const VectorXf& v) { return {{v.size()}, {v.begin(), v.end()}}; }

MatrixXf Matrix(const NamedTensor& tensor) {
  return Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(
      tensor.values.data(), tensor.shape[0], tensor.shape[1]);
}

VectorXf Vector(const TensorFile& file, const std::string& name, Index size) {
  return Eigen::Map<const VectorXf>(file.Get(name, {size}).values.data(), size);
}

}  // namespace

AdversarialAutoencoder::AdversarialAutoencoder(AutoencoderWeights weights)
    : weights_(std::move(weights)) {
  const AutoencoderWeights& w = weights_;
  const Index latent = w.encoder.rows(), d = w.encoder.cols();
  if (latent < 1 || d < 1 || w.encoder_bias.size() != latent || w.scale.size() != latent ||
      w.shift.size() != latent || w.decoder.rows() != d || w.decoder.cols() != latent ||
      w.decoder_bias.size() != d) {
    throw Error("auto-encoder: the sizes of its layers do not fit together");
  }
  if (!w.encoder.allFinite() || !w.encoder_bias.allFinite() || !w.scale.allFinite() ||
      !w.shift.allFinite() || !w.decoder.allFinite() || !w.decoder_bias.allFinite()) {
    throw Error("auto-encoder: a weight is not a finite number");
  }
  if (!(w.bound > 0.0) || !std::isfinite(w.bound)) {
    throw Error(fmt::format("auto-encoder: a bound C of {}, which must be above 0", w.bound));
  }
}

AdversarialAutoencoder AdversarialAutoencoder::Parse(const TensorFile& file) {
  AutoencoderWeights w;
  const NamedTensor& encoder = file.Get("encoder.weight", {-1, -1});
  const std::int64_t latent = encoder.shape[0], d = encoder.shape[1];
  if (latent < 1 || d < 1) throw Error(fmt::format("{}: encoder.weight is empty", file.where));
  w.encoder = Matrix(encoder);
  w.encoder_bias = Vector(file, "encoder.bias", latent);
  w.scale = Vector(file, "norm.scale", latent);
  w.shift = Vector(file, "norm.shift", latent);
  w.decoder = Matrix(file.Get("decoder.weight", {d, latent}));
  w.decoder_bias = Vector(file, "decoder.bias", d);
  w.bound = static_cast<double>(file.Get("bound", {1}).values[0]);
  try {
    return AdversarialAutoencoder(std::move(w));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.where, error.what()));
  }
}

void AdversarialAutoencoder::Store(TensorFile& file) const {
  file.tensors["encoder.weight"] = Stored(weights_.encoder);
  file.tensors["encoder.bias"] = Stored(weights_.encoder_bias);
  file.tensors["norm.scale"] = Stored(weights_.scale);
  file.tensors["norm.shift"] = Stored(weights_.shift);
  file.tensors["decoder.weight"] = Stored(weights_.decoder);
  file.tensors["decoder.bias"] = Stored(weights_.decoder_bias);
  file.tensors["bound"] = {{1}, {static_cast<float>(weights_.bound)}};
}

MatrixXf AdversarialAutoencoder::Encode(const Eigen::Ref<const MatrixXf>& x) const {
  const AutoencoderWeights& w = weights_;
  MatrixXf z(LatentSize(), x.cols());
  const auto most = static_cast<float>(kRoom * w.bound);
  for (Index at = 0; at < x.cols(); at += kBlock) {
    auto block = z.middleCols(at, std::min(kBlock, x.cols() - at));
    block.noalias() = w.encoder * x.middleCols(at, block.cols());
    for (Index i = 0; i < block.cols(); ++i) {
      auto column = block.col(i).array();
      column = (column + w.encoder_bias.array()).max(0.0F) * w.scale.array() + w.shift.array();
      const float norm = column.abs().sum();
      if (norm > most) column *= most / norm;
    }
  }
  return z;
}

MatrixXf AdversarialAutoencoder::Decode(const Eigen::Ref<const MatrixXf>& y) const {
  MatrixXf out(Dimension(), y.cols());
  for (Index at = 0; at < y.cols(); at += kBlock) {
    auto block = out.middleCols(at, std::min(kBlock, y.cols() - at));
    block.noalias() = weights_.decoder * y.middleCols(at, block.cols());
    block = (block.colwise() + weights_.decoder_bias).array().tanh();
  }
  return out;
}

}  // namespace sotto
