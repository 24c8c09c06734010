#include "voice/vtln_method.h"

#include <fmt/format.h>

#include <utility>

#include "dsp/warp.h"
#include "voice/inverse_warp.h"
#include "voice/vocoder_definition.h"
#include "voice/warp_editors.h"

namespace sotto {
namespace {

class Definition : public VocoderDefinition {
 public:
  Definition()
      : VocoderDefinition("vtln", "warps towards a voice of a pool", {}, /*has_target=*/true) {}

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    return std::make_unique<VtlnMethod>(Targets(options, std::move(draws)), Vocoder(options));
  }

  // The inverse power warp, with one factor for all classes.
  std::vector<Inverse> Inverses(const VoiceOptions& options, bool quick) const override {
    constexpr double kLow = -0.12, kHigh = 0.10;  // as far as factors go (targets/vtln.h)
    const int points = quick ? 5 : 12;
    std::vector<Inverse> grid;
    for (int i = 0; i < points; ++i) {
      const double a = kLow + (kHigh - kLow) * i / (points - 1);
      // (ω/π)^{1−a} is undone by the power 1/(1−a) = 1 − a'.
      const double inverse = 1.0 - 1.0 / (1.0 - a);
      grid.push_back(WarpBack(
          fmt::format("a {:.3g}", a), [inverse](double omega) { return PowerWarp(omega, inverse); },
          Vocoder(options)));
    }
    return grid;
  }
};

}  // namespace

VtlnMethod::VtlnMethod(TargetVoices targets, const VocoderTransformOptions& vocoder)
    : targets_(std::move(targets)), vocoder_(vocoder) {}

FitNeeds VtlnMethod::Needs() const {
  return NeedsOf(targets_, vocoder_.f0_method, /*classes=*/true);
}

std::unique_ptr<StreamTransformer> VtlnMethod::MakeChannel(int rate_hz, double peak_limit,
                                                           const std::string& speaker,
                                                           const std::string& utterance,
                                                           std::size_t /*channel*/) const {
  VocoderTransformOptions vocoder = vocoder_;
  vocoder.peak_limit = peak_limit;
  return MakeVocoderTransformer(
      rate_hz,
      VtlnEditor(targets_.Source(speaker), targets_.Targets(speaker, utterance),
                 targets_.Pitch(speaker, utterance)),
      vocoder);
}

std::shared_ptr<const MethodDefinition> VtlnDefinition() {
  return std::make_shared<const Definition>();
}

}  // namespace sotto
