// The teacher: states of the encoder of Moonshine tiny (Jeffries et al. 2024), run by ONNX Runtime
// where both are installed. 288 values for every 384 samples; state i is centred on sample 384·i +
// 447 (nn/content.h brings them to the bottleneck).
//
// The model was trained on at most 30 s: longer recordings are heard in pieces of 20 s with 2 s
// around each.
#pragma once

#include <Eigen/Core>
#include <span>

#include "onnx/models.h"
#include "onnx/session.h"

namespace sotto {

class MoonshineContent {
 public:
  // Throws Error when moonshine/encoder_model.onnx is not installed or is not that model.
  MoonshineContent(const OnnxRuntimePtr& runtime, const ModelFolders& models);

  static constexpr std::int64_t kStateSize = 288;
  static constexpr const char* kName = "Moonshine tiny, English, int8: encoder";

  // x at 16 kHz, of any length above 0: 288 × states, one more or less than samples/384. May be
  // called from several threads.
  Eigen::MatrixXf States(std::span<const float> x) const;

 private:
  Eigen::MatrixXf Hear(std::span<const float> x) const;
  OnnxSession encoder_;
};

}  // namespace sotto
