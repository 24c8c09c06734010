// The spectral envelope by CheapTrick (Morise, "CheapTrick, a spectral envelope estimator for
// high-quality speech synthesis", Speech Communication 67, 2015): power spectrum of a Hann window
// of three periods, whose power does not depend on where the pulses lie in it; smoothing over 2/3
// of F0; and in the cepstrum a lifter that removes what is left of the harmonics and undoes the
// blur.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dsp/adaptive_frame.h"
#include "dsp/fft.h"

namespace sotto {

class EnvelopeAnalyser {
 public:
  // q1 is the lifter's second coefficient; the first is 1 − 2·q1.
  EnvelopeAnalyser(int rate_hz, std::size_t fft_size, double q1);

  // Power per sample (white noise of variance v has envelope v) around sample `centre` into Bins()
  // values. Unvoiced frames (f0 = 0, or a period that does not fit) use a window of 6 ms.
  void Analyse(std::span<const float> x, std::ptrdiff_t centre, double f0_hz,
               std::span<float> envelope);

  static constexpr double kUnvoicedHz = 500.0;

 private:
  int rate_hz_;
  double q1_, lowest_hz_;
  RealFft fft_;
  AdaptiveFrame frame_;
  SpectrumSmoother smoother_;
  std::vector<float> samples_, re_, im_, scratch_, lifter_;
  double lifter_hz_ = 0.0;
};

}  // namespace sotto
