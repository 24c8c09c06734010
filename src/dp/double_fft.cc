#include "dp/double_fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"

namespace sotto {

DoubleFft::DoubleFft(std::size_t size) : size_(size), twiddles_(std::max<std::size_t>(size, 2)) {
  if (!std::has_single_bit(size)) throw Error("FFT size must be a power of two");
  for (std::size_t half = 1; half < size; half *= 2) {
    for (std::size_t k = 0; k < half; ++k) {
      const double angle = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half);
      twiddles_[half + k] = {std::cos(angle), std::sin(angle)};
    }
  }
}

void DoubleFft::Forward(std::span<std::complex<double>> x) const { Transform(x, false); }
void DoubleFft::Inverse(std::span<std::complex<double>> x) const { Transform(x, true); }

void DoubleFft::Transform(std::span<std::complex<double>> x, bool inverse) const {
  for (std::size_t i = 1, j = 0; i < size_; ++i) {
    std::size_t bit = size_ >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  const double sign = inverse ? -1.0 : 1.0;
  for (std::size_t half = 1; half < size_; half *= 2) {
    const std::complex<double>* const twiddle = &twiddles_[half];
    for (std::size_t start = 0; start < size_; start += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const double wr = twiddle[k].real();
        const double wi = sign * twiddle[k].imag();
        const std::complex<double> a = x[start + k];
        const std::complex<double> b = x[start + k + half];
        const double br = b.real() * wr - b.imag() * wi;
        const double bi = b.real() * wi + b.imag() * wr;
        x[start + k] = {a.real() + br, a.imag() + bi};
        x[start + k + half] = {a.real() - br, a.imag() - bi};
      }
    }
  }
}

}  // namespace sotto
