#include "voice/inverse_warp.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "dsp/vocoder.h"
#include "dsp/warp.h"

namespace sotto {
namespace {

class WarpFrames : public FrameEditor {
 public:
  WarpFrames(int rate_hz, const std::function<double(double)>& warp)
      : warp_(VocoderFftSize(rate_hz) / 2 + 1, rate_hz / 2.0, warp) {}
  void Edit(VocoderFrames& frames) override {
    scratch_.resize(frames.Bins());
    for (std::size_t t = 0; t < frames.Frames(); ++t) {
      const std::span<float> envelope = frames.Envelope(t);
      std::copy(envelope.begin(), envelope.end(), scratch_.begin());
      warp_.Apply(scratch_, envelope);
    }
  }

 private:
  const SpectrumWarp warp_;
  std::vector<float> scratch_;
};

}  // namespace

double InverseWarp(const std::function<double(double)>& warp, double omega) {
  double lo = 0.0, hi = M_PI;
  for (int i = 0; i < 45; ++i) {
    const double middle = 0.5 * (lo + hi);
    (warp(middle) < omega ? lo : hi) = middle;
  }
  // The ends map onto themselves.
  if (omega <= 0.0) return 0.0;
  if (omega >= M_PI) return M_PI;
  return 0.5 * (lo + hi);
}

Inverse WarpBack(std::string name, std::function<double(double)> warp,
                 const VocoderTransformOptions& vocoder) {
  return {std::move(name), [warp = std::move(warp), vocoder](int rate_hz, double peak_limit) {
            const MakeFrameEditor editor = [&warp](int rate) {
              return std::make_unique<WarpFrames>(rate, warp);
            };
            VocoderTransformOptions limited = vocoder;
            limited.peak_limit = peak_limit;
            return MakeVocoderTransformer(rate_hz, editor, limited);
          }};
}

}  // namespace sotto
