// Linear discriminant analysis (Fisher 1936; Fukunaga 1990, ch. 10) for embeddings.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// y = matrix·x + offset.
struct AffineTransform {
  Eigen::MatrixXd matrix;  // d × D
  Eigen::VectorXd offset;  // d

  Eigen::MatrixXd Apply(const Eigen::Ref<const Eigen::MatrixXd>& x) const;
};

// A Kaldi transform.mat: D columns, or D + 1 of which the last is the offset; D from `dimension`.
AffineTransform ParseKaldiTransform(std::string_view bytes, Eigen::Index dimension,
                                    const std::string& where);

// Where each class's columns are: labels 0 … K−1 from any speaker names, in order of name.
struct Classes {
  std::vector<std::string> names;
  std::vector<std::size_t> of;  // class of each column
  std::vector<std::size_t> counts;
};
Classes MakeClasses(const std::vector<std::string>& speakers);

// Class means (D × K) and what EM, LDA and their tests share.
Eigen::MatrixXd ClassMeans(const Eigen::Ref<const Eigen::MatrixXd>& x, const Classes& classes);

struct LdaOptions {
  int dimension = 200;
  // Eigenvalues of the normalising covariance below this share of the largest are raised to it:
  // with fewer columns than dimensions it would be singular.
  double covariance_floor = 1e-6;
  // What is made white: (1 − f)·within + f·total. 0 is Fisher's.
  double total_covariance_factor = 0.0;

  void Validate() const;
};

// Columns of x are made white within speakers and turned so that the first coordinates separate
// the speakers best; the mean of all columns goes to 0. `dimension` is lowered to what D and K − 1
// allow. Throws Error with fewer than two speakers or none with two utterances.
AffineTransform TrainLda(const Eigen::Ref<const Eigen::MatrixXd>& x,
                         const std::vector<std::string>& speakers, const LdaOptions& options = {});

}  // namespace sotto
