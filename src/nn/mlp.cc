#include "nn/mlp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "base/random.h"
#include "nn/adam.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

// Standardised and clipped.
MatrixXf Standardise(const Eigen::Ref<const MatrixXf>& x, const MlpWeights& net, double clip) {
  MatrixXf z = net.scale.asDiagonal() * (x.colwise() - net.mean);
  if (std::isfinite(clip)) {
    const auto most = static_cast<float>(clip);
    z = z.cwiseMax(-most).cwiseMin(most);
  }
  return z;
}

void Project(MlpWeights& net, const MlpBounds& bounds) {
  if (std::isfinite(bounds.weight)) {
    const auto most = static_cast<float>(bounds.weight);
    net.w1 = net.w1.cwiseMax(-most).cwiseMin(most);
    net.w2 = net.w2.cwiseMax(-most).cwiseMin(most);
  }
  if (!std::isfinite(bounds.hidden)) return;
  // A hair below the bound, since the sums are rounded.
  const double room = 1.0 - 1e-5;
  const VectorXf norms = net.w1.cwiseAbs().rowwise().sum();
  for (Index i = 0; i < norms.size(); ++i) {
    const double reach = bounds.input * norms[i] + std::abs(net.b1[i]);
    if (reach <= room * bounds.hidden) continue;
    const auto factor = static_cast<float>(room * bounds.hidden / reach);
    net.w1.row(i) *= factor;
    net.b1[i] *= factor;
  }
  const double reach = bounds.hidden * net.w2.cwiseAbs().sum() + std::abs(net.b2);
  if (reach <= room * bounds.output) return;
  const auto factor = static_cast<float>(room * bounds.output / reach);
  net.w2 *= factor;
  net.b2 *= factor;
}

// Of the two classes, so that both weigh the same whatever their numbers.
std::array<float, 2> ClassWeights(const std::vector<std::uint8_t>& labels) {
  const auto n = static_cast<std::ptrdiff_t>(labels.size());
  const auto positives = std::count(labels.begin(), labels.end(), std::uint8_t{1});
  if (positives == 0 || positives == n) {
    throw Error(
        fmt::format("net: {} of {} examples are of one class: both are needed", positives, n));
  }
  return {0.5F * static_cast<float>(n) / static_cast<float>(n - positives),
          0.5F * static_cast<float>(n) / static_cast<float>(positives)};
}

// Standardises as x asks for; weights as He et al. (2015) draw them.
MlpWeights FirstWeights(const Eigen::Ref<const MatrixXf>& x, const MlpOptions& options,
                        SeededRng& rng) {
  MlpWeights net;
  net.mean = x.rowwise().mean();
  net.scale = ((x.colwise() - net.mean).cwiseAbs2().rowwise().mean().array() + 1e-8F).rsqrt();
  const auto draw = [&rng](Eigen::Ref<VectorXf> to, double deviation) {
    for (float& value : to) value = static_cast<float>(deviation * rng.Gaussian());
  };
  net.w1.resize(options.hidden, x.rows());
  draw(Flat(net.w1), std::sqrt(2.0 / static_cast<double>(x.rows())));
  net.b1 = VectorXf::Zero(options.hidden);
  net.w2.resize(options.hidden);
  draw(net.w2, std::sqrt(1.0 / options.hidden));
  Project(net, options.bounds);
  return net;
}

// Adam of all weights, batch by batch.
class Learner {
 public:
  Learner(MlpWeights& net, const MlpOptions& options)
      : net_(net),
        options_(options),
        w1_(net.w1.size()),
        b1_(net.b1.size()),
        w2_(net.w2.size()),
        b2_(1) {}

  // All columns of z once, in this order.
  void Epoch(const MatrixXf& z, const std::vector<std::uint8_t>& labels,
             const std::array<float, 2>& weight, const std::vector<Index>& order) {
    const Index n = z.cols();
    for (Index at = 0; at < n; at += options_.batch) {
      const Index size = std::min<Index>(options_.batch, n - at);
      MatrixXf batch(z.rows(), size);
      VectorXf target(size), importance(size);
      for (Index i = 0; i < size; ++i) {
        const Index k = order[static_cast<std::size_t>(at + i)];
        batch.col(i) = z.col(k);
        const std::uint8_t label = labels[static_cast<std::size_t>(k)] != 0 ? 1 : 0;
        target[i] = label;
        importance[i] = weight[label] / static_cast<float>(size);
      }
      Step(batch, target, importance);
    }
  }

