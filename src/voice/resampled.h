// A transformer that works at another sampling rate than the signal's.
#pragma once

#include <memory>

#include "audio/resampler.h"
#include "voice/transformer.h"

namespace sotto {

// Exactly as many samples come out as go in: the converters' delay is taken out, the last sample is
// cut or repeated as silence. A converter overshoots what the inner transformer limited (by 9 % on
// a clipped chord): samples beyond `peak_limit` are cut off there.
class Resampled : public StreamTransformer {
 public:
  Resampled(std::unique_ptr<StreamTransformer> inner, int outer_rate_hz, int inner_rate_hz,
            double peak_limit, ResamplerFilter filter = ResamplerFilter::kSharp);
  void Push(std::span<const float> in, std::vector<float>& out) override;
  void Finish(std::vector<float>& out) override;
  std::size_t LatencySamples() const override;

 private:
  void Deliver(std::vector<float>& out);

  const std::unique_ptr<StreamTransformer> inner_;
  const double ratio_;  // outer rate / inner rate
  const float peak_limit_;
  Resampler down_, up_;
  std::vector<float> low_in_, low_out_, high_;
  std::size_t pushed_ = 0, emitted_ = 0;
};

}  // namespace sotto
