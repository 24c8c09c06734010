#include "voice/voicemask_method.h"

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
      : VocoderDefinition("voicemask", "a warped frequency axis", {}, /*has_target=*/false) {}

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    return std::make_unique<VoiceMaskMethod>(VoiceMaskOptions{}, Targets(options, std::move(draws)),
                                             Vocoder(options));
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
          const auto forward = [alpha, beta](double omega) {
            return VoiceMaskWarp(omega, alpha, beta);
          };
          grid.push_back(WarpBack(
              fmt::format("alpha {:.3g}, beta {:.3g}", alpha, beta),
              [forward](double omega) { return InverseWarp(forward, omega); }, Vocoder(options)));
        }
      }
    }
    return grid;
  }
};

}  // namespace

VoiceMaskMethod::VoiceMaskMethod(VoiceMaskOptions warp, TargetVoices targets,
                                 const VocoderTransformOptions& vocoder)
    : warp_(warp), targets_(std::move(targets)), vocoder_(vocoder) {
  warp_.Validate();
}

FitNeeds VoiceMaskMethod::Needs() const {
  return NeedsOf(targets_, vocoder_.f0_method, /*classes=*/false);
}

std::unique_ptr<StreamTransformer> VoiceMaskMethod::MakeChannel(int rate_hz, double peak_limit,
                                                                const std::string& speaker,
                                                                const std::string& utterance,
                                                                std::size_t /*channel*/) const {
  const auto [alpha, beta] = DrawVoiceMask(targets_.Draws(), warp_, speaker, utterance);
  const auto warp = [alpha = alpha, beta = beta](double omega) {
    return VoiceMaskWarp(omega, alpha, beta);
  };
  VocoderTransformOptions vocoder = vocoder_;
  vocoder.peak_limit = peak_limit;
  return MakeVocoderTransformer(rate_hz, WarpEditor(warp, targets_.Pitch(speaker, utterance)),
                                vocoder);
}

std::shared_ptr<const MethodDefinition> VoiceMaskDefinition() {
  return std::make_shared<const Definition>();
}

}  // namespace sotto
