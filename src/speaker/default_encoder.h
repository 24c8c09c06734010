// The encoder in the program (docs/models.md says how it was trained and what it reaches).
#pragma once

#include <string_view>

namespace sotto {

extern const std::string_view kDefaultEncoderBytes;  // default_encoder.safetensors

}  // namespace sotto
