// A small net for attributes (gender) and countermeasures: standardise, Linear, ReLU, Linear, one
// logit. Trained here by Adam (Kingma & Ba 2015) on the logistic loss, so that attackers need no
// libtorch.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

namespace sotto {

// What a net must keep to so that it can be computed in fixed point. After each step of the
// training weights are cut at ±weight, and a row that is too large for `hidden`, or the last layer
// for `output`, is made smaller as a whole, bias included: all bounds hold of the net that comes
// out. Infinity: no bound.
struct MlpBounds {
  double input = std::numeric_limits<double>::infinity();   // standardised x is clipped to ±input
  double weight = std::numeric_limits<double>::infinity();  // of any weight
  double hidden = std::numeric_limits<double>::infinity();  // of input·‖w‖₁ + |b|, each unit
  double output = std::numeric_limits<double>::infinity();  // of hidden·‖w₂‖₁ + |b₂|

  void Validate() const;  // throws Error
};

struct MlpOptions {
  int hidden = 64;
  int epochs = 60;
  int batch = 64;
  double learning_rate = 1e-3;
  double weight_decay = 1e-4;  // on the weights, not on the biases (Loshchilov & Hutter 2019)
  std::uint64_t seed = 1;      // of the first weights and the order: an attacker needs no secret
  bool keep_lowest = false;    // the net after the epoch with the lowest loss on all examples
  MlpBounds bounds;

  void Validate() const;  // throws Error
};

struct MlpWeights {
  Eigen::VectorXf mean, scale;  // standardised: (x − mean)·scale
  Eigen::MatrixXf w1;           // hidden × D
  Eigen::VectorXf b1, w2;
  float b2 = 0.0F;
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

  const MlpWeights& Weights() const { return weights_; }
  // The logistic loss after each epoch; empty unless keep_lowest.
  const std::vector<double>& Losses() const { return losses_; }

 private:
  Eigen::VectorXf LogitsOfStandardised(const Eigen::Ref<const Eigen::MatrixXf>& z) const;

  MlpWeights weights_;
  double clip_ = std::numeric_limits<double>::infinity();
  std::vector<double> losses_;
};

}  // namespace sotto
