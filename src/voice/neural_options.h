// What the methods that speak by nets are told: neural (content encoder and synthesiser) and adain
// (one net).
#pragma once

#include <filesystem>

namespace sotto {

class VoiceOptions;

enum class NeuralKind { kSynth, kAdain };

struct NeuralOptions {
  std::filesystem::path folder;       // of the nets; empty: those in the program
  std::filesystem::path target_pool;  // empty: the voices beside the nets
  bool teacher = false;               // content by Moonshine instead of the student
  std::filesystem::path models;       // where Moonshine lies; empty: the usual folders
  bool trust_models = false;          // taken as they are (onnx/models.h)
  double bend_semitones = 0.0;        // of the contour
  bool streaming = false;             // as speech comes, by nets of their own (voice/live_voice.h)
};

// From the parameters of methods neural and adain.
NeuralOptions ReadNeuralOptions(const VoiceOptions& options);

}  // namespace sotto
