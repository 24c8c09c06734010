// Method vtln (targets/vtln.h): warps towards a voice of a pool.
#include <fmt/format.h>

#include "dsp/warp.h"
#include "voice/vocoder_definition.h"
#include "voice/warp_editors.h"

namespace sotto {
namespace {

class Definition : public VocoderDefinition {
 public:
  Definition()
      : VocoderDefinition("vtln", "warps towards a voice of a pool", {}, /*has_target=*/true) {}

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    const auto edit = [](const TargetVoices& targets, const std::string& speaker,
                         const std::string& utterance) {
      return VtlnEditor(targets.Source(speaker), targets.Targets(speaker, utterance),
                        targets.Pitch(speaker, utterance));
    };
    return MakeEditing(options, std::move(draws), edit, /*classes=*/true);
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

std::shared_ptr<const MethodDefinition> VtlnDefinition() {
  return std::make_shared<const Definition>();
}

}  // namespace sotto
