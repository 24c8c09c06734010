#include "voice/neural_nets.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {

extern const std::string_view kNeuralContentBytes, kNeuralSynthBytes, kNeuralVoicesBytes;
extern const std::string_view kNeuralStreamContentBytes, kNeuralStreamSynthBytes;
extern const std::string_view kAdainBytes, kAdainVoicesBytes;

namespace {

struct NetBytes {
  std::string_view content, synth;
};

// The two of the program that belong to these options.
NetBytes BytesInProgram(const NeuralOptions& o) {
  if (!o.streaming) return {kNeuralContentBytes, kNeuralSynthBytes};
  return {kNeuralStreamContentBytes, kNeuralStreamSynthBytes};
}

// Read once: methods are made anew for every attacker.
const std::shared_ptr<const NeuralModels>& ModelsInProgram(const NeuralOptions& o) {
  const auto read = [&o] {
    const NetBytes bytes = BytesInProgram(o);
    const std::string whose = o.streaming ? "the program's streaming " : "the program's ";
    return std::make_shared<const NeuralModels>(
        ParseTensorFile(bytes.content, whose + "content encoder"),
        ParseTensorFile(bytes.synth, whose + "synthesiser"));
  };
  if (o.streaming) {
    static const auto streaming = read();
    return streaming;
  }
  static const auto models = read();
  return models;
}

const std::shared_ptr<const AdainModels>& AdainInProgram() {
  static const auto models =
      std::make_shared<const AdainModels>(ParseTensorFile(kAdainBytes, "the program's AdaIN net"));
  return models;
}

}  // namespace

NeuralNets OpenNeuralNets(const NeuralOptions& o) {
  NeuralNets nets;
  if (o.folder.empty()) {
    nets.models = ModelsInProgram(o);
  } else {
    TensorFile content = ReadTensorFile(o.folder / "content.safetensors");
    nets.models = std::make_shared<const NeuralModels>(
        std::move(content), ReadTensorFile(o.folder / "synth.safetensors"));
  }
  nets.pool = OpenVoices(o, "voices.safetensors", kNeuralVoicesBytes,
                         nets.models->Synth().Options().embedding);
  return nets;
}

SpeakerPool OpenVoices(const NeuralOptions& o, const char* beside, std::string_view own,
                       std::int64_t embedding) {
  const TensorFile voices = !o.target_pool.empty() ? ReadTensorFile(o.target_pool)
                            : o.folder.empty()     ? ParseTensorFile(own, "the program's voices")
                                                   : ReadTensorFile(o.folder / beside);
  SpeakerPool pool = ReadSpeakerPool(voices);
  for (const SpeakerVoice& voice : pool.voices) {
    if (voice.embedding.size() != static_cast<std::size_t>(embedding)) {
      throw Error(fmt::format("{}: voice '{}' has an embedding of {}, the nets take {}",
                              voices.where, voice.name, voice.embedding.size(), embedding));
    }
  }
  return pool;
}

std::string NetsFingerprint(const NeuralOptions& o) {
  const auto digest = [](const std::string& content, const std::string& synth) {
    return ContentDigest(content + synth).substr(0, 16);
  };
  if (!o.folder.empty()) {
    return digest(ReadTextFile(o.folder / "content.safetensors"),
                  ReadTextFile(o.folder / "synth.safetensors"));
  }
  const auto in_program = [&] {
    const NetBytes bytes = BytesInProgram(o);
    return digest(std::string(bytes.content), std::string(bytes.synth));
  };
  if (o.streaming) {
    static const std::string streaming = in_program();
    return streaming;
  }
  static const std::string models = in_program();
  return models;
}

AdainNets OpenAdainNets(const NeuralOptions& o) {
  AdainNets nets;
  nets.models = o.folder.empty()
                    ? AdainInProgram()
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
