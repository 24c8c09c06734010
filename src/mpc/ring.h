// Arithmetic in Z_2^64 on vectors and matrices: unsigned words, products and sums modulo 2^64. SIMD
// by Highway, the target chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpc/secret.h"

namespace sotto {

// y += x, y −= x. Same sizes.
void AddTo(std::span<std::uint64_t> y, std::span<const std::uint64_t> x);
void SubtractFrom(std::span<std::uint64_t> y, std::span<const std::uint64_t> x);

// A matrix of secrets or masks, row by row.
struct RingMatrix {
  std::size_t rows = 0, columns = 0;
  RingVector values;
};

// A public matrix of 16-bit weights.
struct PublicMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<std::int16_t> values;
};

// out[u·rows + i] = Σ_j w[i][j]·x[u·columns + j] for the `batch` vectors that x holds one after the
// other. Many at once are faster: a weight read from memory serves them all.
void Multiply(const RingMatrix& w, std::span<const std::uint64_t> x, std::size_t batch,
              std::span<std::uint64_t> out);
void Multiply(const PublicMatrix& w, std::span<const std::uint64_t> x, std::size_t batch,
              std::span<std::uint64_t> out);

}  // namespace sotto
