// Probabilistic linear discriminant analysis (Ioffe 2006; Prince & Elder 2007), two-covariance form
// (Brümmer & de Villiers 2010): an embedding is x = m + y + e with y ~ N(0, B) the same for all
// utterances of a speaker and e ~ N(0, W) drawn for each.
//
// It is kept as Kaldi keeps it: u = A·(x − m) makes W the identity and B = diag(psi) at once
// (Ioffe's simultaneous diagonalisation), so that every likelihood is a product over coordinates.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct Plda {
  Eigen::VectorXd mean;       // m, D
  Eigen::MatrixXd transform;  // A, D × D
  Eigen::VectorXd psi;        // between-speaker variances in A's coordinates, falling

  Eigen::Index Dimension() const { return mean.size(); }
  // Throws Error when a size or a number is wrong.
  void Validate(const std::string& where) const;

  // From the covariances; W must be positive definite (Error otherwise).
  static Plda FromCovariances(const Eigen::VectorXd& mean, const Eigen::MatrixXd& between,
                              const Eigen::MatrixXd& within);
};

// Kaldi's binary or text file: <Plda> mean transform psi </Plda>.
Plda ParseKaldiPlda(std::string_view bytes, const std::string& where);

enum class PldaTraining {
  // EM from the moments of the data, the mean re-estimated too, until the likelihood settles.
  kTwoCovariance,
  // As Kaldi's ivector-compute-plda: the mean of speakers' means, B = W = identity, 10 iterations.
  kKaldi,
};
struct PldaOptions {
  PldaTraining training = PldaTraining::kTwoCovariance;
  int iterations = 0;       // 0: 10 for kKaldi; at most 100 for kTwoCovariance
  double tolerance = 1e-6;  // of the mean log-likelihood per embedding, for kTwoCovariance
};
struct TrainedPlda {
  Plda plda;
  std::vector<double> log_likelihood;  // per embedding, before each iteration; never falls
};
// Columns of x are embeddings. Throws Error with fewer than two speakers or none with two
// utterances.
TrainedPlda TrainPlda(const Eigen::Ref<const Eigen::MatrixXd>& x,
                      const std::vector<std::string>& speakers, const PldaOptions& options = {});

// How long vectors are made in A's coordinates.
enum class PldaLength {
  kKeep,
  kExpected,  // Σ u²/(psi + 1/n) = D, what the model expects of a mean of n utterances (Kaldi)
  kSqrtD,     // ‖u‖ = √D (Kaldi's --simple-length-normalization)
};

// A·(x − m), then the length; counts[i] utterances were averaged into column i (empty: 1 each).
Eigen::MatrixXd PldaProject(const Plda& plda, const Eigen::Ref<const Eigen::MatrixXd>& x,
                            std::span<const int> counts = {},
                            PldaLength length = PldaLength::kKeep);

// ln p(enrolment, trial | one speaker) − ln p(enrolment)·p(trial), exact for means of `counts`
// enrolment and `trial_count` trial utterances (the mean is sufficient). Inputs are projected;
// result: one row per enrolment, one column per trial.
Eigen::MatrixXd PldaScores(const Plda& plda, const Eigen::Ref<const Eigen::MatrixXd>& enrol,
                           const Eigen::Ref<const Eigen::MatrixXd>& trial,
                           std::span<const int> counts = {}, int trial_count = 1);

}  // namespace sotto
