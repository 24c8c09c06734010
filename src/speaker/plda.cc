#include "speaker/plda.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "speaker/kaldi_io.h"
#include "speaker/lda.h"
#include "speaker/linear_algebra.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

int CountOf(std::span<const int> counts, Index i) {
  return counts.empty() ? 1 : counts[static_cast<std::size_t>(i)];
}

void CheckCounts(std::span<const int> counts, Index columns) {
  if (!counts.empty() && counts.size() != static_cast<std::size_t>(columns)) {
    throw Error(fmt::format("PLDA: {} counts for {} embeddings", counts.size(), columns));
  }
  for (const int n : counts) {
    if (n < 1) throw Error(fmt::format("PLDA: a mean of {} utterances", n));
  }
}

// What EM needs of the data: scatter around the speakers' means, the means and their counts.
struct Stats {
  MatrixXd scatter;  // Σ (x − speaker mean)(…)ᵀ
  MatrixXd means;    // D × K
  Classes classes;
  double n = 0.0;
};

struct Step {
  VectorXd mean;
  MatrixXd between, within;
  double log_likelihood = 0.0;
};

// One EM iteration. In the coordinates of `plda` the speaker's posterior given n utterances with
// mean u is N(n·psi/(1 + n·psi)·u, psi/(1 + n·psi)), coordinate by coordinate.
Step Iterate(const Plda& plda, const Stats& stats, bool update_mean) {
  const Index d = plda.Dimension(), speakers = stats.means.cols();
  const MatrixXd u = plda.transform * (stats.means.colwise() - plda.mean);
  const MatrixXd scatter = plda.transform * stats.scatter * plda.transform.transpose();
  MatrixXd posterior(d, speakers), residual(d, speakers);
  VectorXd between_variance = VectorXd::Zero(d), within_variance = VectorXd::Zero(d);
  double log_likelihood = 0.0;
  for (Index k = 0; k < speakers; ++k) {
    const auto n = static_cast<double>(stats.classes.counts[static_cast<std::size_t>(k)]);
    const Eigen::ArrayXd gain = n * plda.psi.array() / (1.0 + n * plda.psi.array());
    posterior.col(k) = (gain * u.col(k).array()).matrix();
    residual.col(k) = std::sqrt(n) * (u.col(k) - posterior.col(k));
    between_variance.array() += gain / n;
    within_variance.array() += gain;
    // ln p of all of the speaker's embeddings, up to the scatter: the mean is N(0, psi + 1/n).
    log_likelihood -= 0.5 * ((1.0 + n * plda.psi.array()).log() +
                             n * u.col(k).array().square() / (1.0 + n * plda.psi.array()))
                                .sum();
  }
  log_likelihood -= 0.5 * scatter.trace();
  // |det A| as a sum of logs: psi and W are in A.
  const auto [back, log_det] = Invert(plda.transform);
  log_likelihood +=
      stats.n * (log_det - 0.5 * static_cast<double>(d) * std::log(2.0 * std::numbers::pi));

  Step step;
  step.log_likelihood = log_likelihood / stats.n;
  VectorXd shift = VectorXd::Zero(d);
  if (update_mean) {
    shift = posterior.rowwise().mean();
    posterior.colwise() -= shift;
  }
  step.mean = plda.mean + back * shift;
  MatrixXd between = posterior * posterior.transpose();
  between.diagonal() += between_variance;
  MatrixXd within = scatter + residual * residual.transpose();
  within.diagonal() += within_variance;
  step.between = back * (between / static_cast<double>(speakers)) * back.transpose();
  step.within = back * (within / stats.n) * back.transpose();
  return step;
}

}  // namespace

void Plda::Validate(const std::string& where) const {
  const Index d = mean.size();
  if (d == 0 || transform.rows() != d || transform.cols() != d || psi.size() != d) {
    throw Error(
        fmt::format("{}: mean of {}, transform of {} x {}, {} variances: all are to be "
                    "of one size",
                    where, d, transform.rows(), transform.cols(), psi.size()));
  }
  if (!mean.allFinite() || !transform.allFinite() || !psi.allFinite() || psi.minCoeff() < 0.0) {
    throw Error(
        fmt::format("{}: the PLDA model holds NaN, infinity or a negative variance", where));
  }
}

Plda Plda::FromCovariances(const VectorXd& mean, const MatrixXd& between, const MatrixXd& within) {
  const Eigen::LLT<MatrixXd> llt(within);
  if (llt.info() != Eigen::Success) {
    throw Error(
        "PLDA: the within-speaker covariance is not positive definite (too few embeddings "
        "for their dimension? reduce it by LDA first)");
  }
  const MatrixXd to_white = llt.matrixL().solve(MatrixXd::Identity(mean.size(), mean.size()));
  const MatrixXd turned = to_white * between * to_white.transpose();
  const SymmetricEigen eigen = DecomposeSymmetric(0.5 * (turned + turned.transpose()));
  Plda plda;
  plda.mean = mean;
  plda.psi = eigen.values.reverse().cwiseMax(0.0);
  plda.transform = eigen.vectors.rowwise().reverse().transpose() * to_white;
  plda.Validate("PLDA");
  return plda;
}

