// Any speaker encoder that somebody has as an ONNX file, with the description beside it that says
// what it wants to hear (onnx/model_description.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "dsp/fbank.h"
#include "onnx/model_description.h"
#include "onnx/session.h"
#include "speaker/encoder.h"

namespace sotto {

class OnnxEncoder : public SpeakerEncoder {
 public:
  // Hears a second of silence first, so that a description that does not fit the model is an Error
  // here and not in the middle of a corpus.
  OnnxEncoder(OnnxSession session, ModelDescription description, std::string where);

  std::string Name() const override { return description_.name; }
  std::size_t Dimension() const override { return dimension_; }

 protected:
  std::vector<float> Embed16k(std::span<const float> x) const override;

 private:
  OnnxTensor Input(std::span<const float> x, std::int64_t& frames) const;
  std::vector<float> Run(std::span<const float> x) const;  // x at the description's rate

  OnnxSession session_;
  ModelDescription description_;
  std::string where_;
  FbankOptions fbank_;
  std::size_t dimension_ = 0;
};

// The features a description asks for.
FbankOptions FeatureOptions(const ModelDescription& description);

}  // namespace sotto
