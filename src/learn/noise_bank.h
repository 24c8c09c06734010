// Noises of a corpus for augment.h.
#pragma once

#include "audio/speech_pack.h"
#include "learn/augment.h"

namespace sotto {

// The quietest half second of every fourth utterance.
NoiseBank QuietStretches(const SpeechPack& pack, torch::Device device);

}  // namespace sotto
