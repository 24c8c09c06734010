#include "nn/adversarial_net.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

using Eigen::Index;

template <typename Scalar>
Eigen::Map<VectorOf<Scalar>> All(MatrixOf<Scalar>& m) {
  return {m.data(), m.size()};
}
template <typename Scalar>
Eigen::Map<VectorOf<Scalar>> All(VectorOf<Scalar>& v) {
  return {v.data(), v.size()};
}

// Logits of a discriminator, and what is needed to go back from them.
template <typename Scalar>
struct Opinion {
  MatrixOf<Scalar> hidden, logits;  // a row for each category

  Opinion(const Discriminator<Scalar>& net, const MatrixOf<Scalar>& y) {
    hidden = ((net.first * y).colwise() + net.first_bias).cwiseMax(Scalar(0));
    MatrixOf<Scalar> out = (net.second * hidden).colwise() + net.second_bias;
    if (out.rows() > 1) {
      logits = std::move(out);
      return;
    }
    logits = MatrixOf<Scalar>::Zero(2, y.cols());
    logits.row(1) = out;
  }
};

// exp(logits − the largest), and the sum of them without category `but` (−1: of all).
template <typename Scalar>
Scalar Exponentials(const Eigen::Ref<const VectorOf<Scalar>>& logits, Index but,
                    VectorOf<Scalar>& exponentials, Scalar& largest) {
  largest = -std::numeric_limits<Scalar>::infinity();
  for (Index k = 0; k < logits.size(); ++k) {
    if (k != but) largest = std::max(largest, logits[k]);
  }
  Scalar sum = 0;
  for (Index k = 0; k < logits.size(); ++k) {
    exponentials[k] = k == but ? Scalar(0) : std::exp(logits[k] - largest);
    sum += exponentials[k];
  }
  return sum;
}

// −ln P(true), or `inverted` −ln(1 − P(true)): the mean over the columns; `slope` becomes its
// derivative by the logits.
template <typename Scalar>
double CategoryLoss(const MatrixOf<Scalar>& logits, const Eigen::Ref<const Eigen::VectorXi>& truth,
                    bool inverted, MatrixOf<Scalar>& slope) {
  const Index n = logits.cols();
  slope.resize(logits.rows(), n);
  VectorOf<Scalar> all(logits.rows()), others(logits.rows());
  double loss = 0.0;
  for (Index i = 0; i < n; ++i) {
    const Index t = truth[i];
    Scalar top = 0, top_of_others = 0;
    const Scalar sum = Exponentials<Scalar>(logits.col(i), -1, all, top);
    const Scalar log_sum = top + std::log(sum);
    if (!inverted) {
      loss += log_sum - logits(t, i);
      slope.col(i) = all / sum;
      slope(t, i) -= 1;
      continue;
    }
    // d/dl of −ln Σ_{k≠t} exp(l_k) + ln Σ_k exp(l_k): P_k − P_k/(1 − P_t) but for t, P_t for t.
    const Scalar sum_of_others = Exponentials<Scalar>(logits.col(i), t, others, top_of_others);
    loss += log_sum - top_of_others - std::log(sum_of_others);
    slope.col(i) = all / sum - others / sum_of_others;
  }
  slope /= static_cast<Scalar>(n);
  return loss / static_cast<double>(n);
}

// From the derivative by the logits to that by the input of the discriminator, and by its numbers.
template <typename Scalar>
MatrixOf<Scalar> Back(const Discriminator<Scalar>& net, const Opinion<Scalar>& opinion,
                      const MatrixOf<Scalar>& y, const MatrixOf<Scalar>& slope,
                      Discriminator<Scalar>* gradient) {
  const MatrixOf<Scalar> out = slope.bottomRows(net.second.rows());
  MatrixOf<Scalar> back = net.second.transpose() * out;
  back = (opinion.hidden.array() > Scalar(0)).select(back, Scalar(0));
  if (gradient != nullptr) {
    gradient->second.noalias() = out * opinion.hidden.transpose();
    gradient->second_bias = out.rowwise().sum();
    gradient->first.noalias() = back * y.transpose();
    gradient->first_bias = back.rowwise().sum();
    return {};
  }
  return net.first.transpose() * back;
}

