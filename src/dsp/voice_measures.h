// What a listener notices first, as numbers: pitch and formants of a recording. Simple estimators
// for before/after comparisons, not a phonetician's instrument.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace sotto {

// F0 in Hz every 10 ms by the fast method of f0.h (60–400 Hz); 0: unvoiced.
std::vector<double> TrackF0(std::span<const float> x, int rate_hz);

struct VoiceMeasures {
  std::optional<double> median_f0_hz;               // over voiced frames
  std::array<std::optional<double>, 3> formant_hz;  // medians of F1, F2, F3 over voiced frames
};

// Formants are the resonances (90–5000 Hz, bandwidth below 600 Hz) of order-12 linear prediction of
// the signal at 10 kHz with pre-emphasis (the usual setting for adult speech). `voiced_like`: where
// to measure; pass the F0 track of the original to measure a protected copy at the same places.
VoiceMeasures MeasureVoice(std::span<const float> x, int rate_hz,
                           std::span<const double> voiced_like = {});

}  // namespace sotto
