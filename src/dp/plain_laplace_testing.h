// For tests and benchmarks only: discrete Laplace noise by algorithm 2 of Canonne, Kamath & Steinke
// 2020 as it is printed, a coin at a time. The oracle of DiscreteLaplace, and its measure.
#pragma once

#include "dp/samplers.h"

namespace sotto::testing {

inline Int128 PlainDiscreteLaplace(std::uint64_t scale, BitSource& bits) {
  while (true) {
    const std::uint64_t u = bits.Below(scale);
    if (!BernoulliExpMinus(u, scale, bits)) continue;
    Int128 v = 0;
    while (BernoulliExpMinus(1, 1, bits)) ++v;
    const Int128 magnitude = static_cast<Int128>(u) + static_cast<Int128>(scale) * v;
    const bool negative = (bits.Next64() & 1) != 0;
    if (negative && magnitude == 0) continue;  // zero must not count twice
    return negative ? -magnitude : magnitude;
  }
}

}  // namespace sotto::testing
