// What the targets for files of tensors ask of every file that is taken.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "nn/safetensors.h"

// An Error, or tensors whose values fill their shapes.
inline int ParseTensors(const std::uint8_t* data, std::size_t size,
                        sotto::TensorFile (*parse)(std::string_view, const std::string&)) {
  try {
    const sotto::TensorFile file = parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto check = [](const auto& tensors) {
      for (const auto& [name, tensor] : tensors) {
        std::size_t count = 1;
        for (const std::int64_t n : tensor.shape) count *= static_cast<std::size_t>(n);
        if (count != tensor.values.size()) std::abort();
      }
    };
    check(file.tensors);
    check(file.integers);
  } catch (const sotto::Error&) {
  }
  return 0;
}
