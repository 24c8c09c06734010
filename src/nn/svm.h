// A support vector machine for two classes (Cortes & Vapnik 1995), linear or with a Gaussian kernel
// exp(−γ‖x − z‖²), by its dual problem
//
//   min ½ Σ α_i α_j y_i y_j K_ij − Σ α_i,   0 ≤ α_i ≤ C,  Σ y_i α_i = 0,   y_i = ±1,
//
// solved pair by pair (SMO; Platt 1998), the pair chosen with second-order information (Fan, Chen &
// Lin 2005, WSS 2), until no pair violates the conditions of Karush, Kuhn and Tucker by more than
// `tolerance`. The kernel's matrix is kept whole: 4 n² bytes for n examples.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sotto {

enum class SvmKernel { kLinear, kGaussian };

struct SvmOptions {
  SvmKernel kernel = SvmKernel::kGaussian;
  double c = 1.0;
  double gamma = 0.0;  // of the Gaussian; 0: 1/(dimension · variance of all values of x)
  double tolerance = 1e-3;
  std::size_t most_steps = 0;  // 0: 1000 · n; a problem so hard is left where it is then

  void Validate() const;  // throws Error
};

class Svm {
 public:
  static constexpr std::size_t kMostExamples = 20000;  // 1.6 GB

  // Columns of x are examples, `labels` 0 or 1. The result depends on both and the options alone.
  // Throws Error without both classes, when the numbers differ, or for too many examples.
  static Svm Train(const Eigen::Ref<const Eigen::MatrixXf>& x,
                   const std::vector<std::uint8_t>& labels, const SvmOptions& options = {});

  // Σ α_i y_i K(x_i, x) + b for each column: above 0 for label 1.
  Eigen::VectorXd Scores(const Eigen::Ref<const Eigen::MatrixXf>& x) const;

  const Eigen::VectorXd& Alpha() const { return alpha_; }  // of each example trained on
  double Bias() const { return bias_; }
  double Gamma() const { return gamma_; }
  double Violation() const { return violation_; }  // of the conditions, at the end

 private:
  Eigen::MatrixXf Kernel(const Eigen::Ref<const Eigen::MatrixXf>& a,
                         const Eigen::Ref<const Eigen::MatrixXf>& b) const;

  SvmKernel kernel_ = SvmKernel::kLinear;
  double gamma_ = 0.0, bias_ = 0.0, violation_ = 0.0;
  Eigen::VectorXd alpha_;
  Eigen::MatrixXf support_;      // examples with α above 0
  Eigen::VectorXf coefficient_;  // their α y
};

}  // namespace sotto
