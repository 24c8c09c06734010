// The net of method adain and its voices: those in the program (docs/models.md), or those of a
// folder as the training leaves them (docs/neural_training.md): adain.safetensors and
// adain_voices.safetensors.
#pragma once

#include <memory>
#include <string>

#include "targets/pseudo_speakers.h"
#include "voice/neural_options.h"
#include "voice/neural_voice.h"

namespace sotto {

inline constexpr const char* kAdainFile = "adain.safetensors";
inline constexpr const char* kAdainVoicesFile = "adain_voices.safetensors";

struct AdainNets {
  std::shared_ptr<const AdainModels> models;
  SpeakerPool pool;
};

// The net that `options` name, and the pool: a given one, or that beside the net. Throws Error that
// names the file which is missing or damaged, or when the pool's vectors are of another size.
AdainNets OpenAdainNets(const NeuralOptions& options);

// Of the bytes of the net, in 16 hexadecimal digits.
std::string AdainFingerprint(const NeuralOptions& options);

}  // namespace sotto
