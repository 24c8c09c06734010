#include "nn/svm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// For pairs along which the problem is flat (equal examples).
constexpr double kFlat = 1e-12;

// One descent. The gain of raising y_i α_i and lowering y_j α_j by the same step is
// r_i − r_j, where r_t = −y_t G_t and G is the slope of the dual.
class Smo {
 public:
  Smo(const MatrixXf& kernel, const VectorXd& y, const SvmOptions& options)
      : kernel_(kernel), y_(y), c_(options.c), alpha_(VectorXd::Zero(y.size())), r_(y) {
    const auto n = static_cast<std::size_t>(y.size());
    const std::size_t most = options.most_steps != 0 ? options.most_steps : 1000 * n;
    for (std::size_t step = 0; step < most; ++step) {
      if (!Step(options.tolerance)) break;
    }
    Measure();
  }

  const VectorXd& Alpha() const { return alpha_; }
  double Bias() const { return bias_; }
  double Violation() const { return violation_; }

 private:
  bool CanRise(Index t) const { return y_[t] > 0.0 ? alpha_[t] < c_ : alpha_[t] > 0.0; }
  bool CanFall(Index t) const { return y_[t] > 0.0 ? alpha_[t] > 0.0 : alpha_[t] < c_; }
  double Room(Index t, bool rising) const {
    return (y_[t] > 0.0) == rising ? c_ - alpha_[t] : alpha_[t];
  }
  double Curvature(Index i, Index j) const {
    const double a = static_cast<double>(kernel_(i, i)) + kernel_(j, j) - 2.0 * kernel_(j, i);
    return std::max(a, kFlat);
  }

  // False when no pair violates the conditions by more than `tolerance`.
  bool Step(double tolerance) {
    Index i = -1, j = -1;
    double highest = -kInfinity, lowest = kInfinity, best = 0.0;
    for (Index t = 0; t < r_.size(); ++t) {
      if (CanRise(t) && r_[t] > highest) {
        highest = r_[t];
        i = t;
      }
    }
    if (i < 0) return false;
    for (Index t = 0; t < r_.size(); ++t) {
      if (!CanFall(t)) continue;
      lowest = std::min(lowest, r_[t]);
      const double gap = highest - r_[t];
      if (gap <= 0.0) continue;
      const double gain = gap * gap / Curvature(i, t);
      if (gain > best) {
        best = gain;
        j = t;
      }
    }
    if (j < 0 || highest - lowest <= tolerance) return false;
    const double wish = (r_[i] - r_[j]) / Curvature(i, j);
    const double room_i = Room(i, true), room_j = Room(j, false);
    const double step = std::min({wish, room_i, room_j});
    Move(i, y_[i] * step, step == room_i);
    Move(j, -y_[j] * step, step == room_j);
    r_ -= step * (kernel_.col(i) - kernel_.col(j)).cast<double>();
    return true;
  }

  // An α that uses up its room lies exactly on the bound.
  void Move(Index t, double by, bool to_bound) {
    alpha_[t] = to_bound ? (by > 0.0 ? c_ : 0.0) : std::clamp(alpha_[t] + by, 0.0, c_);
  }

  // b is r of any example within the bounds; their mean, else the middle of what the others allow.
  void Measure() {
    double highest = -kInfinity, lowest = kInfinity, sum = 0.0;
    int free = 0;
    for (Index t = 0; t < r_.size(); ++t) {
      if (CanRise(t)) highest = std::max(highest, r_[t]);
      if (CanFall(t)) lowest = std::min(lowest, r_[t]);
      if (CanRise(t) && CanFall(t)) {
        sum += r_[t];
        ++free;
      }
    }
    violation_ = std::max(highest - lowest, 0.0);
    bias_ = free > 0 ? sum / free : 0.5 * (highest + lowest);
  }

  const MatrixXf& kernel_;
  const VectorXd& y_;
  double c_;
  VectorXd alpha_, r_;
  double bias_ = 0.0, violation_ = 0.0;
};

}  // namespace

void SvmOptions::Validate() const {
  if (!(c > 0.0) || !(gamma >= 0.0) || !(tolerance > 0.0)) {
    throw Error(fmt::format("svm: C {} and tolerance {} must be above 0, gamma {} not below", c,
                            tolerance, gamma));
  }
}

MatrixXf Svm::Kernel(const Eigen::Ref<const MatrixXf>& a,
                     const Eigen::Ref<const MatrixXf>& b) const {
  MatrixXf k = a.transpose() * b;
  if (kernel_ == SvmKernel::kLinear) return k;
  const Eigen::VectorXf na = a.colwise().squaredNorm(), nb = b.colwise().squaredNorm();
  const auto gamma = static_cast<float>(gamma_);
  for (Index j = 0; j < k.cols(); ++j) {
    k.col(j) = (-gamma * (na.array() + nb[j] - 2.0F * k.col(j).array()).max(0.0F)).exp();
  }
  return k;
}

Svm Svm::Train(const Eigen::Ref<const MatrixXf>& x, const std::vector<std::uint8_t>& labels,
               const SvmOptions& options) {
  options.Validate();
  const auto n = static_cast<std::size_t>(x.cols());
  if (labels.size() != n || n > kMostExamples) {
    throw Error(fmt::format("svm: {} examples with {} labels; as many, at most {}, are allowed", n,
                            labels.size(), kMostExamples));
  }
  VectorXd y(x.cols());
  for (std::size_t i = 0; i < n; ++i) y[static_cast<Index>(i)] = labels[i] != 0 ? 1.0 : -1.0;
  if (n == 0 || std::abs(y.sum()) == static_cast<double>(n)) {
    throw Error(fmt::format("svm: {} examples of one class: both are needed", n));
  }
  Svm svm;
  svm.kernel_ = options.kernel;
  svm.gamma_ = options.gamma;
  if (options.kernel == SvmKernel::kGaussian && options.gamma == 0.0) {
    const double mean = x.cast<double>().mean();
    const double variance = (x.cast<double>().array() - mean).square().mean();
    svm.gamma_ = 1.0 / (static_cast<double>(x.rows()) * std::max(variance, 1e-12));
  }
  const MatrixXf kernel = svm.Kernel(x, x);
  const Smo smo(kernel, y, options);
  svm.alpha_ = smo.Alpha();
  svm.bias_ = smo.Bias();
  svm.violation_ = smo.Violation();
  std::vector<Index> support;
  for (Index i = 0; i < y.size(); ++i) {
    if (svm.alpha_[i] > 0.0) support.push_back(i);
  }
  svm.support_ = x(Eigen::all, support);
  svm.coefficient_ = svm.alpha_.cwiseProduct(y)(support).cast<float>();
  return svm;
}

VectorXd Svm::Scores(const Eigen::Ref<const MatrixXf>& x) const {
  return (Kernel(support_, x).transpose() * coefficient_).cast<double>().array() + bias_;
}

}  // namespace sotto
