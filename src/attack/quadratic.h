// Quadratic discriminant with shrinkage: a Gaussian for each category, whose covariance is drawn
// towards the one common to all and then towards a multiple of the identity (Friedman, "Regularized
// discriminant analysis", JASA 1989, eq. 16 and 18, every category weighing the same):
//
//   A_k = (1 − common) S_k + common · mean_j S_j,   Σ_k = (1 − round) A_k + round · tr(A_k)/d · I.
//
// Any round > 0 makes it invertible, so that fewer vectors than dimensions do.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "attack/attribute_examples.h"

namespace sotto {

struct Shrinkage {
  double common = 0.0;  // 0: a covariance for each category, 1: one for all (linear)
  double round = 0.1;   // above 0, up to 1
};

// ln density of each column of `test` in each category's Gaussian, one row each, up to the constant
// −d/2 ln 2π. `weights` of the training columns are positive; covariances are unbiased (for equal
// weights: divided by n − 1; a category of one vector has none of its own).
Eigen::MatrixXd GaussianLogDensities(const Eigen::Ref<const Eigen::MatrixXd>& train,
                                     const std::vector<int>& labels, int n_categories,
                                     const Eigen::VectorXd& weights,
                                     const Eigen::Ref<const Eigen::MatrixXd>& test,
                                     const Shrinkage& shrinkage);

// The attacker: direction and length (attribute_examples.h), standardised, balanced; the shrinkage
// with the highest AUC for speakers held out, out of 18. Scores are ln p(x | category) − ln of
// the mean density of the others: one row for two categories, else one for each.
Eigen::MatrixXf ClassifyQuadratic(const AttributeExamples& train,
                                  const Eigen::Ref<const Eigen::MatrixXf>& test);

}  // namespace sotto
