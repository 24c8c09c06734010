// How something was said, before and after: melody, voicing, loudness over time, pauses, tempo.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "utility/speech_detector.h"

namespace sotto {

// One recording, at 16 kHz, every 10 ms.
struct Prosody {
  static constexpr int kRateHz = 16000;
  std::vector<double> f0;         // Hz, 0: unvoiced (dsp/f0.h, the fast method)
  std::vector<double> energy_db;  // of 25 ms, not below 60 dB under the loudest
  double seconds = 0.0;
  double level_db = 0.0;              // active speech level, ITU-T P.56; −inf: silence
  double speaking_rate = 0.0;         // syllables a second
  std::optional<double> pause_ratio;  // none: no speech was found, or no detector given
};

// Syllables are counted as de Jong & Wempe (2009) do: peaks of the energy, voiced, at most 25 dB
// under the loudest (99 % quantile) and with a dip of at least 2 dB to the peak before.
Prosody MeasureProsody(std::span<const float> x, const SpeechDetector* detector);
double SyllablesPerSecond(std::span<const double> energy_db, std::span<const double> f0);

// NaN: there was nothing to compare.
struct ProsodyComparison {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  // Pearson's correlation of F0 in Hz over frames voiced in both, as the VoicePrivacy Challenge
  // takes it (2022), and the largest over shifts of up to 50 ms: a vocoder's delay is no damage.
  // At least 0.2 s of voice in common.
  double pitch_correlation = kNone, pitch_correlation_lagged = kNone;
  double voicing_agreement = kNone;   // share of frames with the same decision
  double energy_correlation = kNone;  // Pearson's, of the energy in dB
  double level_change_db = kNone;
  double duration_ratio = kNone;  // protected to original
};

// Frames beyond the shorter recording are left out.
ProsodyComparison CompareProsody(const Prosody& original, const Prosody& released);

// NaN when either side is constant or there are fewer than two pairs.
double PearsonCorrelation(std::span<const double> a, std::span<const double> b);

}  // namespace sotto
