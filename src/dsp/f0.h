// Fundamental frequency of speech, two ways.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

// kFast: DIO (Morise, Kawahara & Katayose 2009) refined by StoneMask. The fundamental is filtered
// out in half-octave bands, and four kinds of intervals (between zero crossings up and down, peaks
// and dips) must agree. Fails where the fundamental is weak or buried (noise, telephone band).
//
// kRobust: Harvest (Morise 2017) with a second witness. Many narrow bands propose candidates, the
// instantaneous frequencies of six harmonics judge them, and smooth stretches grow along them. The
// witness is the cheapest path through peaks of the normalised cross-correlation below 1 kHz
// (Talkin 1995): it decides between octaves and sees voices without a fundamental. Voiced at the
// least sign of a voice, pauses with hum included, as Harvest is; the aperiodicity (aperiodicity.h)
// takes back what is noise. On read speech with white noise at 10 dB it errs on 2.5 % of loud
// frames, kFast on 7.4 % (vocoder_speech_test.cc), at some 45 times the cost.
enum class F0Method { kFast, kRobust };

struct F0Options {
  F0Method method = F0Method::kFast;
  double floor_hz = 71.0;
  double ceil_hz = 800.0;
  double frame_period_s = 0.005;
};

// F0 in Hz at t·frame_period_s, t = 0 … floor(samples/(rate·period)); 0: unvoiced.
std::vector<double> EstimateF0(std::span<const float> x, int rate_hz,
                               const F0Options& options = {});

// The same for a piece of a longer signal: frames first_frame … first_frame + frames − 1 of the
// signal whose sample `origin` is x[0]. `origin` must be a multiple of F0Decimation(rate_hz).
std::vector<double> EstimateF0(std::span<const float> x, int rate_hz, const F0Options& options,
                               std::size_t origin, std::size_t first_frame, std::size_t frames);

// F0 is looked for in the signal at about 4 kHz: every F0Decimation-th sample.
std::size_t F0Decimation(int rate_hz);

}  // namespace sotto
