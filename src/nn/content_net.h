// The content encoder: log-mel frames in, what is said out, as a template over a backend (conv.h).
// 80 bands at 100 Hz become states of a narrow bottleneck at 50 Hz, the ones a linear map of the
// teacher's states gives (content.h): a stem over pairs of frames, ConvNeXt blocks, attention
// behind every so many of them, a linear layer.
//
// The defaults, without attention, see 64 frames (1.28 s) to either side; with `ahead` of zeros and
// ones the same net is causal with a bounded look-ahead (Sees). 3.8 million parameters, 7.2 MiB in
// half precision.
#pragma once

#include <string>

#include "nn/attention.h"
#include "nn/convnext.h"

namespace sotto {

inline constexpr std::int64_t kContentHop = 320;     // samples at 16 kHz: 50 Hz
inline constexpr std::int64_t kContentCentre = 160;  // the sample its first frame is centred on
inline constexpr std::int64_t kTeacherHop = 384;     // Moonshine's strides of 64, 3 and 2
// The sample its first state is centred on: half of the 895 samples it hears.
inline constexpr std::int64_t kTeacherCentre = 447;

struct ContentOptions {
  std::int64_t mels = 80;
  std::int64_t bottleneck = 128;
  std::int64_t teacher = 288;
  std::int64_t stem_kernel = 5, stem_ahead = 2;
  ConvNextOptions body = {256, 768, 9, 7, {1, 2, 4}, {3}};
  std::int64_t attend_every = 0;  // blocks; 0: no attention
  AttentionShape attention;

  std::int64_t Attentions() const { return attend_every > 0 ? body.blocks / attend_every : 0; }

  // In frames of the bottleneck (20 ms); the mel window itself sees 7.5 ms more.
  Reach Sees() const {
    Reach all = body.Sees();
    all.left += stem_kernel - 1 - stem_ahead + Attentions() * attention.reach;
    all.right += stem_ahead + Attentions() * attention.reach;
    return all;
  }
};

template <class Backend>
class ContentStudent {
 public:
  using Tensor = typename Backend::Tensor;

  ContentStudent(const ContentOptions& options, Backend& backend) : o_(options), b_(backend) {}

  // mels × 2T to bottleneck × T.
  Tensor Forward(const Tensor& mels) {
    // Natural logarithms of energies of 16-bit samples lie between 5 and 20.
    Tensor x = b_.Work(b_.FoldPairs(b_.Affine(mels, 0.25f, -3.0f)));
    const ConvShape stem{2 * o_.mels, o_.body.channels, o_.stem_kernel,
                         1,           Padding::kZero,   o_.stem_ahead};
    x = b_.LayerNorm(b_.Conv1d(x, "stem", stem), "stem_norm");
    for (std::int64_t i = 0; i < o_.body.blocks; ++i) {
      x = ConvNextBlock<Backend>(b_, x, "blocks." + std::to_string(i), o_.body, i, nullptr, 0);
      if (o_.attend_every > 0 && (i + 1) % o_.attend_every == 0) {
        x = AttentionLayer(b_, x, "attend." + std::to_string((i + 1) / o_.attend_every - 1),
                           o_.body.channels, o_.attention);
      }
    }
    x = b_.LayerNorm(std::move(x), "head_norm");
    return b_.Full(b_.Linear(x, "head", o_.body.channels, o_.bottleneck));
  }

 private:
  ContentOptions o_;
  Backend& b_;
};

}  // namespace sotto
