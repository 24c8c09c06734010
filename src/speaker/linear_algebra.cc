#include "speaker/linear_algebra.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace sotto {

SymmetricEigen DecomposeSymmetric(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(a);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

Inverted Invert(const Eigen::MatrixXd& a) {
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(a);
  return {lu.inverse(), lu.matrixLU().diagonal().array().abs().log().sum()};
}

}  // namespace sotto
