// Sampling-rate conversion with a short filter of known length, for streams: libsoxr's converters
// work in blocks of a transform and hold back tens of milliseconds, this one 20 samples of the
// lower rate (1.25 ms at 16 kHz).
//
// Interpolation by a sinc under a Kaiser window (Smith & Gossett 1984, "A flexible sampling-rate
// conversion method"; Kaiser 1974: β = 0.1102·(A − 8.7) for A = 80 dB, a transition of
// (A − 8)/(2.285·40) radians of the lower rate): 85 % of the lower rate's band are kept, what lies
// up to a tenth above the band folds into its upper tenth, anything beyond is 80 dB down.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

class SincResampler {
 public:
  // Throws Error unless both rates are positive.
  SincResampler(double from_hz, double to_hz);

  // Output sample n is the input at n·from/to. It appears once so many input samples behind that
  // place are there.
  std::size_t Reach() const { return reach_; }

  // Appends what is ready to `out`.
  void Push(std::span<const float> in, std::vector<float>& out);
  // Appends the rest, with silence behind the end: ⌈samples·to/from⌉ in all. No Push may follow.
  void Finish(std::vector<float>& out);

 private:
  float Weigh(const float* x, std::size_t count, double at, double step) const;
  void Emit(std::size_t end, bool last, std::vector<float>& out);

  double step_ = 1.0;     // input samples for each output sample
  double stretch_ = 1.0;  // input samples of one sample of the lower rate, at least 1
  std::size_t reach_ = 0;
  std::vector<float> table_;   // the kernel's right half, zeros behind it
  std::vector<float> window_;  // input from first_ on
  std::size_t first_ = 0, taken_ = 0, made_ = 0;
};

}  // namespace sotto
