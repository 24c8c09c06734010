// A net that begins where another one ended: `sotto-train content|synth --base FILE`.
#pragma once

#include "learn/torch_backend.h"
#include "nn/convnext.h"
#include "nn/safetensors.h"

namespace sotto {

// Gives all layers of `backend` (which are there already) the values of the same name in `base`.
// Blocks that look less far ahead (or further) than those of `base` keep its taps at the same
// offsets in time; taps for which there is no place are lost, new ones are 0. Blocks behind the
// last of `base`, and attention that it has not, begin by adding nothing, so that the deeper net
// begins as the same function. Throws Error that names a layer which is missing or of another size.
void BeginFrom(const TensorFile& base, const ConvNextOptions& its_body, const ConvNextOptions& body,
               TorchBackend& backend);

}  // namespace sotto
