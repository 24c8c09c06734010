#include "nn/mlp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

// Adam's moments of one array.
class Adam {
 public:
  explicit Adam(Index size) : m_(VectorXf::Zero(size)), v_(VectorXf::Zero(size)) {}
  void Step(Eigen::Ref<VectorXf> w, const Eigen::Ref<const VectorXf>& gradient, double rate,
            double decay, int t) {
    constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;
    m_ = kBeta1 * m_ + (1.0F - kBeta1) * gradient;
    v_ = kBeta2 * v_ + (1.0F - kBeta2) * gradient.cwiseAbs2();
    const auto scale = static_cast<float>(rate * std::sqrt(1.0 - std::pow(kBeta2, t)) /
                                          (1.0 - std::pow(kBeta1, t)));
    w *= static_cast<float>(1.0 - rate * decay);
    w.array() -= scale * m_.array() / (v_.array().sqrt() + kEpsilon);
  }

 private:
  VectorXf m_, v_;
};

template <typename Matrix>
Eigen::Map<VectorXf> Flat(Matrix& m) {
  return {m.data(), m.size()};
}

}  // namespace

void MlpOptions::Validate() const {
  if (hidden < 1 || epochs < 1 || batch < 1) {
    throw Error(fmt::format("net: {} hidden units, {} epochs, batches of {}: at least 1 each",
                            hidden, epochs, batch));
  }
  if (!(learning_rate > 0.0) || !(weight_decay >= 0.0)) {
    throw Error("net: the learning rate must be above 0, the weight decay at least 0");
  }
}

Mlp Mlp::Train(const Eigen::Ref<const MatrixXf>& x, const std::vector<std::uint8_t>& labels,
               const MlpOptions& options) {
  options.Validate();
  const Index n = x.cols(), d = x.rows();
  if (static_cast<std::size_t>(n) != labels.size()) {
    throw Error(fmt::format("net: {} examples, {} labels", n, labels.size()));
  }
  const auto positives = std::count(labels.begin(), labels.end(), std::uint8_t{1});
  if (positives == 0 || positives == n) {
    throw Error(
        fmt::format("net: {} of {} examples are of one class: both are needed", positives, n));
  }
  const float weight[2] = {0.5F * static_cast<float>(n) / static_cast<float>(n - positives),
                           0.5F * static_cast<float>(n) / static_cast<float>(positives)};
  Mlp net;
  net.mean_ = x.rowwise().mean();
  net.scale_ = ((x.colwise() - net.mean_).cwiseAbs2().rowwise().mean().array() + 1e-8F).rsqrt();
  const MatrixXf z = net.scale_.asDiagonal() * (x.colwise() - net.mean_);
  SeededRng rng(options.seed);
  const auto draw = [&rng](Eigen::Ref<VectorXf> to, double deviation) {
    for (float& value : to) value = static_cast<float>(deviation * rng.Gaussian());
  };
  net.w1_.resize(options.hidden, d);  // He et al. 2015
  draw(Flat(net.w1_), std::sqrt(2.0 / static_cast<double>(d)));
  net.b1_ = VectorXf::Zero(options.hidden);
  net.w2_.resize(options.hidden);
  draw(net.w2_, std::sqrt(1.0 / options.hidden));

  Adam adam_w1(net.w1_.size()), adam_b1(net.b1_.size()), adam_w2(net.w2_.size()), adam_b2(1);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  int t = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    for (Index at = 0; at < n; at += options.batch) {
      const Index size = std::min<Index>(options.batch, n - at);
      MatrixXf batch(d, size);
      VectorXf target(size), importance(size);
      for (Index i = 0; i < size; ++i) {
        const Index k = order[static_cast<std::size_t>(at + i)];
        batch.col(i) = z.col(k);
        const std::uint8_t label = labels[static_cast<std::size_t>(k)] != 0 ? 1 : 0;
        target[i] = label;
        importance[i] = weight[label] / static_cast<float>(size);
      }
      const MatrixXf a = ((net.w1_ * batch).colwise() + net.b1_).cwiseMax(0.0F);
      const VectorXf logit = (a.transpose() * net.w2_).array() + net.b2_;
      const VectorXf slope =
          ((1.0F / (1.0F + (-logit.array()).exp()) - target.array()) * importance.array());
      MatrixXf back = net.w2_ * slope.transpose();
      back = (a.array() > 0.0F).select(back, 0.0F);
      MatrixXf g1 = back * batch.transpose();
      const VectorXf gb1 = back.rowwise().sum(), g2 = a * slope;
      ++t;
      const double rate = options.learning_rate;
      adam_w1.Step(Flat(net.w1_), Flat(g1), rate, options.weight_decay, t);
      adam_b1.Step(net.b1_, gb1, rate, 0.0, t);
      adam_w2.Step(net.w2_, g2, rate, options.weight_decay, t);
      VectorXf b2 = VectorXf::Constant(1, net.b2_);
      adam_b2.Step(b2, VectorXf::Constant(1, slope.sum()), rate, 0.0, t);
      net.b2_ = b2[0];
    }
  }
  return net;
}

VectorXf Mlp::Logits(const Eigen::Ref<const MatrixXf>& x) const {
  if (x.rows() != mean_.size()) {
    throw Error(fmt::format("net: {} dimensions, it was trained for {}", x.rows(), mean_.size()));
  }
  const MatrixXf z = scale_.asDiagonal() * (x.colwise() - mean_);
  const MatrixXf a = ((w1_ * z).colwise() + b1_).cwiseMax(0.0F);
  return (a.transpose() * w2_).array() + b2_;
}

}  // namespace sotto
