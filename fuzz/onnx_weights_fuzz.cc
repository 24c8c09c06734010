// Any bytes as a ONNX model: an Error, or tensors whose values fill their shapes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "nn/onnx_weights.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sotto::TensorFile file =
        sotto::ParseOnnxWeights({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const auto& [name, tensor] : file.tensors) {
      std::size_t count = 1;
      for (const std::int64_t n : tensor.shape) count *= static_cast<std::size_t>(n);
      if (count != tensor.values.size()) std::abort();
    }
  } catch (const sotto::Error&) {
  }
  return 0;
}
