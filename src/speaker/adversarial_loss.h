// What a map that hides attributes is trained by (speaker/adversarial_hider.h), with gradients by
// hand. Columns are voiceprints. In double precision for the test that compares the gradients with
// differences, in single precision for use.
//
//   speaker    the prototypical loss (Snell, Swersky & Zemel 2017): of each speaker some
//   voiceprints
//              make a prototype, their mean brought to length 1; the mean over the others of
//              −ln softmax(scale · cosines to all prototypes)[their own]
//   attacker   −ln P(true category), what a discriminator is trained by
//   confusion  −Σ_k 1/K ln P(k) − ln K: how far a discriminator is from knowing nothing; 0 at best.
//              Unlike −attacker it gives a map nothing for making it answer the wrong category
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "nn/adversarial_net.h"

namespace sotto {

template <typename Scalar>
struct UnitColumns {
  MatrixOf<Scalar> y;      // of length 1; zeros stay
  VectorOf<Scalar> norms;  // before
};
template <typename Scalar>
UnitColumns<Scalar> ToUnit(const MatrixOf<Scalar>& raw);
// From the derivative by y to that by the columns before they were brought to length 1.
template <typename Scalar>
MatrixOf<Scalar> BackThroughUnit(const UnitColumns<Scalar>& unit, const MatrixOf<Scalar>& slope);

// Columns of y have length 1; `speaker` from 0; `enrols`: 1 for those that make the prototypes.
// Voiceprints of speakers without a prototype do not count. `slope` becomes the derivative by y.
template <typename Scalar>
double SpeakerLoss(const MatrixOf<Scalar>& y, const std::vector<int>& speaker,
                   const std::vector<std::uint8_t>& enrols, Scalar scale, MatrixOf<Scalar>& slope);

// `weights` of the columns add up to 1. One logit for each category. `gradient` may be null.
template <typename Scalar>
double AttackerLoss(const Discriminator<Scalar>& net, const MatrixOf<Scalar>& input,
                    const std::vector<int>& truth, const VectorOf<Scalar>& weights,
                    Discriminator<Scalar>* gradient);
// `slope` becomes the derivative by the input.
template <typename Scalar>
double ConfusionLoss(const Discriminator<Scalar>& net, const MatrixOf<Scalar>& input,
                     const VectorOf<Scalar>& weights, MatrixOf<Scalar>& slope);

}  // namespace sotto
