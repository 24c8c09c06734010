// Any bytes as a safetensors file: an Error, or tensors whose values fill their shapes.
#include "tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return ParseTensors(data, size, sotto::ParseTensorFile);
}
