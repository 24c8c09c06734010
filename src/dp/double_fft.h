// A plain complex Fourier transform in double precision, for the accountant: the room's tails are
// far below what single precision keeps.
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace sotto {

// Forward transform Σ x_n exp(−2πi·kn/N) in place; the size must be a power of two. The twiddle
// factors are computed one by one (no recurrences), so that the error grows with log N only.
class DoubleFft {
 public:
  explicit DoubleFft(std::size_t size);
  void Forward(std::span<std::complex<double>> x) const;
  // Without the factor 1/N.
  void Inverse(std::span<std::complex<double>> x) const;

 private:
  void Transform(std::span<std::complex<double>> x, bool inverse) const;
  std::size_t size_;
  // Those of the stage that joins halves of length h lie at h … 2h − 1, in the order of their use.
  std::vector<std::complex<double>> twiddles_;
};

}  // namespace sotto
