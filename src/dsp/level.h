// Levels of speech.
#pragma once

#include <span>

namespace sotto {

struct SpeechLevel {
  double active_db = 0.0;  // level while speech is active, dB relative to full scale; −inf: silence
  double activity = 0.0;  // fraction of the time that is active
};

// The active speech level of ITU-T P.56 (method B): the envelope (two poles of 30 ms) is compared
// with thresholds 6 dB apart, 0.2 s of hangover bridge short pauses, and the level is where it lies
// 15.9 dB above the threshold that defines "active".
SpeechLevel ActiveSpeechLevel(std::span<const float> x, int rate_hz);

// 10·log10 of the mean square; −inf for silence.
double RmsDb(std::span<const float> x);

}  // namespace sotto
