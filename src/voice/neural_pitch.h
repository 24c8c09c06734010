// F0 for the neural method: tracked contours made fit for synthesis, moved to a target's level and
// range (PitchToTarget in targets/pitch.h), and optionally bent, since melody identifies too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "targets/pitch.h"
#include "targets/targets.h"

namespace sotto {

struct VoicedF0 {
  std::vector<double> f0_hz;  // above 0 in every frame
  std::vector<bool> voiced;
};

// Of F0 every 10 ms (0: unvoiced). Voiced stretches shorter than 30 ms are tracking errors and
// become unvoiced; gaps up to 30 ms inside a voice, and frames that fall more than 0.7 octaves
// below or rise as far above the median of the second around them (creak, octave errors), get F0
// from their neighbours and stay or become voiced; F0 goes on through longer unvoiced stretches
// (FillUnvoiced in nn/source.h) for the source that runs there.
VoicedF0 CleanF0(std::span<const float> f0_hz);

// Mean and deviation of ln F0 over voiced frames.
// With fewer than 50 voiced frames the public mean (ln 150 Hz) and deviation (0.25) count as 50
// frames more: a prior, so that a word alone does not decide.
PitchLevel PitchStatistics(const VoicedF0& f0);

// A slow random bend of the contour: three sines of 0.15 to 0.6 Hz with keyed frequencies, phases
// and weights, together at most `depth_semitones` up or down.
class ContourBend {
 public:
  ContourBend(const TargetDraws& draws, double depth_semitones, const std::string& speaker,
              const std::string& utterance);
  // The factor for F0 at this time.
  double Factor(double seconds) const;

 private:
  struct Sine {
    double hz = 0.0, phase = 0.0, nepers = 0.0;
  };
  std::vector<Sine> sines_;
};

}  // namespace sotto
