// The neural method on speech as it comes (`sotto stream --method neural`): nets with a bounded
// look-ahead (nn/live_nets.h), F0 and the source's pitch level on the run (voice/live_pitch.h), the
// level by voice/level_control.h.
//
// Works at 16 kHz like neural_voice.h. Sample n comes out once sample n + L has been pushed,
//   L = 640 + 160·s + max(320·c + 440, 1680) − 1
// for a synthesiser that sees s frames of 10 ms ahead, windows of 640 samples apart, and an encoder
// that sees c frames of 20 ms: 640 for windows, level with peaks and frames that come in pairs, 440
// for the mel windows of a pair, 1680 for F0. What comes out depends on the samples and not on how
// they arrive.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "voice/neural_voice.h"

namespace sotto {

inline constexpr double kMostLiveLatencyS = 0.250;

// The voice after the pause of this number, from 1 on.
using VoiceAfterPause = std::function<SpeakerVoice(std::size_t)>;

// Any rate from 8 to 192 kHz: those above 16 kHz add 2.6 ms, those below it up to 5.2.
// `voice_after_pause` may be empty: one voice for all. Throws Error when the nets see so far ahead
// that the latency at this rate would exceed kMostLiveLatencyS, or a teacher is asked for.
std::unique_ptr<StreamTransformer> MakeLiveTransformer(
    int rate_hz, const std::shared_ptr<const NeuralModels>& models,
    const NeuralVoiceOptions& options, VoiceAfterPause voice_after_pause);

}  // namespace sotto
