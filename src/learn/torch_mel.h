// Log-mel features on the training device: the same definition as dsp/fbank.h (Kaldi's, edges
// mirrored, no dither), on batches.
#pragma once

#include <torch/torch.h>

namespace sotto {

struct TorchMelOptions {
  int rate_hz = 16000;
  int mels = 80;
  double low_hz = 20.0, high_hz = 7600.0;
};

class TorchMel {
 public:
  TorchMel(const TorchMelOptions& options, torch::Device device);
  // batch × samples (full scale 1) to batch × mels × round(samples/160).
  torch::Tensor operator()(const torch::Tensor& x) const;

 private:
  int window_, shift_, fft_;
  torch::Tensor taper_, bank_;
};

}  // namespace sotto