Plda ParseKaldiPlda(std::string_view bytes, const std::string& where) {
  KaldiReader reader(bytes, where);
  const bool binary = reader.BinaryMark();
  Plda plda;
  reader.Expect("<Plda>");
  plda.mean = reader.Vector(binary);
  plda.transform = reader.Matrix(binary);
  plda.psi = reader.Vector(binary);
  reader.Expect("</Plda>");
  plda.Validate(where);
  return plda;
}

TrainedPlda TrainPlda(const Eigen::Ref<const MatrixXd>& x, const std::vector<std::string>& speakers,
                      const PldaOptions& options) {
  if (options.iterations < 0) {
    throw Error(fmt::format("PLDA: {} iterations, 1 or more are allowed", options.iterations));
  }
  Stats stats;
  stats.classes = MakeClasses(speakers);
  stats.means = ClassMeans(x, stats.classes);
  stats.n = static_cast<double>(x.cols());
  const Index d = x.rows(), k = stats.means.cols();
  if (k < 2 || k == x.cols()) {
    throw Error(fmt::format(
        "PLDA: {} embeddings of {} speakers; two speakers and one with two embeddings are needed",
        x.cols(), k));
  }
  MatrixXd centred = x;
  for (Index i = 0; i < x.cols(); ++i) {
    centred.col(i) -=
        stats.means.col(static_cast<Index>(stats.classes.of[static_cast<std::size_t>(i)]));
  }
  stats.scatter = centred * centred.transpose();
  const VectorXd mean = stats.means.rowwise().mean();

  const bool kaldi = options.training == PldaTraining::kKaldi;
  MatrixXd between = MatrixXd::Identity(d, d), within = between;
  if (!kaldi) {
    const MatrixXd spread = stats.means.colwise() - mean;
    between = spread * spread.transpose() / static_cast<double>(k);
    within = stats.scatter / stats.n;
    // A start only; the floor keeps it usable where data is scarce.
    within.diagonal().array() += 1e-3 * (within.trace() + between.trace()) / static_cast<double>(d);
  }
  TrainedPlda trained;
  trained.plda = Plda::FromCovariances(mean, between, within);
  const int usual = kaldi ? 10 : 100;
  const int iterations = options.iterations > 0 ? options.iterations : usual;
  for (int i = 0; i < iterations; ++i) {
    const Step step = Iterate(trained.plda, stats, !kaldi);
    auto& history = trained.log_likelihood;
    const bool settled =
        !kaldi && !history.empty() && step.log_likelihood - history.back() < options.tolerance;
    history.push_back(step.log_likelihood);
    if (settled) break;
    trained.plda = Plda::FromCovariances(step.mean, step.between, step.within);
  }
  return trained;
}

MatrixXd PldaProject(const Plda& plda, const Eigen::Ref<const MatrixXd>& x,
                     std::span<const int> counts, PldaLength length) {
  if (x.rows() != plda.Dimension()) {
    throw Error(fmt::format("PLDA: the embeddings have {} dimensions, the model {}", x.rows(),
                            plda.Dimension()));
  }
  CheckCounts(counts, x.cols());
  MatrixXd u = plda.transform * (x.colwise() - plda.mean);
  const auto d = static_cast<double>(u.rows());
  for (Index i = 0; i < u.cols(); ++i) {
    double squares = 0.0;
    if (length == PldaLength::kExpected) {
      squares = (u.col(i).array().square() /
                 (plda.psi.array() + 1.0 / static_cast<double>(CountOf(counts, i))))
                    .sum();
    } else if (length == PldaLength::kSqrtD) {
      squares = u.col(i).squaredNorm();
    }
    if (squares > 0.0) u.col(i) *= std::sqrt(d / squares);
  }
  return u;
}

MatrixXd PldaScores(const Plda& plda, const Eigen::Ref<const MatrixXd>& enrol,
                    const Eigen::Ref<const MatrixXd>& trial, std::span<const int> counts,
                    int trial_count) {
  CheckCounts(counts, enrol.cols());
  CheckCounts({&trial_count, 1}, 1);
  const Index d = plda.Dimension();
  if (enrol.rows() != d || trial.rows() != d) {
    throw Error(fmt::format("PLDA: vectors of {} and {} dimensions, the model has {}", enrol.rows(),
                            trial.rows(), d));
  }
  // Given the enrolment, the trial is N(gain·u, same), else N(0, other). The difference of the two
  // logs is linear in (v, v²) of the trial: all pairs are one matrix product.
  const double within = 1.0 / trial_count;
  const Eigen::ArrayXd other = plda.psi.array() + within;
  MatrixXd left(2 * d, enrol.cols());
  VectorXd constant(enrol.cols());
  for (Index i = 0; i < enrol.cols(); ++i) {
    const auto n = static_cast<double>(CountOf(counts, i));
    const Eigen::ArrayXd shrink = 1.0 + n * plda.psi.array();
    const Eigen::ArrayXd mean = n * plda.psi.array() / shrink * enrol.col(i).array();
    const Eigen::ArrayXd same = within + plda.psi.array() / shrink;
    left.col(i).head(d) = (mean / same).matrix();
    left.col(i).tail(d) = (-0.5 * (1.0 / same - 1.0 / other)).matrix();
    constant[i] = -0.5 * (mean.square() / same + same.log() - other.log()).sum();
  }
  MatrixXd right(2 * d, trial.cols());
  right.topRows(d) = trial;
  right.bottomRows(d) = trial.cwiseAbs2();
  MatrixXd scores = left.transpose() * right;
  scores.colwise() += constant;
  return scores;
}

}  // namespace sotto
