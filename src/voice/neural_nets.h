// The nets of the neural method: those in the program (docs/models.md), or those of a folder as
// the training leaves them (docs/neural_training.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "targets/pseudo_speakers.h"
#include "voice/neural_options.h"
#include "voice/neural_voice.h"

namespace sotto {

struct NeuralNets {
  std::shared_ptr<const NeuralModels> models;
  SpeakerPool pool;
};

// The nets that `options` name, and the pool: a given one, or that beside the nets. Throws Error
// that names the file which is missing or damaged, or when the pool's embeddings are of another
// size than the synthesiser takes.
NeuralNets OpenNeuralNets(const NeuralOptions& options);

// Of the content encoder's and the synthesiser's bytes, in 16 hexadecimal digits.
std::string NetsFingerprint(const NeuralOptions& options);

}  // namespace sotto
