#include "speaker/lda.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "speaker/kaldi_io.h"
#include "speaker/linear_algebra.h"

namespace sotto {

Eigen::MatrixXd AffineTransform::Apply(const Eigen::Ref<const Eigen::MatrixXd>& x) const {
  if (x.rows() != matrix.cols()) {
    throw Error(fmt::format("transform: the embeddings have {} dimensions, {} are needed", x.rows(),
                            matrix.cols()));
  }
  Eigen::MatrixXd y = matrix * x;
  y.colwise() += offset;
  return y;
}

AffineTransform ParseKaldiTransform(std::string_view bytes, Eigen::Index dimension,
                                    const std::string& where) {
  const Eigen::MatrixXd m = ParseKaldiMatrix(bytes, where);
  if (m.rows() == 0 || !m.allFinite() || (m.cols() != dimension && m.cols() != dimension + 1)) {
    throw Error(fmt::format("{}: a matrix of {} x {}, expected are {} or {} columns of numbers",
                            where, m.rows(), m.cols(), dimension, dimension + 1));
  }
  AffineTransform transform{m.leftCols(dimension), Eigen::VectorXd::Zero(m.rows())};
  if (m.cols() == dimension + 1) transform.offset = m.col(dimension);
  return transform;
}

Classes MakeClasses(const std::vector<std::string>& speakers) {
  std::map<std::string, std::size_t> number;
  for (const std::string& speaker : speakers) number[speaker] = 0;
  Classes classes;
  for (auto& [name, n] : number) {
    n = classes.names.size();
    classes.names.push_back(name);
  }
  classes.counts.assign(classes.names.size(), 0);
  for (const std::string& speaker : speakers) {
    classes.of.push_back(number[speaker]);
    ++classes.counts[classes.of.back()];
  }
  return classes;
}

Eigen::MatrixXd ClassMeans(const Eigen::Ref<const Eigen::MatrixXd>& x, const Classes& classes) {
  if (static_cast<std::size_t>(x.cols()) != classes.of.size()) {
    throw Error(
        fmt::format("embeddings: {} columns, {} speaker labels", x.cols(), classes.of.size()));
  }
  Eigen::MatrixXd means =
      Eigen::MatrixXd::Zero(x.rows(), static_cast<Eigen::Index>(classes.names.size()));
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const std::size_t k = classes.of[static_cast<std::size_t>(i)];
    means.col(static_cast<Eigen::Index>(k)) += x.col(i) / static_cast<double>(classes.counts[k]);
  }
  return means;
}

void LdaOptions::Validate() const {
  if (dimension < 1) throw Error(fmt::format("LDA dimension {} is not positive", dimension));
  if (!(covariance_floor >= 0.0 && covariance_floor < 1.0)) {
    throw Error(fmt::format("LDA covariance floor {} is not in [0, 1)", covariance_floor));
  }
  if (!(total_covariance_factor >= 0.0 && total_covariance_factor <= 1.0)) {
    throw Error(
        fmt::format("LDA total covariance factor {} is not in [0, 1]", total_covariance_factor));
  }
}

AffineTransform TrainLda(const Eigen::Ref<const Eigen::MatrixXd>& x,
                         const std::vector<std::string>& speakers, const LdaOptions& options) {
  options.Validate();
  const Classes classes = MakeClasses(speakers);
  const Eigen::MatrixXd means = ClassMeans(x, classes);
  const Eigen::Index n = x.cols(), classes_n = means.cols();
  if (classes_n < 2 || n == classes_n) {
    throw Error(fmt::format(
        "LDA: {} embeddings of {} speakers; two speakers and one with two embeddings are needed", n,
        classes_n));
  }
  const Eigen::VectorXd mean = x.rowwise().mean();
  const Eigen::MatrixXd centred = x.colwise() - mean;
  const Eigen::MatrixXd total = centred * centred.transpose() / static_cast<double>(n);
  Eigen::MatrixXd between = Eigen::MatrixXd::Zero(x.rows(), x.rows());
  {
    Eigen::MatrixXd weighted = means.colwise() - mean;
    for (Eigen::Index k = 0; k < classes_n; ++k) {
      weighted.col(k) *=
          std::sqrt(static_cast<double>(classes.counts[static_cast<std::size_t>(k)]) /
                    static_cast<double>(n));
    }
    between = weighted * weighted.transpose();
  }
  const Eigen::MatrixXd within = total - between;
  const double f = options.total_covariance_factor;
  const SymmetricEigen white = DecomposeSymmetric((1.0 - f) * within + f * total);
  const double largest = white.values.maxCoeff();
  if (!(largest > 0.0)) throw Error("LDA: all embeddings of a speaker are the same");
  const Eigen::VectorXd scale =
      white.values.cwiseMax(options.covariance_floor * largest).cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd to_white = scale.asDiagonal() * white.vectors.transpose();
  // As a triangle: evaluated as a whole, its last bits are others, and so are those of old models.
  const SymmetricEigen turn = DecomposeSymmetric(
      (to_white * between * to_white.transpose()).triangularView<Eigen::Lower>());
  const Eigen::Index d = std::min({static_cast<Eigen::Index>(options.dimension), x.rows(),
                                   std::max<Eigen::Index>(1, classes_n - 1)});
  AffineTransform transform;
  transform.matrix = turn.vectors.rightCols(d).rowwise().reverse().transpose() * to_white;
  transform.offset = -transform.matrix * mean;
  return transform;
}

}  // namespace sotto
