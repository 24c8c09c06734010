// What the methods that speak by nets are told: neural (content encoder and synthesiser) and adain
// (one net).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace sotto {

class VoiceOptions;

// Where the target comes from: a voice drawn from a distribution, one of a pool whatever the
// source, or one of a pool by the source's embedding (targets/voice_ind_targets.h).
enum class NeuralTarget { kGenerated, kPool, kVoiceInd };
// "generated", "pool", "voice-ind"; Error for anything else.
NeuralTarget ParseNeuralTarget(std::string_view name);
const char* Name(NeuralTarget target);

enum class NeuralKind { kSynth, kAdain };

struct NeuralOptions {
  std::filesystem::path folder;       // of the nets; empty: those in the program
  std::filesystem::path target_pool;  // empty: the voices beside the nets
  NeuralTarget target = NeuralTarget::kGenerated;
  std::optional<double> eps;     // of kVoiceInd, which has no default
  bool teacher = false;          // content by Moonshine instead of the student
  std::filesystem::path models;  // where Moonshine lies; empty: the usual folders
  bool trust_models = false;     // taken as they are (onnx/models.h)
  double bend_semitones = 0.0;   // of the contour
  bool streaming = false;        // as speech comes, by nets of their own (voice/live_voice.h)
  // kVoiceInd with streaming and strategy random: draws for an utterance at most, after which its
  // last target is held. Not given: another after every pause (releases of earlier versions).
  std::optional<std::size_t> max_draws;
};

// From the parameters of methods neural and adain.
NeuralOptions ReadNeuralOptions(const VoiceOptions& options);

}  // namespace sotto
