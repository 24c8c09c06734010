// From speech to one vector that tells speakers apart.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/fbank.h"
#include "nn/safetensors.h"

namespace sotto {

// Natural-log LLR = scale·cosine + offset.
struct LlrCalibration {
  double scale = 1.0, offset = 0.0;
};

class SpeakerEncoder {
 public:
  virtual ~SpeakerEncoder() = default;

  // "ivector", "ecapa", "xvector".
  virtual std::string Name() const = 0;
  virtual std::size_t Dimension() const = 0;

  // The embedding (not normalised) of one channel at any rate. Thread-safe. Throws Error when
  // there is too little speech (less than 0.1 s).
  std::vector<float> Embed(std::span<const float> x, int fs) const;

  // Of the encoder's file: what names embeddings in a cache.
  const std::string& Fingerprint() const { return fingerprint_; }
  // Of the weights alone (nn/safetensors.h): what an attacker's encoder names as its base.
  const std::string& WeightsFingerprint() const { return weights_fingerprint_; }
  // Where the file says how cosines become LLRs.
  const std::optional<LlrCalibration>& Calibration() const { return calibration_; }
  // The file's metadata ("sotto.training", "sotto.attacker" …).
  const std::map<std::string, std::string>& Metadata() const { return metadata_; }

 protected:
  // x at 16 kHz.
  virtual std::vector<float> Embed16k(std::span<const float> x) const = 0;

 private:
  friend std::unique_ptr<SpeakerEncoder> ParseEncoder(std::string_view, const std::string&);
  friend std::unique_ptr<SpeakerEncoder> OpenEncoder(const std::string&);
  std::string fingerprint_, weights_fingerprint_;
  std::optional<LlrCalibration> calibration_;
  std::map<std::string, std::string> metadata_;
};

// What `--encoder` is when it is not given.
inline constexpr const char* kDefaultEncoder = "default";

// A safetensors file whose metadata "sotto.kind" says what it is; without metadata a foreign ECAPA
// or x-vector net (nn/encoder_net.h). A file *.onnx with its description beside it is a foreign
// encoder of any kind (onnx_encoder.h). "default" is the encoder in the program.
std::unique_ptr<SpeakerEncoder> OpenEncoder(const std::string& name_or_file);
std::unique_ptr<SpeakerEncoder> ParseEncoder(std::string_view bytes, const std::string& where);

// The front-end of a net: metadata "sotto.features" {"kind": "kaldi_log_mel" | "speechbrain",
// "rate_hz", "mels", "low_hz", "high_hz"}; without it SpeechBrain's, whose names foreign files
// have.
FbankOptions ReadFeatureOptions(const TensorFile& file, int mels);

// "sotto.calibration" {"scale", "offset"}; absent: nothing.
std::optional<LlrCalibration> ReadCalibration(const TensorFile& file);
void WriteCalibration(const LlrCalibration& calibration, TensorFile& file);

}  // namespace sotto
