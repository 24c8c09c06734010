// What the backends of the nets (eigen_backend.h; learn/torch_backend.h) share: the shape of a
// convolution. A backend offers, on a tensor of channels × frames:
//   Conv1d, BatchNorm, Relu, Tanh, Sigmoid, Add, Scale (by one factor a channel), Rows, Stack,
//   MeanOverTime, SoftmaxOverTime, Statistics (weighted mean and deviation), RepeatLike, CentreRows
// and a net is a template over it, written once (ecapa.h, xvector.h).
#pragma once

#include <cstdint>

namespace sotto {

enum class Padding {
  kNone,     // shorter by (kernel − 1)·dilation
  kReflect,  // same length, mirrored without repeating the edge (SpeechBrain's choice)
  kZero,     // same length
};

struct ConvShape {
  std::int64_t in = 0, out = 0;
  std::int64_t kernel = 1, dilation = 1;
  Padding padding = Padding::kReflect;
};

// Deviation's floor inside the square root, as in SpeechBrain's attentive pooling.
inline constexpr float kVarianceFloor = 1e-12f;
inline constexpr float kBatchNormFloor = 1e-5f;

}  // namespace sotto
