// The nets of the methods that speak by nets, neural (content encoder and synthesiser) and adain
// (one net), and their voices: those in the program (docs/models.md), or those of a folder as the
// training leaves them (docs/neural_training.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "targets/pseudo_speakers.h"
#include "voice/neural_voice.h"

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
