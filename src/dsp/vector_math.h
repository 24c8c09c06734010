// Elementwise functions over arrays, vectorised with Highway. Relative error below 1e-6.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

// y = ln(max(x, floor)).
void LogInto(std::span<const float> x, float floor, std::span<float> y);
// y = exp(x); x from −80 to 80.
void ExpInto(std::span<const float> x, std::span<float> y);
// re + i·im = exp(log_magnitude + i·phase); phases up to a few hundred radians.
void ExpPolarInto(std::span<const float> log_magnitude, std::span<const float> phase,
                  std::span<float> re, std::span<float> im);
// Σ a·b.
float Dot(std::span<const float> a, std::span<const float> b);
// y[i] = Σ_k taps[k]·x[i + k] for every i; x has y.size() + taps.size() − 1 values.
void Correlate(std::span<const float> x, std::span<const float> taps, std::span<float> y);

// Bit i (of word i/64) tells whether x[i] > 0.
void PositiveBits(std::span<const float> x, std::vector<std::uint64_t>& bits);

// Σ a·c, Σ a·s, Σ b·c and Σ b·s. Sizes are multiples of 16.
struct FourSums {
  float ac, as, bc, bs;
};
FourSums SumProducts(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                     std::span<const float> s);
// c + i·s times step_c + i·step_s, in place. Sizes are multiples of 16.
void Rotate(std::span<const float> step_c, std::span<const float> step_s, std::span<float> c,
            std::span<float> s);

}  // namespace sotto
