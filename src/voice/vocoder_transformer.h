// A transformer that takes speech apart into F0, envelope and aperiodicity (dsp/vocoder.h), changes
// the frames and puts the sound together again.
#pragma once

#include <functional>
#include <memory>

#include "dsp/vocoder.h"
#include "targets/pitch.h"
#include "voice/transformer.h"

namespace sotto {

class FrameEditor {
 public:
  virtual ~FrameEditor() = default;
  // Changes the next frames of a recording in place.
  virtual void Edit(VocoderFrames& frames) = 0;
};

struct VocoderTransformOptions {
  F0Method f0_method = F0Method::kFast;
  // Frames are analysed in blocks of this length, with a second of context: the latency is one and
  // a bit more. Files take long blocks, which cost less; streams take short ones.
  double block_s = 10.0;
  // Output peaks are held at or below this; infinity for float files.
  double peak_limit = 1.0;
};

inline constexpr double kFileBlockS = 10.0;
inline constexpr double kStreamBlockS = 1.0;

// What makes the editor of one channel for a rate between 16 and 48 kHz.
using MakeFrameEditor = std::function<std::unique_ptr<FrameEditor>(int rate_hz)>;

// Any rate from 8 to 192 kHz: below 16 kHz and above 48 kHz the signal is brought to 16 or 48 kHz
// and back. As many samples come out as go in, with the loudness of the input
// (voice/level_control.h).
std::unique_ptr<StreamTransformer> MakeVocoderTransformer(int rate_hz,
                                                          const MakeFrameEditor& editor,
                                                          const VocoderTransformOptions& options);

// Changes the pitch and nothing else.
MakeFrameEditor PitchEditor(PitchMap pitch);

// One transformer after the other.
std::unique_ptr<StreamTransformer> MakeChain(std::unique_ptr<StreamTransformer> first,
                                             std::unique_ptr<StreamTransformer> second);

}  // namespace sotto