// Of 1 − cos by the decoder's sums, before its tanh; `out` is after it.
template <typename Scalar>
double ReconstructionLoss(const MatrixOf<Scalar>& x, const MatrixOf<Scalar>& out,
                          MatrixOf<Scalar>& slope) {
  const Index n = x.cols();
  slope.resize(x.rows(), n);
  double loss = 0.0;
  for (Index i = 0; i < n; ++i) {
    const Scalar tiny = Scalar(1e-12);
    const Scalar a = x.col(i).norm() + tiny, b = out.col(i).norm() + tiny;
    const Scalar cosine = x.col(i).dot(out.col(i)) / (a * b);
    loss += 1.0 - static_cast<double>(cosine);
    slope.col(i) = (cosine / (b * b) * out.col(i) - x.col(i) / (a * b)) / static_cast<Scalar>(n);
  }
  slope.array() *= Scalar(1) - out.array().square();
  return loss / static_cast<double>(n);
}

// From the derivative by the clipped latent vectors to that by the unclipped ones: where
// ‖z‖₁ > C, of C·z/‖z‖₁, whose derivative has a part along the signs of z.
template <typename Scalar>
void BackThroughClip(const LatentBatch<Scalar>& latent, Scalar bound, MatrixOf<Scalar>& slope) {
  for (Index i = 0; i < slope.cols(); ++i) {
    const Scalar norm = latent.norms[i];
    if (!(norm > bound)) continue;
    const Scalar along = slope.col(i).dot(latent.z.col(i)) / norm;
    slope.col(i) = bound / norm * (slope.col(i) - along * latent.z.col(i).cwiseSign());
  }
}

// From the derivative by z to those by the encoder's numbers.
template <typename Scalar>
void BackThroughEncoder(const Coder<Scalar>& coder, const MatrixOf<Scalar>& x,
                        const LatentBatch<Scalar>& latent, const MatrixOf<Scalar>& slope,
                        Coder<Scalar>& gradient) {
  const auto n = static_cast<Scalar>(x.cols());
  gradient.gain = slope.cwiseProduct(latent.normalised).rowwise().sum();
  gradient.shift = slope.rowwise().sum();
  // The statistics are of the batch, so a column moves all the others through them.
  const VectorOf<Scalar> factor =
      coder.gain.array() / (latent.variance.array() + Scalar(kBatchNormEpsilon)).sqrt();
  MatrixOf<Scalar> back = slope.colwise() - gradient.shift / n;
  back -= (gradient.gain / n).asDiagonal() * latent.normalised;
  back = factor.asDiagonal() * back;
  back = (latent.rectified.array() > Scalar(0)).select(back, Scalar(0));
  gradient.encoder.noalias() = back * x.transpose();
  gradient.encoder_bias = back.rowwise().sum();
}

}  // namespace

template <typename Scalar>
std::vector<Eigen::Map<VectorOf<Scalar>>> Coder<Scalar>::Arrays() {
  return {All(encoder), All(encoder_bias), All(gain), All(shift), All(decoder), All(decoder_bias)};
}

template <typename Scalar>
std::vector<Eigen::Map<VectorOf<Scalar>>> Discriminator<Scalar>::Arrays() {
  return {All(first), All(first_bias), All(second), All(second_bias)};
}

template <typename Scalar>
LatentBatch<Scalar> EncodeBatch(const Coder<Scalar>& coder, const MatrixOf<Scalar>& x, Scalar bound,
                                const MatrixOf<Scalar>& noise) {
  LatentBatch<Scalar> latent;
  const auto n = static_cast<Scalar>(x.cols());
  latent.rectified = ((coder.encoder * x).colwise() + coder.encoder_bias).cwiseMax(Scalar(0));
  latent.mean = latent.rectified.rowwise().sum() / n;
  latent.normalised = latent.rectified.colwise() - latent.mean;
  latent.variance = latent.normalised.cwiseAbs2().rowwise().sum() / n;
  const VectorOf<Scalar> scale = (latent.variance.array() + Scalar(kBatchNormEpsilon)).rsqrt();
  latent.normalised = scale.asDiagonal() * latent.normalised;
  latent.z = (coder.gain.asDiagonal() * latent.normalised).colwise() + coder.shift;
  latent.norms = latent.z.cwiseAbs().colwise().sum().transpose();
  latent.noisy = latent.z;
  for (Index i = 0; i < x.cols(); ++i) {
    if (latent.norms[i] > bound) latent.noisy.col(i) *= bound / latent.norms[i];
  }
  if (noise.cols() > 0) latent.noisy += noise;
  return latent;
}

