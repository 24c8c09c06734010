// Defences that leave no linear classifier anything to go by: projections, fitted in closed form or
// by rounds. What is left in covariances and in anything not linear they do not touch, and a net or
// a quadratic classifier trained on their output reads it: both are here to be compared with.
//
// Least-squares concept erasure (Belrose et al. 2023, "LEACE: Perfect linear concept erasure in
// closed form", theorem 4.2). With Z the categories of all attributes, one-hot,
//
//   x → x − W⁺ P W (x − E x),   W = (Σ_xx^½)⁺,   P the orthogonal projection onto colspace(W Σ_xz).
//
// Among affine maps after which no affine classifier does better than a constant one (Σ_xz = 0: the
// means of all categories are equal) it moves x least, in E‖·‖² and in every other quadratic norm.
//
// Iterative null-space projection (Ravfogel et al. 2020, "Null it out"): a linear classifier is
// trained, x is projected onto its null space, and again, until a classifier is at chance for
// speakers it has not seen. Classifier: logistic regression for each category against the rest
// (nn/logistic.h), both halves of the same weight; every round takes out all their directions at
// once, two categories having one.
//
// Both weigh their voiceprints so that attributes, categories and speakers count the same
// (speaker/hider_data.h).
#pragma once

#include <Eigen/Core>
#include <vector>

#include "speaker/affine_hider.h"
#include "speaker/hider.h"

namespace sotto {

// Columns of x are examples, rows of z concepts, the weights add up to 1. Directions of x whose
// variance is below 1e-12 of the largest count as absent.
AffineMap FitLeace(const Eigen::Ref<const Eigen::MatrixXd>& x,
                   const Eigen::Ref<const Eigen::MatrixXd>& z, const Eigen::VectorXd& weights);
struct InlpOptions {
  int rounds = 40;        // at most
  double penalty = 1e-3;  // of the classifiers, on x brought to mean variance 1

  void Validate() const;  // throws Error
};

struct Inlp {
  Eigen::MatrixXd directions;  // taken out: orthogonal, of length 1, in columns
  // What the best classifier of each round reads of the speakers held out (a fifth of each joint
  // category), before its directions are taken out. A round that finds chance, or would leave
  // nothing of x, takes nothing and is the last.
  std::vector<double> auc;
};

// Chance: for every classifier, an AUC of at most ½ and one standard error over the speakers held
// out, √((n₁+n₂+1)/(12·n₁·n₂)). Throws Error where a category has fewer than two speakers.
Inlp FitInlp(const HiderData& data, const InlpOptions& options = {});

}  // namespace sotto
