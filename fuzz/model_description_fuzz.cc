// Any bytes as the description beside a model.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "onnx/model_description.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const sotto::ModelDescription description = sotto::ParseModelDescription(text, "net.json");
    if (description.input.empty() || description.output.empty()) std::abort();
    if (description.high_hz > description.rate_hz / 2.0) std::abort();
  } catch (const sotto::Error&) {
  }
  return 0;
}
