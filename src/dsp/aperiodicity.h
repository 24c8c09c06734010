// Band aperiodicity by D4C (Morise, "D4C, a band-aperiodicity estimator for high-quality speech
// synthesis", Speech Communication 84, 2016). The group delay of two windows half a period apart is
// made independent of the pulses' position; for a periodic signal it is a sinusoid along frequency
// with period F0, and the power outside that one line, in bands of 6 kHz every 3 kHz, is the
// aperiodic part. Frames whose energy lies mainly above 4 kHz are taken as unvoiced.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dsp/adaptive_frame.h"
#include "dsp/fft.h"

namespace sotto {

class AperiodicityAnalyser {
 public:
  // `fft_size` is that of the envelope, on whose bins the result is given.
  AperiodicityAnalyser(int rate_hz, std::size_t fft_size, double f0_floor_hz);

  // Amplitude of the aperiodic part over that of the whole, 0–1, around sample `centre`; 1 where
  // unvoiced. Between bands linear in dB, from −60 dB at 0 to 0 dB at the Nyquist frequency.
  void Analyse(std::span<const float> x, std::ptrdiff_t centre, double f0_hz,
               std::span<float> aperiodicity);

 private:
  // Adds the power-weighted time centroid of four periods around `centre` to `sum`.
  void AddCentroid(std::span<const float> x, std::ptrdiff_t centre, double f0_hz);
  double BandDb(std::size_t band);

  int rate_hz_;
  std::size_t out_bins_;
  RealFft fft_;
  AdaptiveFrame blackman_, hann_;
  SpectrumSmoother smoother_;
  std::size_t bands_, band_half_, main_lobe_;
  std::vector<float> samples_, re_, im_, re2_, im2_, centroid_, power_, scratch_, nuttall_;
  std::vector<double> coarse_db_;
};

}  // namespace sotto
