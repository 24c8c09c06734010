#include "dp/samplers.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace sotto {
namespace {

// exp(−n/d) for n ≤ d: count how long coins of n/(d·1), n/(d·2), … fall heads; von Neumann's
// series makes the parity of that count the right coin.
bool BernoulliExpMinusUnit(Uint128 n, Uint128 d, BitSource& bits) {
  std::uint64_t k = 1;
  while (bits.Below128(d * k) < n) ++k;
  return k % 2 == 1;
}

// 2^exponent for the exponents of NoiseGrid, where a product with it is what ldexp gives.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace

bool BernoulliExpMinus(Uint128 n, Uint128 d, BitSource& bits) {
  while (n > d) {
    if (!BernoulliExpMinusUnit(1, 1, bits)) return false;
    n -= d;
  }
  return BernoulliExpMinusUnit(n, d, bits);
}

Int128 DiscreteGaussian(std::uint64_t sigma, BitSource& bits) {
  // Algorithm 3 takes a Laplace draw of any scale t and keeps it with probability
  // exp(−(|y| − σ²/t)²/(2σ²)); with t = σ every number stays whole and below 2^128.
  const Uint128 d = 2 * static_cast<Uint128>(sigma) * sigma;
  while (true) {
    const Int128 y = DiscreteLaplace(sigma, bits);
    const Int128 excess = (y < 0 ? -y : y) - static_cast<Int128>(sigma);
    const auto distance = static_cast<Uint128>(excess < 0 ? -excess : excess);
    if (distance >> 63 != 0) continue;  // beyond 2^17 sigmas: probability below exp(−2^16)
    if (BernoulliExpMinus(distance * distance, d, bits)) return y;
  }
}

NoiseGrid NoiseGrid::ForScale(double scale) {
  if (!(scale >= 1e-250 && scale <= 1e250)) {
    throw Error(fmt::format("noise scale {}: must lie between 1e-250 and 1e250", scale));
  }
  return {std::ilogb(scale) - 40};
}

Int128 NoiseGrid::Round(double value) const {
  const double units = value * PowerOfTwo(-exponent);
  // What nearly all values are; the long type costs several times as much.
  if (std::abs(units) < 0x1p62) return std::llrint(units);
  if (!(std::abs(units) < 0x1p120)) {
    throw Error(fmt::format("value {}: not finite, or too large for the noise to cover", value));
  }
  return static_cast<Int128>(std::nearbyint(units));
}

double NoiseGrid::Value(Int128 units) const {
  const auto low = static_cast<std::int64_t>(units);
  const double rounded = low == units ? static_cast<double>(low) : static_cast<double>(units);
  return rounded * PowerOfTwo(exponent);
}

double NoiseGrid::Units(double length) const {
  return std::nextafter(std::ldexp(length, -exponent), std::numeric_limits<double>::infinity());
}

}  // namespace sotto
