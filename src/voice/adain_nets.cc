#include "voice/adain_nets.h"

#include <string_view>

#include "base/digest.h"
#include "base/files.h"
#include "voice/neural_nets.h"

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
  nets.pool =
      OpenVoices(o, kAdainVoicesFile, kAdainVoicesBytes, nets.models->Waveform().Shape().embedding);
  return nets;
}

std::string AdainFingerprint(const NeuralOptions& options) {
  const std::string bytes =
      options.folder.empty() ? std::string(kAdainBytes) : ReadTextFile(options.folder / kAdainFile);
  return ContentDigest(bytes).substr(0, 16);
}

}  // namespace sotto
