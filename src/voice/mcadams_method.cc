// Method mcadams (voice/mcadams.h): a coefficient drawn from a range, or a public one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "voice/mcadams.h"
#include "voice/vocoder_definition.h"

namespace sotto {
namespace {

// What a user may ask for. At 0.3 formants from 300 to 4000 Hz lie between 1300 and 2900 at
// 16 kHz, and vowels are hardly told apart; at 1.2 angles above 6600 Hz meet the end of the axis
// (at 2: above 4500). The literature takes 0.5 to 0.9. McAdamsOptions allows more: inverses need
// it, and records of earlier versions may say it.
constexpr double kLeastAlpha = 0.3;
constexpr double kMostAlpha = 1.2;

Range AskedAlpha(const VoiceOptions& options) {
  return Range::Parse(options.Value("alpha"), "alpha");
}

void RequireAskedAlpha(const std::string& text) {
  const Range alpha = Range::Parse(text, "alpha");
  for (const double end : {alpha.lo, alpha.hi}) {
    if (end >= kLeastAlpha && end <= kMostAlpha) continue;
    throw Error(fmt::format("alpha {}: {} to {} is allowed", end, kLeastAlpha, kMostAlpha));
  }
}

Parameter AlphaParameter() {
  return {
      .name = "alpha",
      .unit = "A|LO:HI",
      .preset = "0.5:0.9",
      .help =
          "The coefficient, from 0.3 to 1.2: a fixed value (0.8 is B2), or a range from which a "
          "secret value is drawn (0.7:0.9 is B2r)",
      .record = "alpha",
      .must_be_recorded = true,
      .check = RequireAskedAlpha,
      .normalise = [](const std::string& text) { return Range::Parse(text, "alpha").Text(); }};
}

// The transformer alone where the pitch stays, which keeps its 30 ms of latency; otherwise a
// vocoder behind it changes the pitch.
class McAdamsMethod : public VoiceMethod {
 public:
  // Throws Error when the range leaves what McAdamsOptions allows. `pitch` may be null.
  McAdamsMethod(Range alpha, TargetDraws draws, std::unique_ptr<VoiceMethod> pitch)
      : alpha_(alpha), draws_(std::move(draws)), pitch_(std::move(pitch)) {
    for (const double end : {alpha.lo, alpha.hi}) {
      McAdamsOptions options;
      options.alpha = end;
      options.Validate();
    }
  }
  FitNeeds Needs() const override { return pitch_ ? pitch_->Needs() : FitNeeds{}; }
  void Fit(SourceVoices sources) override {
    if (pitch_) pitch_->Fit(std::move(sources));
  }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t /*channel*/) const override {
    McAdamsOptions options;
    options.alpha = alpha_.IsFixed()
                        ? alpha_.lo
                        : draws_.Uniform("alpha", alpha_.lo, alpha_.hi, speaker, utterance);
    options.peak_limit = peak_limit;
    auto mcadams = MakeMcAdams(rate_hz, options);
    if (!pitch_) return mcadams;
    return MakeChain(std::move(mcadams),
                     pitch_->MakeTransformer(rate_hz, peak_limit, speaker, utterance));
  }

  const Range alpha_;
  const TargetDraws draws_;
  const std::unique_ptr<VoiceMethod> pitch_;
};

class Definition : public VocoderDefinition {
 public:
  Definition()
      : VocoderDefinition("mcadams", "moved LPC poles", {AlphaParameter()}, /*has_target=*/false) {}

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    const auto edit = [](const TargetVoices& targets, const std::string& speaker,
                         const std::string& utterance) {
      return PitchEditor(targets.Pitch(speaker, utterance));
    };
    auto pitch = UsesVocoder(options) ? MakeEditing(options, draws, edit) : nullptr;
    return std::make_unique<McAdamsMethod>(AskedAlpha(options), std::move(draws), std::move(pitch));
  }

  std::vector<std::string> PrivacyNotes(const VoiceOptions& options) const override {
    const Range alpha = AskedAlpha(options);
    if (!alpha.IsFixed()) return {};
    if (alpha.lo == 1.0) return {"alpha 1 changes nothing: this run protects nobody"};
    return {
        fmt::format("alpha {} is fixed, so it is public and the transformation can be inverted; "
                    "from a range (0.5:0.9) a secret value is drawn",
                    alpha.Text())};
  }

  bool HasDraws(const VoiceOptions& options) const override {
    return !AskedAlpha(options).IsFixed() || AskedPitch(options) != PitchMode::kKeep;
  }

  // Angles to the power 1/α: exact up to the limits of the angle. The pitch is left as it is.
  std::vector<Inverse> Inverses(const VoiceOptions& options, bool quick) const override {
    const Range alpha = AskedAlpha(options);
    const int points = alpha.IsFixed() ? 1 : quick ? 4 : 8;
    std::vector<Inverse> grid;
    for (int i = 0; i < points; ++i) {
      // Midpoints of equal parts of the range.
      const double guess = alpha.lo + (alpha.hi - alpha.lo) * (i + 0.5) / points;
      McAdamsOptions mcadams;
      mcadams.alpha = std::clamp(1.0 / guess, McAdamsOptions::kMinAlpha, McAdamsOptions::kMaxAlpha);
      grid.push_back({fmt::format("alpha {:.3g}", guess), [mcadams](int rate_hz, double limit) {
                        McAdamsOptions limited = mcadams;
                        limited.peak_limit = limit;
                        return MakeMcAdams(rate_hz, limited);
                      }});
    }
    return grid;
  }

 protected:
  bool UsesVocoder(const VoiceOptions& options) const override {
    return AskedPitch(options) != PitchMode::kKeep;
  }
};

}  // namespace

std::shared_ptr<const MethodDefinition> McAdamsDefinition() {
  return std::make_shared<const Definition>();
}

}  // namespace sotto
