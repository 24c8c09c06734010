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

// Every encoder, whatever its kind, hears an utterance of up to 60 s at once. A longer one is heard
// in windows of 30 to 60 s, one after the other without overlap: 60 s as long as two of them are
// there, and what is left then (up to two windows) whole or in halves. So a net's memory does not
// grow with the recording (4.6 MB a second for the one in the program), nor does the sound's, which
// is streamed (embedding_stream.h). The embedding's direction is the mean of the windows' unit
// vectors, its length the mean of their lengths, both weighted by the windows' active time: pieces
// of 10 ms no more than 30 dB below (as Kinnunen & Li 2010 detect speech by its energy) the level
// that the loudest one in a hundred of the whole utterance reaches. A window that the encoder
// refuses (an i-vector of silence) counts for nothing.
class SpeakerEncoder {
 public:
  virtual ~SpeakerEncoder() = default;

  // "ivector", "ecapa", "xvector".
  virtual std::string Name() const = 0;
  virtual std::size_t Dimension() const = 0;

  // The embedding (not normalised) of one channel at any rate, by the rule above. Thread-safe.
  // Throws Error when there is too little speech (less than 0.1 s). Sound in a file need not be in
  // memory for it: embed_corpus.h, EmbedFile.
  std::vector<float> Embed(std::span<const float> x, int fs) const;

  // One window of the rule: all of x, at 16 kHz, at once.
  std::vector<float> EmbedWindow(std::span<const float> x) const;

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
  friend std::unique_ptr<SpeakerEncoder> OpenEncoder(const std::string&, bool);
  std::string fingerprint_, weights_fingerprint_;
  std::optional<LlrCalibration> calibration_;
  std::map<std::string, std::string> metadata_;
};

// What `--encoder` is when it is not given.
inline constexpr const char* kDefaultEncoder = "default";

// A safetensors file whose metadata "sotto.kind" says what it is; without metadata a foreign ECAPA
// or x-vector net (nn/encoder_net.h). A file *.onnx with its description beside it is a foreign
// encoder of any kind (onnx_encoder.h), run by ONNX Runtime, which must be the pinned one unless
// `trust_models` (onnx/models.h). "default" is the encoder in the program.
std::unique_ptr<SpeakerEncoder> OpenEncoder(const std::string& name_or_file,
                                            bool trust_models = false);
std::unique_ptr<SpeakerEncoder> ParseEncoder(std::string_view bytes, const std::string& where);

// The front-end of a net: metadata "sotto.features" {"kind": "kaldi_log_mel" | "speechbrain",
// "rate_hz", "mels", "low_hz", "high_hz"}; without it SpeechBrain's, whose names foreign files
// have.
FbankOptions ReadFeatureOptions(const TensorFile& file, int mels);

// "sotto.calibration" {"scale", "offset"}; absent: nothing.
std::optional<LlrCalibration> ReadCalibration(const TensorFile& file);
void WriteCalibration(const LlrCalibration& calibration, TensorFile& file);

}  // namespace sotto