 private:
  // `importance` of each example adds up to 1 over the batch.
  void Step(const MatrixXf& batch, const VectorXf& target, const VectorXf& importance) {
    const MatrixXf a = ((net_.w1 * batch).colwise() + net_.b1).cwiseMax(0.0F);
    const VectorXf logit = (a.transpose() * net_.w2).array() + net_.b2;
    const VectorXf slope =
        ((1.0F / (1.0F + (-logit.array()).exp()) - target.array()) * importance.array());
    MatrixXf back = net_.w2 * slope.transpose();
    back = (a.array() > 0.0F).select(back, 0.0F);
    MatrixXf g1 = back * batch.transpose();
    const VectorXf gb1 = back.rowwise().sum(), g2 = a * slope;
    ++t_;
    const double rate = options_.learning_rate, decay = options_.weight_decay;
    w1_.Step(Flat(net_.w1), Flat(g1), rate, decay, t_);
    b1_.Step(net_.b1, gb1, rate, 0.0, t_);
    w2_.Step(net_.w2, g2, rate, decay, t_);
    VectorXf b2 = VectorXf::Constant(1, net_.b2);
    b2_.Step(b2, VectorXf::Constant(1, slope.sum()), rate, 0.0, t_);
    net_.b2 = b2[0];
    Project(net_, options_.bounds);
  }

  MlpWeights& net_;
  const MlpOptions& options_;
  Adam w1_, b1_, w2_, b2_;
  int t_ = 0;
};

double LogisticLoss(const VectorXf& logits, const std::vector<std::uint8_t>& labels,
                    const std::array<float, 2>& weight) {
  double loss = 0.0;
  for (Index i = 0; i < logits.size(); ++i) {
    const bool positive = labels[static_cast<std::size_t>(i)] != 0;
    const double against = positive ? -logits[i] : logits[i];
    // ln(1 + e^a) without overflow.
    loss += weight[positive ? 1 : 0] *
            (std::max(against, 0.0) + std::log1p(std::exp(-std::abs(against))));
  }
  return loss / static_cast<double>(logits.size());
}

}  // namespace

void MlpBounds::Validate() const {
  for (const double bound : {input, weight, hidden, output}) {
    if (!(bound > 0.0)) throw Error(fmt::format("net: a bound of {} must be above 0", bound));
  }
  if (std::isfinite(hidden) != std::isfinite(output) ||
      (std::isfinite(hidden) && !std::isfinite(input))) {
    throw Error("net: bounds of units need those of input and output");
  }
}

void MlpOptions::Validate() const {
  if (hidden < 1 || epochs < 1 || batch < 1) {
    throw Error(fmt::format("net: {} hidden units, {} epochs, batches of {}: at least 1 each",
                            hidden, epochs, batch));
  }
  if (!(learning_rate > 0.0) || !(weight_decay >= 0.0)) {
    throw Error("net: the learning rate must be above 0, the weight decay at least 0");
  }
  bounds.Validate();
}

Mlp Mlp::Train(const Eigen::Ref<const MatrixXf>& x, const std::vector<std::uint8_t>& labels,
               const MlpOptions& options) {
  options.Validate();
  const Index n = x.cols();
  if (static_cast<std::size_t>(n) != labels.size()) {
    throw Error(fmt::format("net: {} examples, {} labels", n, labels.size()));
  }
  const std::array<float, 2> weight = ClassWeights(labels);
  SeededRng rng(options.seed);
  Mlp mlp;
  mlp.clip_ = options.bounds.input;
  MlpWeights& net = mlp.weights_;
  net = FirstWeights(x, options, rng);
  const MatrixXf z = Standardise(x, net, mlp.clip_);

  Learner learner(net, options);
  MlpWeights lowest;
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    ThrowIfCancelled();
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    learner.Epoch(z, labels, weight, order);
    if (!options.keep_lowest) continue;
    const double loss = LogisticLoss(mlp.LogitsOfStandardised(z), labels, weight);
    if (mlp.losses_.empty() || loss < *std::min_element(mlp.losses_.begin(), mlp.losses_.end())) {
      lowest = net;
    }
    mlp.losses_.push_back(loss);
  }
  if (options.keep_lowest) net = std::move(lowest);
  return mlp;
}

VectorXf Mlp::LogitsOfStandardised(const Eigen::Ref<const MatrixXf>& z) const {
  const MatrixXf a = ((weights_.w1 * z).colwise() + weights_.b1).cwiseMax(0.0F);
  return (a.transpose() * weights_.w2).array() + weights_.b2;
}

VectorXf Mlp::Logits(const Eigen::Ref<const MatrixXf>& x) const {
  if (x.rows() != weights_.mean.size()) {
    throw Error(
        fmt::format("net: {} dimensions, it was trained for {}", x.rows(), weights_.mean.size()));
  }
  return LogitsOfStandardised(Standardise(x, weights_, clip_));
}

}  // namespace sotto
