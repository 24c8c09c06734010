// The defence "transport" in the program: hides gender in voiceprints of its own encoder
// (docs/models.md says what it was fitted on and what attackers reach).
#pragma once

#include <string_view>

namespace sotto {

extern const std::string_view kHideGenderBytes;  // hide_gender.safetensors

}  // namespace sotto
