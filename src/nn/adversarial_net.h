// The parts of the adversarial auto-encoder (nn/adversarial_autoencoder.h) as they are trained,
// with their gradients by hand. Columns are voiceprints. In double precision for the test that
// compares the gradients with differences, in single precision for use.
//
//   x ─ Linear, ReLU, BatchNorm ─> z ─ clip to L1 norm C, + noise ─> y ─ Linear, tanh ─> x̃
//                                                                    └─ a discriminator for each
//                                                                       attribute
#pragma once

#include <Eigen/Core>
#include <vector>

namespace sotto {

template <typename Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <typename Scalar>
using VectorOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

inline constexpr double kBatchNormEpsilon = 1e-5;

// Encoder and decoder, or the gradient of a loss with respect to them.
template <typename Scalar>
struct Coder {
  MatrixOf<Scalar> encoder;  // latent × d
  VectorOf<Scalar> encoder_bias;
  VectorOf<Scalar> gain, shift;  // of the batch norm
  MatrixOf<Scalar> decoder;      // d × latent
  VectorOf<Scalar> decoder_bias;

  // All of its numbers, array by array.
  std::vector<Eigen::Map<VectorOf<Scalar>>> Arrays();
};

// Linear, ReLU, Linear: one logit for two categories (of the second against the first), else one
// for each category.
template <typename Scalar>
struct Discriminator {
  MatrixOf<Scalar> first;  // hidden × latent
  VectorOf<Scalar> first_bias;
  MatrixOf<Scalar> second;  // outputs × hidden
  VectorOf<Scalar> second_bias;

  std::vector<Eigen::Map<VectorOf<Scalar>>> Arrays();
};

// What the encoder and the Laplace layer make of a batch.
template <typename Scalar>
struct LatentBatch {
  MatrixOf<Scalar> rectified;       // before the batch norm
  VectorOf<Scalar> mean, variance;  // of it over the batch
  MatrixOf<Scalar> normalised;      // (rectified − mean)/√(variance + 1e-5)
  MatrixOf<Scalar> z;               // gain·normalised + shift
  VectorOf<Scalar> norms;           // ‖z‖₁ of each column
  MatrixOf<Scalar> noisy;           // z/max(1, ‖z‖₁/C) + noise
};

// `noise` without columns: none. `bound` is C.
template <typename Scalar>
LatentBatch<Scalar> EncodeBatch(const Coder<Scalar>& coder, const MatrixOf<Scalar>& x, Scalar bound,
                                const MatrixOf<Scalar>& noise);

struct CoderLoss {
  double reconstruction = 0.0;  // 1 − cos(x, x̃), eq. 3
  double adversary = 0.0;       // −ln(1 − P(true category)), eq. 2, the sum over the attributes
};

// Means over the batch. `gradient`, if not null, becomes that of reconstruction + weight·adversary
// (eq. 4), of sizes as those of `coder`.
template <typename Scalar>
CoderLoss LossOfCoder(const Coder<Scalar>& coder,
                      const std::vector<Discriminator<Scalar>>& discriminators,
                      const MatrixOf<Scalar>& x, const Eigen::MatrixXi& categories, Scalar bound,
                      const LatentBatch<Scalar>& latent, double weight, Coder<Scalar>* gradient);

// −ln P(true category), eq. 1, the mean over the batch; `categories` of its one attribute.
template <typename Scalar>
double LossOfDiscriminator(const Discriminator<Scalar>& discriminator,
                           const MatrixOf<Scalar>& noisy,
                           const Eigen::Ref<const Eigen::VectorXi>& categories,
                           Discriminator<Scalar>* gradient);

}  // namespace sotto
