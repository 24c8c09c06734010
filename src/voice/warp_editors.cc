#include "voice/warp_editors.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dsp/warp.h"
#include "targets/envelope_classes.h"
#include "targets/vtln.h"

namespace sotto {
namespace {

constexpr std::size_t kSmoothingReach = 5;  // frames before and behind

class WarpFrames : public FrameEditor {
 public:
  WarpFrames(int rate_hz, const std::function<double(double)>& warp, PitchMap pitch)
      : warp_(VocoderFftSize(rate_hz) / 2 + 1, rate_hz / 2.0, warp), pitch_(pitch) {}

  void Edit(VocoderFrames& frames) override {
    scratch_.resize(frames.Bins());
    for (std::size_t t = 0; t < frames.Frames(); ++t) {
      const std::span<float> envelope = frames.Envelope(t);
      std::copy(envelope.begin(), envelope.end(), scratch_.begin());
      warp_.Apply(scratch_, envelope);
    }
    pitch_.Apply(frames.f0_hz);
  }

 private:
  const SpectrumWarp warp_;
  const PitchMap pitch_;
  std::vector<float> scratch_;
};

class VtlnFrames : public FrameEditor {
 public:
  VtlnFrames(int rate_hz, std::vector<float> centroids, const ClassTargets& targets, PitchMap pitch)
      : top_hz_(rate_hz / 2.0),
        centroids_(std::move(centroids)),
        targets_(targets),
        warp_(VocoderFftSize(rate_hz) / 2 + 1, top_hz_),
        pitch_(pitch) {}

  void Edit(VocoderFrames& frames) override {
    scratch_.resize(frames.Bins());
    // The factors of the last frames before these come first.
    std::vector<double> factors = before_;
    for (std::size_t t = 0; t < frames.Frames(); ++t) {
      EnvelopeFeature(frames.Envelope(t), top_hz_, feature_);
      factors.push_back(WarpFactor(targets_[NearestCentroid(centroids_, feature_)].step));
    }
    const std::vector<double> smooth = SmoothFactors(factors, kSmoothingReach);
    for (std::size_t t = 0; t < frames.Frames(); ++t) {
      const std::span<float> envelope = frames.Envelope(t);
      std::copy(envelope.begin(), envelope.end(), scratch_.begin());
      warp_.Apply(smooth[before_.size() + t], scratch_, envelope);
    }
    const std::size_t kept = std::min(kSmoothingReach, factors.size());
    before_.assign(factors.end() - static_cast<std::ptrdiff_t>(kept), factors.end());
    pitch_.Apply(frames.f0_hz);
  }

 private:
  const double top_hz_;
  const std::vector<float> centroids_;
  const ClassTargets targets_;
  const PowerSpectrumWarp warp_;
  const PitchMap pitch_;
  std::vector<float> scratch_;
  std::vector<float> feature_ = std::vector<float>(kEnvelopePoints);
  std::vector<double> before_;
};

}  // namespace

MakeFrameEditor WarpEditor(std::function<double(double)> warp, PitchMap pitch) {
  return [warp = std::move(warp), pitch](int rate_hz) {
    return std::make_unique<WarpFrames>(rate_hz, warp, pitch);
  };
}

MakeFrameEditor VtlnEditor(const VoiceModel& source, const ClassTargets& targets, PitchMap pitch) {
  return [=, centroids = source.centroids](int rate_hz) {
    return std::make_unique<VtlnFrames>(rate_hz, centroids, targets, pitch);
  };
}

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
