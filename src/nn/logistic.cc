#include "nn/logistic.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/progress.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostSteps = 100;
constexpr double kGradientLeft = 1e-9;

// ln(1 + e^x) and its derivative, neither of which overflows.
double Softly(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double Share(double x) {
  const double e = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

struct Slopes {
  VectorXd gradient;  // of weights and bias
  MatrixXd hessian;   // the lower triangle
};

Slopes SlopesAt(const Eigen::Ref<const MatrixXd>& x, const std::vector<std::uint8_t>& positive,
                const VectorXd& importance, double penalty, const Logistic& model,
                const VectorXd& logits) {
  const Index d = x.rows(), n = x.cols();
  VectorXd slope(n), curve(n);
  for (Index i = 0; i < n; ++i) {
    const double p = Share(logits[i]);
    slope[i] = importance[i] * (p - (positive[static_cast<std::size_t>(i)] != 0 ? 1.0 : 0.0));
    curve[i] = importance[i] * p * (1.0 - p);
  }
  Slopes at{VectorXd(d + 1), MatrixXd::Zero(d + 1, d + 1)};
  at.gradient << x * slope + penalty * model.weights, slope.sum();
  const MatrixXd root = x * curve.cwiseSqrt().asDiagonal();
  at.hessian.topLeftCorner(d, d).selfadjointView<Eigen::Lower>().rankUpdate(root);
  at.hessian.bottomLeftCorner(1, d) = (x * curve).transpose();
  at.hessian(d, d) = curve.sum();
  at.hessian.diagonal().array() += 1e-12;  // of a bias that nothing holds
  at.hessian.diagonal().head(d).array() += penalty;
  return at;
}

}  // namespace

double LogLoss(const VectorXd& logits, const std::vector<std::uint8_t>& positive,
               const VectorXd& importance) {
  double loss = 0.0;
  for (Index i = 0; i < logits.size(); ++i) {
    loss +=
        importance[i] * Softly(positive[static_cast<std::size_t>(i)] != 0 ? -logits[i] : logits[i]);
  }
  return loss;
}

VectorXd Logistic::Logits(const Eigen::Ref<const MatrixXd>& x) const {
  return (x.transpose() * weights).array() + bias;
}

Logistic TrainLogistic(const Eigen::Ref<const MatrixXd>& x,
                       const std::vector<std::uint8_t>& positive, const VectorXd& importance,
                       double penalty, const Logistic& start) {
  if (!(penalty > 0.0)) throw Error(fmt::format("logistic: penalty {} must be above 0", penalty));
  const Index d = x.rows();
  Logistic model = start;
  if (model.weights.size() != d) model = {VectorXd::Zero(d), 0.0};
  VectorXd logits = model.Logits(x);
  const auto loss_of = [&](const Logistic& m, const VectorXd& z) {
    return LogLoss(z, positive, importance) + 0.5 * penalty * m.weights.squaredNorm();
  };
  double loss = loss_of(model, logits);
  for (int step = 0; step < kMostSteps; ++step) {
    ThrowIfCancelled();
    const Slopes at = SlopesAt(x, positive, importance, penalty, model, logits);
    if (at.gradient.cwiseAbs().maxCoeff() < kGradientLeft) break;
    const VectorXd move = at.hessian.selfadjointView<Eigen::Lower>().llt().solve(at.gradient);
    // Half as far until the loss falls: far from the minimum a whole step may overshoot.
    double far = 1.0;
    for (; far > 1e-6; far *= 0.5) {
      const Logistic next{model.weights - far * move.head(d), model.bias - far * move[d]};
      VectorXd next_logits = next.Logits(x);
      const double next_loss = loss_of(next, next_logits);
      if (!(next_loss <= loss)) continue;
      model = next;
      logits = std::move(next_logits);
      loss = next_loss;
      break;
    }
    if (far <= 1e-6) break;  // as low as doubles tell
  }
  return model;
}

}  // namespace sotto
