// The net of PRIVASP in integers: inputs → units (ReLU) → one score. Fixed point without
// truncation: inputs and weights carry 13 fraction bits, the first layer's sums 26, the score 39,
// so that secret shares in Z_2^64 give exactly the score computed here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

struct IntegerNet {
  static constexpr int kFractionBits = 13;  // of inputs and weights
  static constexpr int kLayerBits = 35;     // every |W·x + b1| lies below 2^35 (2^9 at 2^26)
  static constexpr int kScoreBits = 56;     // every |score| + |threshold| lies below 2^56

  std::uint32_t inputs = 0;
  std::uint32_t units = 0;
  std::vector<std::int32_t> w1;  // units × inputs, row-major, 2^13; |w| < 4
  std::vector<std::int64_t> b1;  // 2^26
  std::vector<std::int32_t> w2;  // 2^13
  std::int64_t b_out = 0;        // 2^39
  std::int32_t x_max = 0;        // 2^13: inputs are clipped to ±x_max
  std::int64_t threshold = 0;    // 2^39: accepted when score ≥ threshold
  bool decision_only = false;    // the provider's policy: a client learns no score
};

// The score at 2^39 of a net that CheckRanges accepts. `x` is clipped to ±x_max; Error when it has
// not `inputs` values.
std::int64_t Evaluate(const IntegerNet& net, std::span<const std::int32_t> x);

// Throws Error that names the field, unless the sizes agree and the bounds above hold for every
// input the clipping admits.
void CheckRanges(const IntegerNet& net);

}  // namespace sotto
