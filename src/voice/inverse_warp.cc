#include "voice/inverse_warp.h"

#include <cmath>
#include <utility>

#include "voice/warp_editors.h"

namespace sotto {

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
  return {std::move(name),
          [editor = WarpEditor(std::move(warp), {}), vocoder](int rate_hz, double peak_limit) {
            VocoderTransformOptions limited = vocoder;
            limited.peak_limit = peak_limit;
            return MakeVocoderTransformer(rate_hz, editor, limited);
          }};
}

}  // namespace sotto
