// A small net for attributes (gender): standardise, Linear, ReLU, Linear, one logit. Trained here
// by Adam (Kingma & Ba 2015) on the logistic loss, so that attackers need no libtorch.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace sotto {

struct MlpOptions {
  int hidden = 64;
  int epochs = 60;
  int batch = 64;
  double learning_rate = 1e-3;
  double weight_decay = 1e-4;  // on the weights, not on the biases (Loshchilov & Hutter 2019)
  std::uint64_t seed = 1;      // of the first weights and the order: an attacker needs no secret

  void Validate() const;  // throws Error
};

class Mlp {
 public:
  // Columns of x are examples, `labels` 0 or 1. Both classes weigh the same whatever their numbers.
  // The result depends on data and options alone. Throws Error without both classes, or when the
  // numbers of columns and labels differ.
  static Mlp Train(const Eigen::Ref<const Eigen::MatrixXf>& x,
                   const std::vector<std::uint8_t>& labels, const MlpOptions& options = {});

  // ln P(1)/P(0) under equal priors, one for each column.
  Eigen::VectorXf Logits(const Eigen::Ref<const Eigen::MatrixXf>& x) const;

 private:
  Eigen::VectorXf mean_, scale_;
  Eigen::MatrixXf w1_;  // hidden × D
  Eigen::VectorXf b1_, w2_;
  float b2_ = 0.0F;
};

}  // namespace sotto
