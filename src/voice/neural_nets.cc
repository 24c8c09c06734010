#include "voice/neural_nets.h"

#include <fmt/format.h>

#include <string_view>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {

extern const std::string_view kNeuralContentBytes, kNeuralSynthBytes, kNeuralVoicesBytes;

namespace {

// Read once: methods are made anew for every attacker.
const std::shared_ptr<const NeuralModels>& ModelsInProgram() {
  static const auto models = std::make_shared<const NeuralModels>(
      ParseTensorFile(kNeuralContentBytes, "the program's content encoder"),
      ParseTensorFile(kNeuralSynthBytes, "the program's synthesiser"));
  return models;
}

}  // namespace

NeuralNets OpenNeuralNets(const NeuralOptions& o) {
  NeuralNets nets;
  if (o.folder.empty()) {
    nets.models = ModelsInProgram();
  } else {
    TensorFile content = ReadTensorFile(o.folder / "content.safetensors");
    nets.models = std::make_shared<const NeuralModels>(
        std::move(content), ReadTensorFile(o.folder / "synth.safetensors"));
  }
  const TensorFile voices = !o.target_pool.empty() ? ReadTensorFile(o.target_pool)
                            : o.folder.empty()
                                ? ParseTensorFile(kNeuralVoicesBytes, "the program's voices")
                                : ReadTensorFile(o.folder / "voices.safetensors");
  nets.pool = ReadSpeakerPool(voices);
  const auto size = static_cast<std::size_t>(nets.models->Synth().Options().embedding);
  for (const SpeakerVoice& voice : nets.pool.voices) {
    if (voice.embedding.size() != size) {
      throw Error(fmt::format("{}: voice '{}' has an embedding of {}, the synthesiser takes {}",
                              voices.where, voice.name, voice.embedding.size(), size));
    }
  }
  return nets;
}

std::string NetsFingerprint(const NeuralOptions& o) {
  static const std::string in_program =
      ContentDigest(std::string(kNeuralContentBytes) + std::string(kNeuralSynthBytes))
          .substr(0, 16);
  if (o.folder.empty()) return in_program;
  return ContentDigest(ReadTextFile(o.folder / "content.safetensors") +
                       ReadTextFile(o.folder / "synth.safetensors"))
      .substr(0, 16);
}

}  // namespace sotto
