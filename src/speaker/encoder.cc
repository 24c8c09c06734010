#include "speaker/encoder.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audio/utterances.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "nn/encoder_net.h"
#include "speaker/default_encoder.h"
#include "speaker/embedding_stream.h"
#include "speaker/ivector.h"
#include "speaker/onnx_encoder.h"

namespace sotto {
namespace {

// An ECAPA-TDNN or x-vector net on log-mel features.
class NeuralEncoder : public SpeakerEncoder {
 public:
  explicit NeuralEncoder(TensorFile file)
      : net_(std::move(file)),
        features_(ReadFeatureOptions(net_.File(), static_cast<int>(net_.Mels()))) {
    const auto kind = net_.File().metadata.find("sotto.kind");
    name_ = kind != net_.File().metadata.end() ? kind->second : "foreign";
  }

  std::string Name() const override { return name_; }
  std::size_t Dimension() const override { return static_cast<std::size_t>(net_.Dimension()); }

 protected:
  std::vector<float> Embed16k(std::span<const float> x) const override {
    const Features mels = LogMel(x, features_);
    return net_.Embed(Eigen::Map<const Eigen::MatrixXf>(mels.values.data(),
                                                        static_cast<Eigen::Index>(mels.dimension),
                                                        static_cast<Eigen::Index>(mels.frames)));
  }

 private:
  EncoderNet net_;
  FbankOptions features_;
  std::string name_;
};

nlohmann::json ParseMetadata(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return nullptr;
  nlohmann::json json = TryParseJson(found->second);
  if (!json.is_object()) {
    throw Error(fmt::format("{}: metadata '{}' is not a JSON object", file.where, key));
  }
  return json;
}

double NumberOf(const nlohmann::json& json, const char* name, const std::string& where) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number() || !std::isfinite(found->get<double>())) {
    throw Error(fmt::format("{}: '{}' is missing or no number", where, name));
  }
  return found->get<double>();
}

}  // namespace

std::vector<float> SpeakerEncoder::Embed(std::span<const float> x, int fs) const {
  EmbeddingStream stream(fs, [this](std::span<const float> window) { return EmbedWindow(window); });
  stream.Push(x);
  return stream.Finish();
}

std::vector<float> SpeakerEncoder::EmbedWindow(std::span<const float> x) const {
  std::vector<float> embedding = Embed16k(x);
  for (const float value : embedding) {
    if (!std::isfinite(value)) throw Error("encoder: the embedding is not finite");
  }
  return embedding;
}

FbankOptions ReadFeatureOptions(const TensorFile& file, int mels) {
  const nlohmann::json json = ParseMetadata(file, "sotto.features");
  const std::string where = file.where + ": sotto.features";
  FbankOptions options = FbankOptions::SpeechBrain();
  if (!json.is_null()) {
    const auto found = json.find("kind");
    const std::string kind =
        found != json.end() && found->is_string() ? found->get<std::string>() : "";
    if (kind == "kaldi_log_mel") {
      options = FbankOptions::Encoder();
      options.low_hz = NumberOf(json, "low_hz", where);
      options.high_hz = NumberOf(json, "high_hz", where);
    } else if (kind != "speechbrain") {
      throw Error(
          fmt::format("{}: kind '{}' is neither kaldi_log_mel nor speechbrain", where, kind));
    }
    if (NumberOf(json, "rate_hz", where) != kEncoderRateHz ||
        NumberOf(json, "mels", where) != mels) {
      throw Error(fmt::format("{}: {} bands at {} Hz are needed", where, mels, kEncoderRateHz));
    }
  }
  options.bins = mels;
  options.Validate();
  return options;
}

std::optional<LlrCalibration> ReadCalibration(const TensorFile& file) {
  const nlohmann::json json = ParseMetadata(file, "sotto.calibration");
  if (json.is_null()) return std::nullopt;
  const std::string where = file.where + ": sotto.calibration";
  return LlrCalibration{NumberOf(json, "scale", where), NumberOf(json, "offset", where)};
}

void WriteCalibration(const LlrCalibration& calibration, TensorFile& file) {
  file.metadata["sotto.calibration"] =
      nlohmann::ordered_json{{"scale", calibration.scale}, {"offset", calibration.offset}}.dump();
}

// The one place that knows every kind of encoder.
std::unique_ptr<SpeakerEncoder> ParseEncoder(std::string_view bytes, const std::string& where) {
  TensorFile file = ParseTensorFile(bytes, where);
  const auto kind = file.metadata.find("sotto.kind");
  const std::optional<LlrCalibration> calibration = ReadCalibration(file);
  const std::map<std::string, std::string> metadata = file.metadata;
  const std::string weights = Fingerprint(file);
  std::unique_ptr<SpeakerEncoder> encoder;
  if (kind != file.metadata.end() && kind->second == "ivector") {
    encoder = std::make_unique<IvectorEncoder>(std::move(file));
  } else {
    encoder = std::make_unique<NeuralEncoder>(std::move(file));
  }
  encoder->fingerprint_ = ContentDigest(bytes).substr(0, 32);
  encoder->weights_fingerprint_ = weights;
  encoder->calibration_ = calibration;
  encoder->metadata_ = metadata;
  return encoder;
}

std::unique_ptr<SpeakerEncoder> OpenEncoder(const std::string& name_or_file, bool trust_models) {
  if (name_or_file == kDefaultEncoder) return ParseEncoder(kDefaultEncoderBytes, kDefaultEncoder);
  const std::filesystem::path path = name_or_file;
  if (path.extension() != ".onnx")
    return ParseEncoder(ReadTextFile(path, kLargestFile), name_or_file);
  const std::string bytes = ReadTextFile(path, kLargestFile);
  OnnxSession session(OnnxRuntime::Open(ModelFolders::Default({}, trust_models)), bytes,
                      name_or_file);
  std::unique_ptr<SpeakerEncoder> encoder =
      std::make_unique<OnnxEncoder>(std::move(session), ReadModelDescription(path), name_or_file);
  // What the encoder hears is part of what it is.
  const std::string description = ReadTextFile(DescriptionPath(path));
  encoder->fingerprint_ =
      ContentDigest(ContentDigest(bytes) + ContentDigest(description)).substr(0, 32);
  return encoder;
}

}  // namespace sotto
