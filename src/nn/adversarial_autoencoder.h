// A differentially private adversarial auto-encoder: Chouchane, Panariello, Zari, Kerenciler,
// Chihaoui, Todisco, Önen, "Differentially Private Adversarial Auto-Encoder to Protect Gender in
// Voice Biometrics" (IH&MMSec 2023), sections 3 and 4; without the noise Noé et al. (2020). Trained
// here in plain Eigen: 25,000 numbers need no libtorch.
//
//   z  = BatchNorm(ReLU(W x + b))                        64 numbers
//   y  = z/max(1, ‖z‖₁/C) + n,   n ~ Laplace(2C/eps)     eq. 9, the same eps at use or another
//   x̃  = tanh(W' y + b')
//   L_rec = 1 − cos(x, x̃)                                eq. 3
//   L_adv = −ln(1 − P(true category | y))                eq. 2, summed over the attributes
//
// Adam (rate 1e-3) on auto-encoder and discriminators by turns (eq. 4), batches of 128, the same
// number of voiceprints of each joint category.
//
// C is the median of ‖z‖₁ over the training data before the first step, and stays: the gradient
// does not see that noise grows with C, so a median that follows the net only makes both grow (six
// times in 20,000 steps), while under a fixed one the net learns to say more within it: a few large
// coordinates in place of many small ones (docs/results.md). The batch norm decides about the scale
// of z, whatever the voiceprints are.
//
// What is kept is a moving average of the weights. As published, a net at some step, is another
// thing from epoch to epoch: auto-encoder and discriminators go around each other, and what a
// classifier of clean voiceprints makes of it wanders between AUC 0.4 and 0.8; the average stays
// within a few hundredths and costs nothing.
//
// The noise of the training is a regulariser from an ordinary generator; what protects at use is
// drawn elsewhere (dp). Neither C nor the weights are private for the people trained on.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "base/random.h"
#include "nn/safetensors.h"

namespace sotto {

struct AutoencoderWeights {
  Eigen::MatrixXf encoder;  // latent × d
  Eigen::VectorXf encoder_bias;
  Eigen::VectorXf scale, shift;  // the batch norm with its running statistics
  Eigen::MatrixXf decoder;       // d × latent
  Eigen::VectorXf decoder_bias;
  double bound = 0.0;  // C
};

// As it is used: no noise of its own. Any number of columns.
class AdversarialAutoencoder {
 public:
  // Throws Error for sizes that do not fit together, numbers that are not finite, no positive C.
  explicit AdversarialAutoencoder(AutoencoderWeights weights);
  static AdversarialAutoencoder Parse(const TensorFile& file);
  void Store(TensorFile& file) const;

  Eigen::Index Dimension() const { return weights_.encoder.cols(); }
  Eigen::Index LatentSize() const { return weights_.encoder.rows(); }
  double Bound() const { return weights_.bound; }
  const AutoencoderWeights& Weights() const { return weights_; }

  // Clipped: the L1 norm of each column is at most C.
  Eigen::MatrixXf Encode(const Eigen::Ref<const Eigen::MatrixXf>& x) const;
  Eigen::MatrixXf Decode(const Eigen::Ref<const Eigen::MatrixXf>& y) const;

 private:
  AutoencoderWeights weights_;
};

struct AutoencoderOptions {
  double eps = 0.0;  // of the noise in training; infinity: none. There is no default.
  int latent = 64;
  int hidden = 32;  // units of a discriminator
  int epochs = 300;
  int batch = 128;
  double learning_rate = 1e-3;
  double adversary = 1.0;  // weight of L_adv beside L_rec
  // Decay of the moving average of the weights, by steps, which is the net that is kept. 0: none.
  double average = 0.9995;
  std::uint64_t seed = 1;  // of the first weights, the order and the noise of the training
  int patience = 0;        // epochs without a new best before it stops; 0: it never does
  // Of a run that may be cut off: written every few seconds and at the end, and gone on from, with
  // the result of a run that was not cut off, bit for bit on one machine. Empty: none.
  std::filesystem::path checkpoint, resume;

  void Validate() const;  // throws Error
};

struct TrainedAutoencoder {
  AdversarialAutoencoder net;
  int epochs = 0;      // run
  int best = 0;        // the epoch that is kept
  double score = 0.0;  // of that one; 0 without a criterion
};

// Laplace noise of scale 1 for trainings: from 24 random bits, no mechanism of differential
// privacy.
Eigen::MatrixXf TrainingNoise(Eigen::Index rows, Eigen::Index columns, SeededRng& rng);

// Asked after each epoch; the net of the lowest answer is kept. Not set: that of the last epoch.
using AutoencoderScore = std::function<double(const AdversarialAutoencoder&)>;

// Columns of x are voiceprints of length 1; `categories` has a row for each attribute, which has so
// many categories. An epoch draws as many voiceprints as there are. The result depends on the
// arguments alone. Throws Error where an attribute has one category only, and for a checkpoint that
// is damaged, or of other data or options (the number of epochs and the patience may change).
TrainedAutoencoder TrainAutoencoder(const Eigen::Ref<const Eigen::MatrixXf>& x,
                                    const Eigen::MatrixXi& categories,
                                    const std::vector<int>& category_counts,
                                    const AutoencoderOptions& options,
                                    const AutoencoderScore& score = {});

}  // namespace sotto