template <typename Scalar>
CoderLoss LossOfCoder(const Coder<Scalar>& coder,
                      const std::vector<Discriminator<Scalar>>& discriminators,
                      const MatrixOf<Scalar>& x, const Eigen::MatrixXi& categories, Scalar bound,
                      const LatentBatch<Scalar>& latent, double weight, Coder<Scalar>* gradient) {
  CoderLoss loss;
  const MatrixOf<Scalar> out =
      ((coder.decoder * latent.noisy).colwise() + coder.decoder_bias).array().tanh();
  MatrixOf<Scalar> slope;
  loss.reconstruction = ReconstructionLoss(x, out, slope);
  MatrixOf<Scalar> back = coder.decoder.transpose() * slope;
  for (std::size_t a = 0; a < discriminators.size(); ++a) {
    const Opinion<Scalar> opinion(discriminators[a], latent.noisy);
    MatrixOf<Scalar> by_logits;
    loss.adversary += CategoryLoss<Scalar>(
        opinion.logits, categories.row(static_cast<Index>(a)).transpose(), true, by_logits);
    by_logits *= static_cast<Scalar>(weight);
    back += Back<Scalar>(discriminators[a], opinion, latent.noisy, by_logits, nullptr);
  }
  if (gradient == nullptr) return loss;
  gradient->decoder.noalias() = slope * latent.noisy.transpose();
  gradient->decoder_bias = slope.rowwise().sum();
  BackThroughClip(latent, bound, back);
  BackThroughEncoder(coder, x, latent, back, *gradient);
  return loss;
}

template <typename Scalar>
double LossOfDiscriminator(const Discriminator<Scalar>& discriminator,
                           const MatrixOf<Scalar>& noisy,
                           const Eigen::Ref<const Eigen::VectorXi>& categories,
                           Discriminator<Scalar>* gradient) {
  const Opinion<Scalar> opinion(discriminator, noisy);
  MatrixOf<Scalar> slope;
  const double loss = CategoryLoss<Scalar>(opinion.logits, categories, false, slope);
  if (gradient != nullptr) Back<Scalar>(discriminator, opinion, noisy, slope, gradient);
  return loss;
}

#define SOTTO_INSTANTIATE(...)                                                             \
  template struct Coder<__VA_ARGS__>;                                                      \
  template struct Discriminator<__VA_ARGS__>;                                              \
  template LatentBatch<__VA_ARGS__> EncodeBatch(const Coder<__VA_ARGS__>&,                 \
                                                const MatrixOf<__VA_ARGS__>&, __VA_ARGS__, \
                                                const MatrixOf<__VA_ARGS__>&);             \
  template CoderLoss LossOfCoder(                                                          \
      const Coder<__VA_ARGS__>&, const std::vector<Discriminator<__VA_ARGS__>>&,           \
      const MatrixOf<__VA_ARGS__>&, const Eigen::MatrixXi&, __VA_ARGS__,                   \
      const LatentBatch<__VA_ARGS__>&, double, Coder<__VA_ARGS__>*);                       \
  template double LossOfDiscriminator(                                                     \
      const Discriminator<__VA_ARGS__>&, const MatrixOf<__VA_ARGS__>&,                     \
      const Eigen::Ref<const Eigen::VectorXi>&, Discriminator<__VA_ARGS__>*);
SOTTO_INSTANTIATE(float)
SOTTO_INSTANTIATE(double)
#undef SOTTO_INSTANTIATE

}  // namespace sotto
