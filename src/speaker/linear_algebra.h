// The decompositions of Eigen that several files of this room and of those above it need, compiled
// once: each costs the compiler as much as a whole file.
#pragma once

#include <Eigen/Core>

namespace sotto {

struct SymmetricEigen {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // in columns, of length 1
};

// Reads the lower triangle.
SymmetricEigen DecomposeSymmetric(const Eigen::MatrixXd& a);

struct Inverted {
  Eigen::MatrixXd inverse;
  double log_abs_determinant = 0.0;
};

Inverted Invert(const Eigen::MatrixXd& a);

}  // namespace sotto
