// GMM-UBM i-vectors (Dehak et al. 2011): a Gaussian mixture with diagonal covariances describes
// speech; the means of an utterance are m + T·w with w ~ N(0, I) of low dimension, and the i-vector
// is the posterior mean of w. As in that paper, cosines are taken after LDA and within-class
// covariance normalisation, which are part of the encoder (length normalisation before them after
// Garcia-Romero & Espy-Wilson 2011). Small and quick to train on a CPU; weaker than a net.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audio/utterances.h"
#include "nn/safetensors.h"
#include "speaker/encoder.h"

namespace sotto {

// A mixture of Gaussians with diagonal covariances over columns of D values.
struct DiagonalGmm {
  Eigen::VectorXf weights;           // C
  Eigen::MatrixXf means, variances;  // D × C

  Eigen::Index Components() const { return weights.size(); }
  // C × frames: log of weight·density.
  Eigen::MatrixXf LogJoint(const Eigen::Ref<const Eigen::MatrixXf>& x) const;
  // Turns LogJoint's result into posteriors and returns the sum of ln p(x) over the frames.
  static double ToPosteriors(Eigen::MatrixXf& log_joint);
};

struct GmmOptions {
  int components = 256;
  int iterations = 10;
  std::uint64_t seed = 1;  // training is an experiment: it repeats exactly
  int jobs = 1;
};
// EM from randomly chosen frames with the global variance; variances are kept above 1 % of it.
// `history` gets the mean log-likelihood before each iteration.
DiagonalGmm TrainGmm(const Eigen::Ref<const Eigen::MatrixXf>& x, const GmmOptions& options,
                     std::vector<double>* history = nullptr);

// Zeroth and first-order statistics of an utterance, the latter centred on the mixture's means and
// divided by its deviations.
struct BaumWelch {
  Eigen::VectorXf n;  // C
  Eigen::VectorXf f;  // C·D, one component after the other
};
BaumWelch Accumulate(const DiagonalGmm& gmm, const Eigen::Ref<const Eigen::MatrixXf>& x);

// T in the mixture's whitened coordinates, C·D × R.
struct TotalVariability {
  Eigen::MatrixXf t;
  Eigen::MatrixXf products;  // R² × C: Tcᵀ·Tc
  explicit TotalVariability(Eigen::MatrixXf matrix, Eigen::Index components);
  // Posterior mean, and (when asked) the covariance.
  Eigen::VectorXf Ivector(const BaumWelch& stats, Eigen::MatrixXf* covariance = nullptr) const;
};
struct TotalOptions {
  int dimension = 150;
  int iterations = 5;
  std::uint64_t seed = 1;
  int jobs = 1;
};
TotalVariability TrainTotal(const std::vector<BaumWelch>& stats, const TotalOptions& options);

// MFCC 20 with two derivatives, sliding mean normalisation over 3 s, frames with speech only; 60 ×
// frames. Throws Error with fewer than 10 frames of speech.
Eigen::MatrixXf IvectorFeatures(std::span<const float> x);

class IvectorEncoder : public SpeakerEncoder {
 public:
  explicit IvectorEncoder(const TensorFile& file);
  std::string Name() const override { return "ivector"; }
  std::size_t Dimension() const override { return static_cast<std::size_t>(lda_.rows()); }

 protected:
  std::vector<float> Embed16k(std::span<const float> x) const override;

 private:
  DiagonalGmm gmm_;
  TotalVariability total_;
  Eigen::VectorXf mean_;  // R
  Eigen::MatrixXf lda_;   // d × R
};

struct IvectorOptions {
  GmmOptions gmm;
  TotalOptions total;
  int lda_dimension = 120;
  std::size_t max_utterances = 3000;  // taken in turn from all speakers
  std::size_t gmm_frames = 200000;
  double max_seconds = 8.0;  // of each utterance
  int jobs = 1;

  void Validate() const;
};
struct TrainedIvector {
  TensorFile file;
  std::size_t utterances = 0, speakers = 0, frames = 0;
  std::size_t left_out = 0;  // without enough speech
  double seconds_features = 0.0, seconds_gmm = 0.0, seconds_total = 0.0;
};
// Needs at least two speakers with two utterances each.
TrainedIvector TrainIvector(const UtteranceList& list, const IvectorOptions& options);

}  // namespace sotto
