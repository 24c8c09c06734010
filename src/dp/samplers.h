// Exact samplers on the integers (Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for
// Differential Privacy", algorithms 1–3): no floating-point number is drawn, so the probabilities
// are those of the formula and not of its rounding.
#pragma once

#include <cstdint>

#include "dp/bits.h"

namespace sotto {

// True with probability exp(−n/d), exactly; d ≥ 1 and below 2^96.
bool BernoulliExpMinus(Uint128 n, Uint128 d, BitSource& bits);

// Pr(z) ∝ exp(−|z|/scale), scale a whole number from 1 to 2^48. Not by algorithm 2, which takes ten
// random words a draw, but by one of the same law that takes one (discrete_laplace.cc proves it).
Int128 DiscreteLaplace(std::uint64_t scale, BitSource& bits);

// Pr(z) ∝ exp(−z²/(2·sigma²)), sigma a whole number from 1 to 2^46.
Int128 DiscreteGaussian(std::uint64_t sigma, BitSource& bits);

// Noise lives on multiples of 2^exponent, fine enough that the scale of the noise is between 2^40
// and 2^41 of them: what the rounding adds to the sensitivity is then a 2^−40 part of the noise.
struct NoiseGrid {
  int exponent = 0;

  static NoiseGrid ForScale(double scale);

  // The nearest multiple, counted in grid units. Throws Error for values that are not finite or
  // above 2^80 times the scale of the noise.
  Int128 Round(double value) const;
  // Back to a double; rounding here is post-processing, the input is not seen any more.
  double Value(Int128 units) const;
  // An upper bound of length / 2^exponent.
  double Units(double length) const;
};

}  // namespace sotto
