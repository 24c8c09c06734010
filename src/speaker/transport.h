// Transport to the common distribution: the owner's device knows the owner's group (gender, or a
// combination of attributes) and moves the voiceprint so that every group comes to lie where all of
// them lie together. In closed form for Gaussians: each group is mapped onto the Wasserstein
// barycentre of all groups (Agueh & Carlier 2011; fixed point of Álvarez-Esteban et al. 2016),
//
//   S = S^−½ (Σ_g w_g (S^½ C_g S^½)^½)² S^−½,     T_g(x) = A_g (x − μ_g),
//   A_g = C_g^−½ (C_g^½ S C_g^½)^½ C_g^−½
//
// in the k coordinates that tell speakers apart best. What a map of estimated moments leaves to an
// attacker grows with k²/n for n training speakers of a group (each map carries the errors of its
// own estimates), so few coordinates and many speakers are what protects. Groups do not differ by
// the same vector in every corpus, and maps that differ from group to group turn a shift of a whole
// corpus into one between groups: the directions in which corpora vary most in either are left out.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "speaker/affine_hider.h"
#include "speaker/hider.h"

namespace sotto {

struct TransportOptions {
  int dimension = 44;          // k, before directions are left out
  int erased = 4;              // directions in which the groups' difference varies between corpora;
                               // of n corpora there are n − 1
  int erased_shifts = 3;       // and directions in which whole corpora are shifted
  double shrink = 0.15;        // of C_g towards the mean of all groups
  double within_floor = 0.02;  // of the mean variance within speakers, added to each
  // Coordinates are scaled by (b/(1 + b))^flattening, b between speakers in units of within: 0 as
  // transported, 1 as a Gaussian model weighs them.
  double flattening = 0.5;

  void Validate() const;  // throws Error
};

// Means and covariances of the groups within each corpus, and the coordinates made from them.
class TransportSpace {
 public:
  // Throws Error where a group has fewer than two speakers, or no speaker two voiceprints.
  TransportSpace(const HiderData& data, const TransportOptions& options);

  // Coordinates are whitened and turned: first those in which the groups' difference varies, then
  // the shifts of corpora, then all others.
  Eigen::Index Telling() const { return telling_; }
  Eigen::Index Erased() const { return erased_; }  // with the shifts
  Eigen::Index Dimension() const { return basis_.cols(); }
  // Of each group, onto the barycentre of `count` coordinates from `first` on, flattened.
  std::vector<AffineMap> Maps(Eigen::Index first, Eigen::Index count) const;

 private:
  TransportOptions options_;
  Eigen::MatrixXd basis_;               // D × k: z = basisᵀ·x
  Eigen::VectorXd scale_;               // of each coordinate
  std::vector<Eigen::VectorXd> means_;  // of each group, k
  std::vector<Eigen::MatrixXd> covariances_;
  Eigen::Index telling_ = 0, erased_ = 0;
};

// S of the groups' covariances, all of the same weight.
Eigen::MatrixXd WassersteinBarycentre(const std::vector<Eigen::MatrixXd>& covariances);
// A_g from one covariance to another.
Eigen::MatrixXd GaussianTransport(const Eigen::MatrixXd& from, const Eigen::MatrixXd& to);

// Those that a command line can set, and their values.
std::vector<Parameter> TransportParameters();
TransportOptions ReadTransportOptions(const ParameterValues& values);

AffineHider FitTransport(const HiderData& data, const TransportOptions& options);

}  // namespace sotto
