#include "voice/method.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"
#include "speaker/voice_indistinguishability.h"
#include "voice/adain_nets.h"
#include "voice/neural_method.h"
#include "voice/neural_nets.h"
#include "voice/warp_editors.h"

namespace sotto {

std::string Range::Text() const {
  return IsFixed() ? fmt::format("{}", lo) : fmt::format("{}:{}", lo, hi);
}

Range Range::Parse(const std::string& text, const std::string& name) {
  const std::size_t colon = text.find(':');
  Range range;
  range.lo = ParseNumber(text.substr(0, colon), name);
  range.hi = colon == std::string::npos ? range.lo : ParseNumber(text.substr(colon + 1), name);
  if (range.lo > range.hi) {
    throw Error(fmt::format("{} '{}': the lower end comes first", name, text));
  }
  return range;
}

void RequireAskedAlpha(const Range& alpha) {
  for (const double end : {alpha.lo, alpha.hi}) {
    if (end >= kLeastAlpha && end <= kMostAlpha) continue;
    throw Error(
        fmt::format("method mcadams: alpha {}: {} to {} is allowed", end, kLeastAlpha, kMostAlpha));
  }
}

PitchMode VoiceOptions::Pitch() const {
  if (pitch) return *pitch;
  const bool to_target = method == "vtln" || IsNeural() || target_gender != TargetGender::kRandom;
  return to_target ? PitchMode::kTarget : PitchMode::kKeep;
}

NeuralTarget ParseNeuralTarget(std::string_view name) {
  for (const NeuralTarget target :
       {NeuralTarget::kGenerated, NeuralTarget::kPool, NeuralTarget::kVoiceInd}) {
    if (name == Name(target)) return target;
  }
  throw Error(fmt::format("target '{}': generated, pool or voice-ind is allowed", name));
}

const char* Name(NeuralTarget target) {
  switch (target) {
    case NeuralTarget::kGenerated:
      return "generated";
    case NeuralTarget::kPool:
      return "pool";
    case NeuralTarget::kVoiceInd:
      return "voice-ind";
  }
  return "";
}

const char* Name(F0Method method) { return method == F0Method::kFast ? "fast" : "robust"; }

namespace {

constexpr std::size_t kMostMaxDraws = 1000000;  // times the utterances it is a number still

// The file of the voices; empty: those in the program.
std::filesystem::path NeuralPool(const VoiceOptions& options) {
  const NeuralOptions& o = options.neural;
  if (!o.target_pool.empty() || o.folder.empty()) return o.target_pool;
  return o.folder / (options.IsAdain() ? kAdainVoicesFile : "voices.safetensors");
}

}  // namespace

std::string VoiceOptions::Text() const {
  const auto digest = [](const std::filesystem::path& path) {
    return path.empty() ? std::string() : Key::FromExperimentSeed(0).Name({ReadTextFile(path)}, 32);
  };
  std::string common =
      fmt::format("{} {} {} {} {} {} {}", method, alpha.Text(), Name(Pitch()), Name(target_gender),
                  Name(f0_method), digest(pool), digest(profile));
  if (!IsNeural()) return common;
  return fmt::format("{} {}{} {} {} {} {}{}{}", common, Name(neural.target),
                     neural.eps ? fmt::format(" {}", *neural.eps) : "", neural.teacher,
                     neural.bend_semitones, digest(NeuralPool(*this)), MethodNets(*this),
                     neural.streaming ? " streaming" : "",
                     neural.max_draws ? fmt::format(" max draws {}", *neural.max_draws) : "");
}

void VoiceOptions::Validate() const {
  if (method != "mcadams" && method != "voicemask" && method != "vtln" && !IsNeural()) {
    throw Error(
        fmt::format("method '{}': mcadams, voicemask, vtln, neural or adain is allowed", method));
  }
  const bool voice_ind = IsNeural() && neural.target == NeuralTarget::kVoiceInd;
  if (voice_ind && !neural.eps) {
    throw Error("target voice-ind needs --eps: there is no default epsilon");
  }
  if (!voice_ind && neural.eps) throw Error("--eps is for --method neural --target voice-ind");
  if (voice_ind) VoiceIndMechanism{*neural.eps};  // refuses what is no epsilon
  if (neural.max_draws) {
    if (!voice_ind || !neural.streaming) {
      throw Error(
          "--max-draws is for --streaming --target voice-ind, which draws anew after pauses");
    }
    if (*neural.max_draws < 1 || *neural.max_draws > kMostMaxDraws) {
      throw Error(
          fmt::format("--max-draws {}: 1 to {} is allowed", *neural.max_draws, kMostMaxDraws));
    }
  }
  if (IsNeural() && Pitch() == PitchMode::kRandom) {
    throw Error(fmt::format(
        "method {}: pitch keep or target is allowed (--bend changes the contour)", method));
  }
  if (IsNeural() && !(neural.bend_semitones >= 0.0 && neural.bend_semitones <= 12.0)) {
    throw Error(fmt::format("method {}: a bend of {} semitones: from 0 to 12 is allowed", method,
                            neural.bend_semitones));
  }
  if (neural.streaming && (!IsNeural() || IsAdain())) {
    throw Error(fmt::format("method {}: streaming is a way of method neural", method));
  }
  if (neural.streaming && neural.teacher) {
    throw Error("method neural: Moonshine hears whole recordings, no stream");
  }
  if (IsNeural() && (!pool.empty() || !profile.empty())) {
    throw Error(fmt::format(
        "method {}: --pool and --profile belong to other methods (--target-pool)", method));
  }
  if (IsAdain() && voice_ind) {
    throw Error(
        "method adain: target generated or pool is allowed; voice-ind needs embeddings "
        "that tell speakers apart (neural)");
  }
  if (IsAdain() && neural.teacher) {
    throw Error("method adain: --content moonshine belongs to neural, its content is its own");
  }
  if (target_gender != TargetGender::kRandom && method != "vtln" && !IsNeural() &&
      Pitch() != PitchMode::kTarget) {
    throw Error(
        fmt::format("--target-gender {}: method {} has a target voice only with --pitch "
                    "target",
                    Name(target_gender), method));
  }
}

void RequireStrategy(const VoiceOptions& options, Strategy strategy) {
  if (!options.IsNeural() || options.neural.target != NeuralTarget::kVoiceInd) return;
  if (strategy == Strategy::kConst) {
    throw Error("--target voice-ind: strategy const has no source to choose by (perm or random)");
  }
  const bool after_pauses = options.neural.streaming && strategy == Strategy::kRandom;
  if (after_pauses && !options.neural.max_draws) {
    throw Error(
        "--target voice-ind with --streaming and strategy random draws anew after pauses, and "
        "every "
        "draw costs epsilon: say by --max-draws N how many an utterance may have (the last is "
        "held)");
  }
  if (!after_pauses && options.neural.max_draws) {
    throw Error(fmt::format("--max-draws is for strategy random: {} draws once for a speaker",
                            Name(strategy)));
  }
}

std::unique_ptr<VoiceMethod> MakeVoiceMethod(const VoiceOptions& options, TargetDraws draws) {
  options.Validate();
  const PitchMode pitch = options.Pitch();
  if (options.IsNeural()) {
    return std::make_unique<NeuralMethod>(
        options.neural, options.target_gender, pitch, std::move(draws),
        options.IsAdain() ? NeuralKind::kAdain : NeuralKind::kSynth);
  }
  if (options.method == "mcadams" && pitch == PitchMode::kKeep) {
    return std::make_unique<McAdamsMethod>(options.alpha, std::move(draws));
  }
  std::optional<VoiceProfile> profile;
  if (!options.profile.empty()) {
    profile = ParseProfile(ReadTextFile(options.profile), options.profile.string());
  }
  TargetVoices targets(ReadPool(options.pool), std::move(draws), pitch, options.target_gender,
                       std::move(profile));
  const VocoderTransformOptions vocoder{options.f0_method, options.block_s, 1.0};
  if (options.method == "mcadams") {
    return std::make_unique<McAdamsMethod>(options.alpha, std::move(targets), vocoder);
  }
  if (options.method == "voicemask") {
    return std::make_unique<VoiceMaskMethod>(VoiceMaskOptions{}, std::move(targets), vocoder);
  }
  return std::make_unique<VtlnMethod>(std::move(targets), vocoder);
}

McAdamsMethod::McAdamsMethod(Range alpha, TargetDraws draws)
    : alpha_(alpha), draws_(std::move(draws)) {
  for (const double end : {alpha.lo, alpha.hi}) {
    McAdamsOptions options;
    options.alpha = end;
    options.Validate();
  }
}

McAdamsMethod::McAdamsMethod(Range alpha, TargetVoices targets,
                             const VocoderTransformOptions& vocoder)
    : McAdamsMethod(alpha, targets.Draws()) {
  targets_ = std::move(targets);
  vocoder_ = vocoder;
}

bool McAdamsMethod::NeedsFit() const {
  return targets_ && targets_->NeedsFit(/*needs_classes=*/false);
}

void McAdamsMethod::Fit(SourceVoices sources) {
  if (targets_) targets_->Fit(std::move(sources));
}

std::unique_ptr<StreamTransformer> McAdamsMethod::MakeChannel(int rate_hz, double peak_limit,
                                                              const std::string& speaker,
                                                              const std::string& utterance,
                                                              std::size_t /*channel*/) const {
  McAdamsOptions options;
  options.alpha = alpha_.IsFixed()
                      ? alpha_.lo
                      : draws_.Uniform("alpha", alpha_.lo, alpha_.hi, speaker, utterance);
  options.peak_limit = peak_limit;
  auto mcadams = MakeMcAdams(rate_hz, options);
  if (!targets_) return mcadams;
  VocoderTransformOptions vocoder = vocoder_;
  vocoder.peak_limit = peak_limit;
  const PitchMap pitch = targets_->Pitch(speaker, utterance);
  return MakeChain(std::move(mcadams),
                   MakeVocoderTransformer(rate_hz, PitchEditor(pitch), vocoder));
}

VoiceMaskMethod::VoiceMaskMethod(VoiceMaskOptions warp, TargetVoices targets,
                                 const VocoderTransformOptions& vocoder)
    : warp_(warp), targets_(std::move(targets)), vocoder_(vocoder) {
  warp_.Validate();
}

std::unique_ptr<StreamTransformer> VoiceMaskMethod::MakeChannel(int rate_hz, double peak_limit,
                                                                const std::string& speaker,
                                                                const std::string& utterance,
                                                                std::size_t /*channel*/) const {
  const auto warp = DrawVoiceMask(targets_.Draws(), warp_, speaker, utterance);
  VocoderTransformOptions vocoder = vocoder_;
  vocoder.peak_limit = peak_limit;
  return MakeVocoderTransformer(rate_hz, VoiceMaskEditor(warp, targets_.Pitch(speaker, utterance)),
                                vocoder);
}

VtlnMethod::VtlnMethod(TargetVoices targets, const VocoderTransformOptions& vocoder)
    : targets_(std::move(targets)), vocoder_(vocoder) {}

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

}  // namespace sotto
