// The countermeasures in the program (docs/models.md says how they were trained and what they
// reach).
#pragma once

#include <string_view>

namespace sotto {

extern const std::string_view kPrivasp1024Bytes;  // privasp_1024.safetensors
extern const std::string_view kPrivasp512Bytes;   // privasp_512.safetensors

}  // namespace sotto
