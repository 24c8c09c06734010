// Logistic regression with an L2 penalty, by Newton's method: minimises
//
//   Σ_i v_i ln(1 + exp(−y_i (wᵀx_i + b))) + ½ penalty ‖w‖²,   y_i = ±1, Σ v_i = 1,
//
// b free of penalty (in the words of other programs: C = 1/penalty with sample weights v).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace sotto {

struct Logistic {
  Eigen::VectorXd weights;
  double bias = 0.0;

  Eigen::VectorXd Logits(const Eigen::Ref<const Eigen::MatrixXd>& x) const;
};

// Columns of x are examples; `start` may come from another penalty. Throws Error when the penalty
// is not above 0.
Logistic TrainLogistic(const Eigen::Ref<const Eigen::MatrixXd>& x,
                       const std::vector<std::uint8_t>& positive, const Eigen::VectorXd& importance,
                       double penalty, const Logistic& start = {});

// Σ_i v_i ln(1 + exp(−y_i logit_i)).
double LogLoss(const Eigen::VectorXd& logits, const std::vector<std::uint8_t>& positive,
               const Eigen::VectorXd& importance);

}  // namespace sotto
