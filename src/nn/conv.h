// What the backends of the nets (eigen_backend.h; learn/torch_backend.h) share: the shape of a
// convolution. A backend offers, on a tensor of channels × frames:
//   Conv1d, BatchNorm, Relu, Tanh, Sigmoid, Add, Scale (by one factor a channel), Rows, Stack,
//   MeanOverTime, SoftmaxOverTime, Statistics (weighted mean and deviation), CentreRows,
//   Pointwise (a convolution of kernel 1 over tensors that lie one below the other, of which one of
//   a single frame is below every frame), AttentiveStatistics (Statistics with the weights
//   SoftmaxOverTime(Conv1d(hidden)))
// and, for the nets that make speech (content_net.h, synth_net.h, adain_net.h):
//   Linear, DepthwiseConv, LayerNorm (over channels), InstanceNorm (each channel to mean 0 and
//   variance 1 over time), Attend (attention.h), Gelu, Modulate (x·(1 + scale) + shift, one of each
//   a channel), Affine (two constants), FoldPairs (two frames become one, twice as high),
//   UnfoldPairs (twice as many frames, linearly between), Stft, InverseStft, LogMagnitude, Exp,
//   Cos, Sin, Multiply, Subtract, Work and Full (to the type that layers compute in, and back)
// A net is a template over it, written once (ecapa.h, xvector.h, content_net.h, synth_net.h,
// adain_net.h).
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
  // With kZero: taps that lie after the frame itself; −1: half of them.
  std::int64_t ahead = -1;

  std::int64_t Right() const { return (ahead < 0 ? (kernel - 1) / 2 : ahead) * dilation; }
  std::int64_t Left() const { return (kernel - 1) * dilation - Right(); }
};

// Every channel by itself, zeros beyond the ends, as many frames as before.
struct DepthwiseShape {
  std::int64_t channels = 0;
  std::int64_t kernel = 7, dilation = 1;
  std::int64_t ahead = 3;  // taps after the frame itself: kernel − 1 − ahead lie before it

  std::int64_t Right() const { return ahead * dilation; }
  std::int64_t Left() const { return (kernel - 1 - ahead) * dilation; }
};

// Short-time spectra of hop·T samples: T frames, frame t centred on sample hop·t + hop/2, periodic
// Hann window, zeros beyond the ends. Rows: bins real parts, then bins imaginary parts. The inverse
// adds the windowed frames and divides by the sum of the squared windows.
struct StftShape {
  std::int64_t window = 640, hop = 160;  // the window is a multiple of the hop
  std::int64_t Bins() const { return window / 2 + 1; }
  // Samples of the window on either side of the hop.
  std::int64_t Before() const { return (window - hop) / 2; }
};

// Deviation's floor inside the square root, as in SpeechBrain's attentive pooling.
inline constexpr float kVarianceFloor = 1e-12f;
inline constexpr float kBatchNormFloor = 1e-5f;
inline constexpr float kLayerNormFloor = 1e-6f;
inline constexpr float kInstanceNormFloor = 1e-5f;
// Power added under the logarithm of LogMagnitude = ½·ln(re² + im² + floor).
inline constexpr float kLogPowerFloor = 1e-4f;

}  // namespace sotto
