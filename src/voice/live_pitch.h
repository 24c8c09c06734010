// F0 for the neural method as speech comes: the tracker of dsp/f0.h on a window that slides along,
// what CleanF0 (neural_pitch.h) does to a whole contour, and the source's pitch level as far as it
// is known.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "voice/neural_pitch.h"

namespace sotto {

// F0 in Hz at samples 160·t + 80 (0: unvoiced); x at 16 kHz.
class LiveF0 {
 public:
  // With 50 ms ahead 99.6 % of the frames of read speech are voiced or unvoiced as for the whole
  // recording, and where both are voiced 0.004 % lie a fifth apart (on 60 recordings; on 35 s of
  // them 96.7 % with 30 ms, 99.4 % with 50, 99.7 % with 60). What lies longer back than 0.2 s
  // changes nothing. The window costs 0.02 of real time.
  static constexpr std::size_t kAheadSamples = 800, kBackSamples = 3200;

  // The frames that are ready: 2k and 2k + 1 once kAheadSamples after the later have come.
  std::vector<double> Push(std::span<const float> x);
  // The rest: ⌈samples/160⌉ frames have come then.
  std::vector<double> Finish();

 private:
  void Track(std::size_t end, std::vector<double>& out);

  std::vector<float> held_;
  std::size_t held_from_ = 0, taken_ = 0;  // samples
  std::size_t next_ = 0;                   // frame
};

struct PitchFrame {
  double f0_hz = 0.0;  // above 0
  bool voiced = false;
};

// CleanF0's counterpart, kAhead frames late: voiced stretches shorter than 30 ms become unvoiced,
// gaps up to 30 ms inside a voice voiced; frames more than 0.7 octaves from the median of the half
// second before them (and of what is seen ahead) do not count. Where there is no F0 the last goes
// on, and glides towards the next as soon as that is seen.
class LiveCleanF0 {
 public:
  static constexpr std::size_t kAhead = 3;

  LiveCleanF0();
  // F0 of the next frame, 0: unvoiced. Appends the frame that is ready, if one is.
  void Push(double f0_hz, std::vector<PitchFrame>& out);
  void Finish(std::vector<PitchFrame>& out);

 private:
  PitchFrame Decide() const;
  bool IsVoice(std::size_t i) const;
  bool IsFar(std::size_t i) const;
  void Emit(std::vector<PitchFrame>& out);

  std::deque<double> held_;  // frames at_ − kBack … at_ + kAhead
  std::size_t at_ = 0;       // in held_: the frame that comes out next
  double last_hz_;
  std::size_t since_voice_;  // frames since the last voiced one
};

// Mean and deviation of ln F0 over the voiced frames so far. The public prior (ln 150 Hz, 0.25)
// counts as 10 frames for the mean, which a fifth of a second of voice tells more about, and as 50
// for the deviation, so that both go over smoothly. The last half minute of voice counts most.
class LivePitchLevel {
 public:
  void Add(double f0_hz);
  PitchLevel Model() const;

 private:
  double count_ = 0.0, sum_ = 0.0, square_ = 0.0;
};

// Pauses of at least half a second: no voice, and 10 dB below the speech before it.
class PauseFinder {
 public:
  static constexpr std::size_t kFrames = 50;

  // The next frame of 10 ms; true once in a pause, when it is long enough.
  bool Push(double energy, bool voiced);

 private:
  double speech_energy_ = 0.0;  // of a voiced frame; falls by half in 7 s
  std::size_t quiet_ = 0;
  bool spoken_ = false;  // since the last pause
};

}  // namespace sotto
