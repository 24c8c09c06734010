// Fundamental frequency of speech, two ways.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

// Both ask a witness which octave is right: the cheapest path through the peaks of the normalised
// cross-correlation below 1 kHz (Talkin 1995). Without it hum under a high voice is taken for the
// voice (gross disagreement of the two methods on the evaluation speech 4.7 %, with it 3.5 %).
//
// kFast: DIO (Morise, Kawahara & Katayose 2009) refined by StoneMask. The fundamental is filtered
// out in half-octave bands, and four kinds of intervals (between zero crossings up and down, peaks
// and dips) must agree. Fails where the fundamental is weak or buried (noise, telephone band).
//
// kRobust: Harvest (Morise 2017). Many narrow bands and the witness propose candidates, the
// instantaneous frequencies of six harmonics judge them, and smooth stretches grow along them; so
// voices without a fundamental are found too. Voiced at the least sign of a voice, pauses with hum
// included, as Harvest is; the aperiodicity (aperiodicity.h) takes back what is noise. In white
// noise at 10 dB it errs on 0.4 times as many loud frames as kFast (vocoder_speech_test.cc), at
// some 25 times the cost.
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
