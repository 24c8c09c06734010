// Apart from random.cc, so that programs that protect nobody need no libsodium.
#include <cmath>
#include <numbers>

#include "base/random.h"

namespace sotto {

SeededRng::result_type SeededRng::operator()() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double SeededRng::Uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

double SeededRng::Gaussian() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

std::uint64_t SeededRng::Below(std::uint64_t n) {
  // Rejection removes the modulo bias: the values below 2^64 mod n are drawn again.
  const std::uint64_t limit = (0 - n) % n;
  while (true) {
    const std::uint64_t draw = (*this)();
    if (draw >= limit) return draw % n;
  }
}

}  // namespace sotto
