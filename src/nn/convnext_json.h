// Sizes of ConvNeXt bodies in the metadata of files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nn/convnext.h"

namespace sotto {

nlohmann::ordered_json ToJson(const ConvNextOptions& options);
// Throws Error naming `where` when a size is out of bounds, nlohmann's exceptions when one is
// missing or of another type.
ConvNextOptions ConvNextFromJson(const nlohmann::ordered_json& json, const std::string& where);
// Throws Error unless low ≤ value ≤ high.
void CheckSize(const std::string& where, const char* name, std::int64_t value, std::int64_t low,
               std::int64_t high);

}  // namespace sotto
