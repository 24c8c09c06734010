// A way to protect a voice, ready to transform: what `sotto anonymise --method` chooses.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "voice/draw_ledger.h"
#include "voice/mcadams.h"
#include "voice/source_voices.h"
#include "voice/targets.h"
#include "voice/transformer.h"
#include "voice/vocoder_transformer.h"
#include "voice/warp.h"

namespace sotto {

class SpeakerEncoder;

// The house contract: build once in the lab (sotto build), fit to a user where the method needs it,
// transform.
class VoiceMethod {
 public:
  virtual ~VoiceMethod() = default;
  // True when the voices to be protected must be known (Fit) before the first MakeTransformer.
  virtual bool NeedsFit() const { return false; }
  virtual void Fit(SourceVoices /*sources*/) {}  // NOLINT(performance-unnecessary-value-param)
  // Where given, the sources must come with the embeddings of their utterances by this encoder.
  virtual const SpeakerEncoder* FitEncoder() const { return nullptr; }
  // Throws Error when one of these speakers may not be protected by this method.
  virtual void RefuseSpeakers(const std::vector<std::string>& /*speakers*/) const {}
  // The draws made for this utterance that looked at the source, each of which costs epsilon; empty
  // for methods that draw without a look. From any thread, once its transformers have finished.
  virtual std::vector<TargetDraw> DrawsMade(const std::string& /*utterance*/) const { return {}; }
  // A transformer for one channel of one utterance. All channels of an utterance get the same
  // target; noise that protects differs by `channel`. Error when the method could not be fitted to
  // the speaker.
  std::unique_ptr<StreamTransformer> MakeTransformer(int rate_hz, double peak_limit,
                                                     const std::string& speaker,
                                                     const std::string& utterance,
                                                     std::size_t channel = 0) const {
    return MakeChannel(rate_hz, peak_limit, speaker, utterance, channel);
  }

 private:
  virtual std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                         const std::string& speaker,
                                                         const std::string& utterance,
                                                         std::size_t channel) const = 0;
};

// A value, or a range to draw from: "0.8" or "0.5:0.9".
struct Range {
  double lo = 0.5;
  double hi = 0.9;
  bool IsFixed() const { return lo == hi; }
  std::string Text() const;
  // Error unless both are numbers and lo ≤ hi.
  static Range Parse(const std::string& text, const std::string& name);
};

// What a user may ask of mcadams. At 0.3 formants from 300 to 4000 Hz lie between 1300 and 2900 at
// 16 kHz, and vowels are hardly told apart; at 1.2 angles above 6600 Hz meet the end of the axis
// (at 2: above 4500). The literature takes 0.5 to 0.9. McAdamsOptions allows more: inverses need
// it, and records of earlier versions may say it.
inline constexpr double kLeastAlpha = 0.3;
inline constexpr double kMostAlpha = 1.2;
// Throws Error unless both ends are allowed.
void RequireAskedAlpha(const Range& alpha);

// "fast" or "robust".
const char* Name(F0Method method);

// Where the neural method's target comes from: a voice drawn from a distribution, one of a pool
// whatever the source, or one of a pool by the source's embedding (voice/voice_ind_targets.h).
enum class NeuralTarget { kGenerated, kPool, kVoiceInd };
// "generated", "pool", "voice-ind"; Error for anything else.
NeuralTarget ParseNeuralTarget(std::string_view name);
const char* Name(NeuralTarget target);

// The methods that speak by nets: neural (content encoder and synthesiser), adain (one net).
enum class NeuralKind { kSynth, kAdain };

