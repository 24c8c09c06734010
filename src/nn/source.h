// What the synthesiser filters (synth_net.h): a harmonic source that follows F0, and white noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace sotto {

inline constexpr double kSynthRateHz = 16000.0;
inline constexpr std::int64_t kSynthHop = 160;
// Harmonics above this are left out.
inline constexpr double kHighestHarmonicHz = 7900.0;
// F0 of a recording without any voice.
inline constexpr double kNeutralF0Hz = 150.0;

// How a net sees F0: (ln f0 − ln 150)/0.5.
float PitchFeature(double f0_hz);

// Unvoiced frames (0) get F0 from their voiced neighbours, linearly in its logarithm; the ends go
// on as they are. No voiced frame at all: kNeutralF0Hz.
std::vector<double> FillUnvoiced(std::span<const double> f0_hz);

// √(2/K)·Σ_{k ≤ K} cos(k·φ), K = ⌊7900/F0⌋, φ the running phase: power 1 whatever F0. By the closed
// form of Dirichlet's kernel.
double HarmonicSample(double phase, double f0_hz);

// One frame of F0 in, hop samples out, half a frame late: ln F0 is linear between the centres of
// frames. Samples of a recording do not depend on how it is cut into calls.
class SourceMaker {
 public:
  explicit SourceMaker(std::uint64_t noise_seed, double phase = 0.0)
      : random_(noise_seed), phase_(phase) {}

  // F0 of the next frame, above 0. Appends the samples that are ready.
  void Push(double f0_hz, std::vector<float>& harmonic, std::vector<float>& noise);
  // The last half frame; hop samples per frame are out then.
  void Finish(std::vector<float>& harmonic, std::vector<float>& noise);

 private:
  void Emit(double from_hz, double to_hz, std::int64_t count, std::int64_t of,
            std::vector<float>& harmonic, std::vector<float>& noise);

  SeededRng random_;
  double phase_;
  double last_hz_ = 0.0;  // 0: nothing has come yet
};

}  // namespace sotto
