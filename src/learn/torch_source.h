// The synthesiser's sources (nn/source.h) on the training device, for batches.
#pragma once

#include <torch/torch.h>

namespace sotto {

// batch × frames of F0 (Hz, above 0) to batch × frames·160 samples. `phase` (batch) is where each
// begins.
torch::Tensor HarmonicSources(const torch::Tensor& f0_hz, const torch::Tensor& phase);

}  // namespace sotto