// What these methods are told beside the rest (voice/neural_method.h).
struct NeuralOptions {
  std::filesystem::path folder;       // of the nets; empty: those in the program
  std::filesystem::path target_pool;  // empty: the voices beside the nets
  NeuralTarget target = NeuralTarget::kGenerated;
  std::optional<double> eps;     // of kVoiceInd, which has no default
  bool teacher = false;          // content by Moonshine instead of the student
  std::filesystem::path models;  // where Moonshine lies; empty: the usual folders
  bool trust_models = false;     // taken as they are (onnx/models.h)
  double bend_semitones = 0.0;   // of the contour
  bool streaming = false;        // as speech comes, by nets of their own (voice/live_voice.h)
  // kVoiceInd with streaming and strategy random: draws for an utterance at most, after which its
  // last target is held. Not given: another after every pause (releases of earlier versions).
  std::optional<std::size_t> max_draws;
};

// What a run of any method is told.
struct VoiceOptions {
  std::string method = "mcadams";  // mcadams, voicemask, vtln, neural, adain
  Range alpha;                     // of mcadams
  // Not given: keep; target for vtln, neural and adain, whose conversion includes it, and where a
  // target gender is asked for.
  std::optional<PitchMode> pitch;
  TargetGender target_gender = TargetGender::kRandom;
  std::filesystem::path pool;     // empty: the default pool
  std::filesystem::path profile;  // empty: fitted from the corpus itself, where that is needed
  F0Method f0_method = F0Method::kFast;
  double block_s = kFileBlockS;  // of the vocoder's analysis
  NeuralOptions neural;

  PitchMode Pitch() const;
  bool IsAdain() const { return method == "adain"; }
  // By nets: neural or adain.
  bool IsNeural() const { return method == "neural" || IsAdain(); }
  bool UsesVocoder() const {
    return !IsNeural() && (method != "mcadams" || Pitch() != PitchMode::kKeep);
  }
  bool UsesTargetVoices() const {
    return !IsNeural() && (method == "vtln" || Pitch() == PitchMode::kTarget);
  }
  // All that changes what comes out, the contents of pool and profile included: an interrupted run
  // is taken up only by the same.
  std::string Text() const;
  // Throws Error for an unknown method, or a target gender where no target voice is used.
  void Validate() const;
};

// Throws Error when these options cannot be asked for with this strategy: a target that is chosen
// by the source wants one, and one that is drawn anew after pauses a bound on its draws. A record
// of an earlier version may say what is refused here.
void RequireStrategy(const VoiceOptions& options, Strategy strategy);

// Reads the pool and the profile where the options need them. Throws Error as they and Validate do.
std::unique_ptr<VoiceMethod> MakeVoiceMethod(const VoiceOptions& options, TargetDraws draws);

// The transformer alone where the pitch stays, which keeps its 30 ms of latency; otherwise a
// vocoder behind it changes the pitch.
class McAdamsMethod : public VoiceMethod {
 public:
  // Throws Error when the range leaves what McAdamsOptions allows.
  McAdamsMethod(Range alpha, TargetDraws draws);
  McAdamsMethod(Range alpha, TargetVoices targets, const VocoderTransformOptions& vocoder);
  bool NeedsFit() const override;
  void Fit(SourceVoices sources) override;

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;

  Range alpha_;
  TargetDraws draws_;
  std::optional<TargetVoices> targets_;  // where the pitch does not stay
  VocoderTransformOptions vocoder_;
};

class VoiceMaskMethod : public VoiceMethod {
 public:
  VoiceMaskMethod(VoiceMaskOptions warp, TargetVoices targets,
                  const VocoderTransformOptions& vocoder);
  bool NeedsFit() const override { return targets_.NeedsFit(/*needs_classes=*/false); }
  void Fit(SourceVoices sources) override { targets_.Fit(std::move(sources)); }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;

  VoiceMaskOptions warp_;
  TargetVoices targets_;
  VocoderTransformOptions vocoder_;
};

class VtlnMethod : public VoiceMethod {
 public:
  VtlnMethod(TargetVoices targets, const VocoderTransformOptions& vocoder);
  bool NeedsFit() const override { return targets_.NeedsFit(/*needs_classes=*/true); }
  void Fit(SourceVoices sources) override { targets_.Fit(std::move(sources)); }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override;

  TargetVoices targets_;
  VocoderTransformOptions vocoder_;
};

}  // namespace sotto
