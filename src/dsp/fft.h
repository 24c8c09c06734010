// A real FFT in single precision for the vocoder, which spends most of its time in it: Stockham's
// self-sorting form with radix 4 (Stockham 1966; Cochran et al. 1967), split real and imaginary
// arrays, vectorised with Highway. One plan serves one thread: it owns its scratch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

class RealFft {
 public:
  // A power of two from 64 to 2²⁴; throws Error for other sizes.
  explicit RealFft(std::size_t size);

  std::size_t Size() const { return size_; }
  std::size_t Bins() const { return size_ / 2 + 1; }

  // X[k] = Σ x[n]·exp(−2πi·kn/N) for k = 0 … N/2. x has Size() samples, re and im Bins() values.
  void Forward(std::span<const float> x, std::span<float> re, std::span<float> im);

  // The inverse with the factor 1/N: Inverse(Forward(x)) is x. Imaginary parts at 0 and N/2 are
  // taken as zero.
  void Inverse(std::span<const float> re, std::span<const float> im, std::span<float> x);

  // C[k] = Σ_n s[|n|]·cos(2πkn/N) for the even sequence of period N that s[0 … N/2] stands for:
  // spectrum to cepstrum and (after 1/N) back. In place.
  void Even(std::span<float> s);

 private:
  std::size_t size_;
  std::vector<float> twiddles_;           // per radix-4 stage: re and im of w, w², w³
  std::vector<float> half_re_, half_im_;  // exp(−2πik/N), k = 0 … N/2
  std::vector<float> a_re_, a_im_, b_re_, b_im_, even_, unused_;
};

}  // namespace sotto
