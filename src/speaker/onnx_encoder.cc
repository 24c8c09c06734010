#include "speaker/onnx_encoder.h"

#include <fmt/format.h>

#include <utility>

#include "audio/resampler.h"
#include "audio/utterances.h"
#include "base/error.h"

namespace sotto {

FbankOptions FeatureOptions(const ModelDescription& description) {
  FbankOptions options = description.recipe == ModelDescription::Recipe::kSpeechBrain
                             ? FbankOptions::SpeechBrain()
                             : FbankOptions::Encoder();
  options.rate_hz = description.rate_hz;
  options.bins = description.mels;
  options.low_hz = description.low_hz;
  options.high_hz = description.high_hz;
  if (description.scale) options.scale = *description.scale;
  options.Validate();
  return options;
}

OnnxEncoder::OnnxEncoder(OnnxSession session, ModelDescription description, std::string where)
    : session_(std::move(session)),
      description_(std::move(description)),
      where_(std::move(where)),
      fbank_(FeatureOptions(description_)) {
  const std::size_t rank = description_.features == ModelDescription::Features::kWaveform ? 2 : 3;
  if (session_.Input(description_.input).shape.size() != rank) {
    throw Error(fmt::format("'{}': its input '{}' has {} dimensions, {} asks for {}", where_,
                            description_.input, session_.Input(description_.input).shape.size(),
                            rank == 2 ? "waveform" : "log_mel", rank));
  }
  session_.Output(description_.output);
  if (description_.length_input) session_.Input(*description_.length_input);
  dimension_ = Run(std::vector<float>(static_cast<std::size_t>(description_.rate_hz), 0.0F)).size();
  if (dimension_ == 0) throw Error(fmt::format("'{}': its embeddings are empty", where_));
}

OnnxTensor OnnxEncoder::Input(std::span<const float> x, std::int64_t& frames) const {
  const OnnxRuntimePtr& runtime = session_.Runtime();
  if (description_.features == ModelDescription::Features::kWaveform) {
    frames = static_cast<std::int64_t>(x.size());
    std::vector<float> scaled(x.begin(), x.end());
    for (float& sample : scaled) sample *= static_cast<float>(description_.scale.value_or(1.0));
    return OnnxTensor::Floats(runtime, scaled, {1, frames});
  }
  Features mels = LogMel(x, fbank_);
  if (description_.normalise != ModelDescription::Normalise::kNone) {
    NormaliseUtterance(mels, description_.normalise == ModelDescription::Normalise::kMeanVariance);
  }
  frames = static_cast<std::int64_t>(mels.frames);
  const auto bands = static_cast<std::int64_t>(mels.dimension);
  if (description_.layout == ModelDescription::Layout::kTimeFirst) {
    return OnnxTensor::Floats(runtime, mels.values, {1, frames, bands});
  }
  std::vector<float> turned(mels.values.size());
  for (std::size_t t = 0; t < mels.frames; ++t) {
    for (std::size_t k = 0; k < mels.dimension; ++k) {
      turned[k * mels.frames + t] = mels.values[t * mels.dimension + k];
    }
  }
  return OnnxTensor::Floats(runtime, turned, {1, bands, frames});
}

std::vector<float> OnnxEncoder::Run(std::span<const float> x) const {
  std::int64_t frames = 0;
  const OnnxTensor input = Input(x, frames);
  std::vector<OnnxSession::Named> inputs = {{description_.input, &input}};
  std::optional<OnnxTensor> length;
  if (description_.length_input) {
    const OnnxRuntimePtr& runtime = session_.Runtime();
    const bool fraction =
        description_.length_unit == ModelDescription::LengthUnit::kFractionOfTheLongest;
    const float one = 1.0F;
    length = fraction ? OnnxTensor::Floats(runtime, {&one, 1}, {1})
                      : OnnxTensor::Ints(runtime, {&frames, 1}, {1});
    inputs.emplace_back(*description_.length_input, &*length);
  }
  const std::vector<OnnxTensor> results = session_.Run(inputs, std::span(&description_.output, 1));
  const std::span<const float> embedding = results[0].Floats();
  return {embedding.begin(), embedding.end()};
}

std::vector<float> OnnxEncoder::Embed16k(std::span<const float> x) const {
  std::vector<float> embedding = description_.rate_hz == kEncoderRateHz
                                     ? Run(x)
                                     : Run(Resample(x, kEncoderRateHz, description_.rate_hz));
  if (embedding.size() != dimension_) {
    throw Error(
        fmt::format("'{}': {} values for this utterance, {} for another: its output '{}' "
                    "is not an embedding",
                    where_, embedding.size(), dimension_, description_.output));
  }
  return embedding;
}

}  // namespace sotto
