// Method voicemask (dsp/warp.h): the frequency axis warped by two numbers drawn in secret.
#include <fmt/format.h>

#include "dsp/warp.h"
#include "voice/vocoder_definition.h"
#include "voice/voicemask.h"
#include "voice/warp_editors.h"

namespace sotto {
namespace {

std::function<double(double)> Warp(double alpha, double beta) {
  return [alpha, beta](double omega) { return VoiceMaskWarp(omega, alpha, beta); };
}

class Definition : public VocoderDefinition {
 public:
  Definition()
      : VocoderDefinition("voicemask", "a warped frequency axis", {}, /*has_target=*/false) {}

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    const auto edit = [](const TargetVoices& targets, const std::string& speaker,
                         const std::string& utterance) {
      const auto [alpha, beta] = DrawVoiceMask(targets.Draws(), {}, speaker, utterance);
      return WarpEditor(Warp(alpha, beta), targets.Pitch(speaker, utterance));
    };
    return MakeEditing(options, std::move(draws), edit);
  }

  // The inverse of h for several (α, β) of the allowed set.
  std::vector<Inverse> Inverses(const VoiceOptions& options, bool quick) const override {
    std::vector<Inverse> grid;
    const int points = quick ? 1 : 3;
    const VoiceMaskOptions ranges;
    const double size = 0.5 * (ranges.min_alpha + ranges.max_alpha);
    for (const double alpha : {-size, size}) {
      for (const BetaInterval& betas : AllowedBetas(alpha, ranges)) {
        for (int i = 0; i < points; ++i) {
          const double beta = betas.lo + (betas.hi - betas.lo) * (i + 0.5) / points;
          grid.push_back(WarpBack(
              fmt::format("alpha {:.3g}, beta {:.3g}", alpha, beta),
              [forward = Warp(alpha, beta)](double omega) { return InverseWarp(forward, omega); },
              Vocoder(options)));
        }
      }
    }
    return grid;
  }
};

}  // namespace

std::shared_ptr<const MethodDefinition> VoiceMaskDefinition() {
  return std::make_shared<const Definition>();
}

}  // namespace sotto
