// The nets of the neural method: those in the program (docs/models.md), or those of a folder as
// the training leaves them (docs/neural_training.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "targets/pseudo_speakers.h"
#include "voice/neural_options.h"
#include "voice/neural_voice.h"

namespace sotto {

struct NeuralNets {
  std::shared_ptr<const NeuralModels> models;
  SpeakerPool pool;
};

// The nets that `options` name, and their pool. Throws Error that names the file which is missing
// or damaged.
NeuralNets OpenNeuralNets(const NeuralOptions& options);

// The pool that `o` names, or that `beside` its nets, or the program's own. Throws Error that names
// the file, or a voice whose embedding is of another size than the nets take.
SpeakerPool OpenVoices(const NeuralOptions& o, const char* beside, std::string_view own,
                       std::int64_t embedding);

// Of the content encoder's and the synthesiser's bytes, in 16 hexadecimal digits.
std::string NetsFingerprint(const NeuralOptions& options);

}  // namespace sotto
