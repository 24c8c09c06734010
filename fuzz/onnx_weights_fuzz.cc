// Any bytes as an ONNX model: an Error, or tensors whose values fill their shapes.
#include "nn/onnx_weights.h"
#include "tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return ParseTensors(data, size, sotto::ParseOnnxWeights);
}
