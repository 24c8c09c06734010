#include "voice/adain_nets.h"

#include <fmt/format.h>

#include <string_view>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {

extern const std::string_view kAdainBytes, kAdainVoicesBytes;

namespace {

// Read once: methods are made anew for every attacker.
const std::shared_ptr<const AdainModels>& ModelsInProgram() {
  static const auto models =
      std::make_shared<const AdainModels>(ParseTensorFile(kAdainBytes, "the program's AdaIN net"));
  return models;
}

}  // namespace

AdainNets OpenAdainNets(const NeuralOptions& o) {
  AdainNets nets;
  nets.models = o.folder.empty()
                    ? ModelsInProgram()
                    : std::make_shared<const AdainModels>(ReadTensorFile(o.folder / kAdainFile));
  const TensorFile voices = !o.target_pool.empty() ? ReadTensorFile(o.target_pool)
                            : o.folder.empty()
                                ? ParseTensorFile(kAdainVoicesBytes, "the program's AdaIN voices")
                                : ReadTensorFile(o.folder / kAdainVoicesFile);
  nets.pool = ReadSpeakerPool(voices);
  const auto size = static_cast<std::size_t>(nets.models->Waveform().Shape().embedding);
  for (const SpeakerVoice& voice : nets.pool.voices) {
    if (voice.embedding.size() != size) {
      throw Error(fmt::format("{}: voice '{}' has an embedding of {}, the net takes {}",
                              voices.where, voice.name, voice.embedding.size(), size));
    }
  }
  return nets;
}

std::string AdainFingerprint(const NeuralOptions& options) {
  const std::string bytes =
      options.folder.empty() ? std::string(kAdainBytes) : ReadTextFile(options.folder / kAdainFile);
  return ContentDigest(bytes).substr(0, 16);
}

}  // namespace sotto
