// The McAdams transformer: McAdams (1984); Patino, Tomashenko, Todisco, Nautsch & Evans, "Speaker
// anonymisation using the McAdams coefficient" (2020); baseline B2 of the VoicePrivacy Challenge.
//
// A frame x (20 ms, square root of a Hann window, hop 10 ms) is split by linear prediction into a
// residual e = A(z)x and the all-pole filter 1/A(z). Every pole pair r·e^{±jφ} keeps its radius and
// moves to the angle
//
//     φ' = c·(φ/c)^α,   c = 16000/fs,
//
// which is φ^α radians at 16 kHz; c keeps the pivot, the frequency that does not move, at
// 16000/(2π) = 2546 Hz at every rate. Real poles stay. The residual excites the moved filter, the
// frame gets its energy back, and the frames overlap-add. α = 1 is the identity; α < 1 draws
// formants towards the pivot from both sides.
//
// Limits. A fixed, known α can be inverted (docs/threat_model.md). Pitch, rhythm and words are left
// as they are. Radii are below 1 because linear prediction by autocorrelation is; moving angles
// keeps them so.
#pragma once

#include <memory>

#include "voice/transformer.h"

namespace sotto {

struct McAdamsOptions {
  double alpha = 0.8;
  // Output peaks are held at or below this by a smooth gain; infinity for float files.
  double peak_limit = 1.0;
  // The companion-matrix eigenvalues instead of the fast root tracker: the oracle of the tests.
  bool use_companion_roots = false;

  static constexpr double kMinAlpha = 0.1;
  static constexpr double kMaxAlpha = 2.0;
  // Throws Error unless kMinAlpha ≤ alpha ≤ kMaxAlpha and the limit is positive.
  void Validate() const;
};

// LPC order round(20·fs/16000), at most 60.
int McAdamsOrder(int rate_hz);

// φ' for φ in (0, π), kept inside (0, π).
double McAdamsAngle(double angle, double alpha, int rate_hz);

// The transformer of one channel at `rate_hz` (8–192 kHz). Latency: two hops of frame and one of
// look-ahead for the peak limit, 30 ms together; above 48 kHz the signal is brought to 48 kHz and
// back, which adds the delay of the two rate converters (40 ms).
std::unique_ptr<StreamTransformer> MakeMcAdams(int rate_hz, const McAdamsOptions& options);

}  // namespace sotto
