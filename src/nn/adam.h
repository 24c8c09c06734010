// Adam (Kingma & Ba 2015) of one array, with decoupled weight decay (Loshchilov & Hutter 2019).
#pragma once

#include <Eigen/Core>
#include <cmath>

namespace sotto {

class Adam {
 public:
  explicit Adam(Eigen::Index size)
      : m_(Eigen::VectorXf::Zero(size)), v_(Eigen::VectorXf::Zero(size)) {}

  // `t`: which step it is, from 1.
  void Step(Eigen::Ref<Eigen::VectorXf> w, const Eigen::Ref<const Eigen::VectorXf>& gradient,
            double rate, double decay, int t) {
    constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;
    m_ = kBeta1 * m_ + (1.0F - kBeta1) * gradient;
    v_ = kBeta2 * v_ + (1.0F - kBeta2) * gradient.cwiseAbs2();
    const auto scale = static_cast<float>(rate * std::sqrt(1.0 - std::pow(kBeta2, t)) /
                                          (1.0 - std::pow(kBeta1, t)));
    w *= static_cast<float>(1.0 - rate * decay);
    w.array() -= scale * m_.array() / (v_.array().sqrt() + kEpsilon);
  }

  // The running means of the gradient and of its square: with them a training goes on.
  Eigen::VectorXf& Mean() { return m_; }
  Eigen::VectorXf& Square() { return v_; }

 private:
  Eigen::VectorXf m_, v_;
};

// All values of an array.
template <typename Matrix>
Eigen::Map<Eigen::VectorXf> Flat(Matrix& m) {
  return {m.data(), m.size()};
}

}  // namespace sotto
