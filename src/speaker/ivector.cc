// Use of i-vectors: features, statistics, the encoder and its file.
#include "speaker/ivector.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "dsp/fbank.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr std::size_t kMinSpeechFrames = 10;

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Tensors have the last index fastest: D × C column-major is C × D there.
MatrixXf FromTensor(const TensorFile& file, const std::string& name, Index slow, Index fast) {
  const NamedTensor& tensor = file.Get(name, {slow, fast});
  return Eigen::Map<const MatrixXf>(tensor.values.data(), tensor.shape[1], tensor.shape[0]);
}

TotalVariability ReadTotal(const TensorFile& file, const DiagonalGmm& gmm) {
  // C·D × R
  MatrixXf t = FromTensor(file, "total", -1, gmm.means.size()).eval();
  return TotalVariability(std::move(t), gmm.Components());
}

DiagonalGmm ReadGmm(const TensorFile& file) {
  DiagonalGmm gmm;
  const NamedTensor& weights = file.Get("gmm.weights", {-1});
  gmm.weights = Eigen::Map<const VectorXf>(weights.values.data(), weights.shape[0]);
  gmm.means = FromTensor(file, "gmm.means", gmm.Components(), -1);
  gmm.variances = FromTensor(file, "gmm.variances", gmm.Components(), gmm.means.rows());
  if (gmm.Components() == 0 || gmm.means.rows() != 60 || gmm.weights.minCoeff() <= 0.0F ||
      gmm.variances.minCoeff() <= 0.0F) {
    throw Error(
        fmt::format("{}: {} components over {} features (60 are needed) with positive "
                    "weights and variances: not so",
                    file.where, gmm.Components(), gmm.means.rows()));
  }
  return gmm;
}

}  // namespace

MatrixXf DiagonalGmm::LogJoint(const Eigen::Ref<const MatrixXf>& x) const {
  const Index d = means.rows();
  const MatrixXf precision = variances.cwiseInverse();
  MatrixXf linear(2 * d, Components());
  linear.topRows(d) = means.cwiseProduct(precision);
  linear.bottomRows(d) = -0.5F * precision;
  const VectorXf constant =
      weights.array().log() -
      0.5F * (means.cwiseAbs2().cwiseProduct(precision) + variances.array().log().matrix())
                 .colwise()
                 .sum()
                 .transpose()
                 .array() -
      static_cast<float>(0.5 * static_cast<double>(d) * std::log(2.0 * std::numbers::pi));
  MatrixXf squares(2 * d, x.cols());
  squares.topRows(d) = x;
  squares.bottomRows(d) = x.cwiseAbs2();
  MatrixXf joint = linear.transpose() * squares;
  joint.colwise() += constant;
  return joint;
}

double DiagonalGmm::ToPosteriors(MatrixXf& log_joint) {
  double sum = 0.0;
  for (Index t = 0; t < log_joint.cols(); ++t) {
    auto column = log_joint.col(t).array();
    const float largest = column.maxCoeff();
    column = (column - largest).exp();
    const float total = column.sum();
    column /= total;
    sum += largest + std::log(total);
  }
  return sum;
}

BaumWelch Accumulate(const DiagonalGmm& gmm, const Eigen::Ref<const MatrixXf>& x) {
  MatrixXf posteriors = gmm.LogJoint(x);
  DiagonalGmm::ToPosteriors(posteriors);
  BaumWelch stats;
  stats.n = posteriors.rowwise().sum();
  MatrixXf f = x * posteriors.transpose();
  f -= gmm.means * stats.n.asDiagonal();
  f.array() /= gmm.variances.array().sqrt();
  stats.f = Eigen::Map<const VectorXf>(f.data(), f.size());
  return stats;
}

TotalVariability::TotalVariability(MatrixXf matrix, Index components) : t(std::move(matrix)) {
  const Index r = t.cols(), d = t.rows() / components;
  products.resize(r * r, components);
  for (Index c = 0; c < components; ++c) {
    const auto part = t.middleRows(c * d, d);
    Eigen::Map<MatrixXf>(products.col(c).data(), r, r).noalias() = part.transpose() * part;
  }
}

VectorXf TotalVariability::Ivector(const BaumWelch& stats, MatrixXf* covariance) const {
  const Index r = t.cols();
  const VectorXf summed = products * stats.n;
  MatrixXf precision = Eigen::Map<const MatrixXf>(summed.data(), r, r);
  precision.diagonal().array() += 1.0F;
  const Eigen::LLT<MatrixXf> llt(precision);
  if (covariance != nullptr) *covariance = llt.solve(MatrixXf::Identity(r, r));
  return llt.solve(t.transpose() * stats.f);
}

MatrixXf IvectorFeatures(std::span<const float> x) {
  MfccOptions options;
  options.fbank.bins = 30;
  options.fbank.high_hz = 7600.0;
  options.cepstra = 20;
  const Features mfcc = Mfcc(x, options);
  const std::vector<bool> speech = EnergyVad(mfcc);
  Features deltas = AddDeltas(mfcc);
  NormaliseSliding(deltas, 300);
  const Features kept = SelectFrames(deltas, speech);
  if (kept.frames < kMinSpeechFrames) {
    throw Error(fmt::format("i-vector: {} frames of speech (10 ms each), at least {} are needed",
                            kept.frames, kMinSpeechFrames));
  }
  return Eigen::Map<const MatrixXf>(kept.values.data(), static_cast<Index>(kept.dimension),
                                    static_cast<Index>(kept.frames));
}

IvectorEncoder::IvectorEncoder(const TensorFile& file)
    : gmm_(ReadGmm(file)), total_(ReadTotal(file, gmm_)) {
  const Index r = total_.t.cols();
  const NamedTensor& mean = file.Get("mean", {r});
  mean_ = Eigen::Map<const VectorXf>(mean.values.data(), r);
  lda_ = FromTensor(file, "lda", -1, r).transpose();
  if (lda_.rows() == 0) throw Error(fmt::format("{}: the embedding has no dimension", file.where));
}

std::vector<float> IvectorEncoder::Embed16k(std::span<const float> x) const {
  VectorXf w = total_.Ivector(Accumulate(gmm_, IvectorFeatures(x))) - mean_;
  const float norm = w.norm();
  if (norm > 0.0F) w *= std::sqrt(static_cast<float>(w.size())) / norm;
  const VectorXf y = lda_ * w;
  return {y.data(), y.data() + y.size()};
}

}  // namespace sotto
