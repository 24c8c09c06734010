// Mel-cepstra of vocoder envelopes and the distance between them.
#pragma once

#include <cstddef>
#include <vector>

#include "dsp/vocoder.h"

namespace sotto {

// The bilinear warp α that resembles the mel scale at a rate: 0.42 at 16 kHz, 0.55 at 48 kHz.
double MelAlpha(int rate_hz);

// c_0 … c_order a frame, with ln|H(ω)| = Σ c_m·cos(m·ω̃) and ω̃ the frequency warped by α (Tokuda et
// al. 1994), from the envelope by cosine series on the warped axis.
std::vector<double> MelCepstra(const VocoderFrames& frames, std::size_t order, double alpha);

struct MelCepstralDistortion {
  double mean_db = 0.0;         // over all frames
  double mean_voiced_db = 0.0;  // over frames voiced in the first
};

// 10/ln 10·√(2·Σ_{m=1}^{24} (c_m − c'_m)²) (Kubichek 1993), frame by frame without time alignment.
// Throws Error unless both have the same rate, period and number of frames.
MelCepstralDistortion CompareEnvelopes(const VocoderFrames& a, const VocoderFrames& b);

}  // namespace sotto
