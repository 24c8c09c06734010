// What a synthesised waveform is compared by: log-mel spectra at several resolutions, and critics
// that look at short-time spectra.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "learn/torch_backend.h"

namespace sotto {

// batch × samples to complex batch × bins × frames; Hann window, hop a quarter of it, only frames
// that fit.
torch::Tensor Spectra(const torch::Tensor& x, std::int64_t window);

// Mean absolute difference of log10 mel energies at windows of 256, 512, 1024 and 2048 samples with
// 20, 40, 80 and 120 bands (Kumar et al. 2023, DAC), averaged over the four.
class MelDistance {
 public:
  explicit MelDistance(torch::Device device);
  // batch × samples each, at 16 kHz, at least 2048 samples.
  torch::Tensor operator()(const torch::Tensor& x, const torch::Tensor& y) const;

 private:
  std::vector<std::int64_t> windows_;
  std::vector<torch::Tensor> banks_;
};

// Critics at three resolutions (Jang et al. 2021, UnivNet) on real and imaginary parts with the
// magnitude compressed to its 0.3rd power: convolutions along frequency and time with leaky ReLU.
class Critics {
 public:
  Critics(std::int64_t channels, torch::Device device) : backend(device), channels_(channels) {}

  struct Verdicts {
    std::vector<torch::Tensor> judgements;  // one map for each resolution
    std::vector<torch::Tensor> features;    // all inner layers
  };
  // batch × samples.
  Verdicts operator()(const torch::Tensor& x);

  TorchBackend backend;

 private:
  std::int64_t channels_;
};

// Least squares (Mao et al. 2017): real towards 1 and made towards 0; for the maker, made
// towards 1.
torch::Tensor CriticLoss(const Critics::Verdicts& real, const Critics::Verdicts& made);
torch::Tensor MakerLoss(const Critics::Verdicts& made);
// Mean absolute difference of inner layers, over their mean size for real speech; rows 0 … rows − 1
// of `made` belong to `real`.
torch::Tensor FeatureLoss(const Critics::Verdicts& real, const Critics::Verdicts& made,
                          std::int64_t rows);

}  // namespace sotto
