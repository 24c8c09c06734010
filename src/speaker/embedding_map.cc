#include "speaker/embedding_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "speaker/linear_algebra.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kTinyProbability = 1e-12;
constexpr std::size_t kParts = 16;
constexpr double kExaggeration = 12.0;  // of similarities, over the first quarter

MatrixXd SquaredDistances(const MatrixXd& x) {
  const VectorXd squares = x.colwise().squaredNorm();
  MatrixXd d = -2.0 * x.transpose() * x;
  d.colwise() += squares;
  d.rowwise() += squares.transpose();
  d = d.cwiseMax(0.0);
  d.diagonal().setZero();
  return d;
}

// The first two principal components, the first with deviation 1e-4 (as usual for t-SNE); each has
// the sign that makes its largest entry positive.
MatrixXd PrincipalStart(const MatrixXd& x) {
  const MatrixXd centred = x.colwise() - x.rowwise().mean();
  const SymmetricEigen eigen = DecomposeSymmetric(centred * centred.transpose());
  MatrixXd y(2, x.cols());
  for (Index k = 0; k < 2; ++k) {
    const Index at = x.rows() - 1 - k;
    if (at < 0) {
      y.row(k).setZero();
      continue;
    }
    VectorXd axis = eigen.vectors.col(at);
    Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis[largest] < 0.0) axis = -axis;
    y.row(k) = axis.transpose() * centred;
  }
  const double deviation = std::sqrt(y.row(0).squaredNorm() / static_cast<double>(y.cols()));
  if (!(deviation > 0.0)) throw Error("embedding map: all embeddings are the same");
  return y * (1e-4 / deviation);
}

}  // namespace

void MapOptions::Validate() const {
  if (!(perplexity >= 1.0) || iterations < 1) {
    throw Error(fmt::format("embedding map: perplexity {} and {} iterations must be at least 1",
                            perplexity, iterations));
  }
}

MatrixXd ConditionalSimilarities(const MatrixXd& squared, double perplexity) {
  const Index n = squared.cols();
  const double wanted = std::log(perplexity);
  MatrixXd p(n, n);
  for (Index i = 0; i < n; ++i) {
    // Bisection over the precision; distances from the nearest, so that exp does not underflow.
    double nearest = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < n; ++j) {
      if (j != i) nearest = std::min(nearest, squared(j, i));
    }
    double low = 0.0, high = std::numeric_limits<double>::infinity();
    const double mean = squared.col(i).sum() / static_cast<double>(n - 1);
    double beta = mean > 0.0 ? 1.0 / mean : 1.0;
    for (int step = 0; step < 100; ++step) {
      p.col(i) = (-(squared.col(i).array() - nearest) * beta).exp().matrix();
      p(i, i) = 0.0;
      const double sum = p.col(i).sum();
      p.col(i) /= sum;
      const double entropy = std::log(sum) + beta * (p.col(i).dot(squared.col(i)) - nearest);
      if (std::abs(entropy - wanted) < 1e-8) break;
      (entropy > wanted ? low : high) = beta;
      beta = std::isinf(high) ? 2.0 * beta : 0.5 * (low + high);
    }
  }
  return p;
}

MatrixXd MapEmbeddings(const Eigen::Ref<const Eigen::MatrixXf>& x, const MapOptions& options) {
  options.Validate();
  const Index n = x.cols();
  if (n < 4 || n > kMaxMapPoints || !x.allFinite()) {
    throw Error(
        fmt::format("embedding map: {} points, 4 to {} finite ones are needed", n, kMaxMapPoints));
  }
  const MatrixXd points = UnitLength(x).cast<double>();
  MatrixXd y = PrincipalStart(points);
  const double perplexity = std::min(options.perplexity, static_cast<double>(n - 1) / 3.0);
  MatrixXd p = ConditionalSimilarities(SquaredDistances(points), perplexity);
  p = ((p + p.transpose()) / (2.0 * static_cast<double>(n))).cwiseMax(kTinyProbability).eval();

  // Gradient descent with momentum and gains (Jacobs 1988), as in the paper; the learning rate
  // n/exaggeration of Belkina et al. 2019.
  const double rate = std::max(static_cast<double>(n) / kExaggeration / 4.0, 50.0);
  MatrixXd update = MatrixXd::Zero(2, n), gains = MatrixXd::Ones(2, n), gradient(2, n);
  MatrixXd attraction(2, n), repulsion(2, n);
  VectorXd sums(n);
  const int early = options.iterations / 4;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const double factor = iteration < early ? kExaggeration : 1.0;
    ParallelFor(kParts, options.jobs, [&](std::size_t part) {
      Eigen::ArrayXd dx, dy, q, w;
      for (Index i = static_cast<Index>(part); i < n; i += static_cast<Index>(kParts)) {
        dx = y(0, i) - y.row(0).transpose().array();
        dy = y(1, i) - y.row(1).transpose().array();
        q = (1.0 + dx.square() + dy.square()).inverse();
        sums[i] = q.sum() - 1.0;  // less the point itself
        w = p.col(i).array() * q;
        attraction(0, i) = (w * dx).sum();
        attraction(1, i) = (w * dy).sum();
        w = q.square();
        repulsion(0, i) = (w * dx).sum();
        repulsion(1, i) = (w * dy).sum();
      }
    });
    gradient = 4.0 * (factor * attraction - repulsion / sums.sum());
    const double momentum = iteration < early ? 0.5 : 0.8;
    for (Index k = 0; k < gradient.size(); ++k) {
      double& gain = gains.data()[k];
      const bool same_way = gradient.data()[k] * update.data()[k] > 0.0;
      gain = std::max(same_way ? gain * 0.8 : gain + 0.2, 0.01);
    }
    update = momentum * update - rate * gains.cwiseProduct(gradient);
    y += update;
    y.colwise() -= y.rowwise().mean().eval();
  }
  const VectorXd deviations = (y.rowwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt();
  if (!y.allFinite() || !(deviations.maxCoeff() > 0.0)) {
    throw Error("embedding map: did not settle");
  }
  return y / deviations.maxCoeff();
}

}  // namespace sotto
