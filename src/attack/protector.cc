#include "attack/protector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/digest.h"
#include "dsp/vocoder.h"
#include "voice/mcadams.h"
#include "voice/source_voices.h"
#include "voice/vocoder_transformer.h"
#include "voice/warp.h"

namespace sotto {
namespace {

constexpr double kPeakLimit = 1.0;

TargetDraws Draws(const VoiceOptions& voice, Strategy strategy, const Key& key,
                  const std::string& context) {
  return {key, strategy, voice.method, context};
}

// Every envelope by one warp; the pitch stays.
class WarpFrames : public FrameEditor {
 public:
  WarpFrames(int rate_hz, const std::function<double(double)>& warp)
      : warp_(VocoderFftSize(rate_hz) / 2 + 1, rate_hz / 2.0, warp) {}
  void Edit(VocoderFrames& frames) override {
    scratch_.resize(frames.Bins());
    for (std::size_t t = 0; t < frames.Frames(); ++t) {
      const std::span<float> envelope = frames.Envelope(t);
      std::copy(envelope.begin(), envelope.end(), scratch_.begin());
      warp_.Apply(scratch_, envelope);
    }
  }

 private:
  const SpectrumWarp warp_;
  std::vector<float> scratch_;
};

SoundChange WarpBy(std::function<double(double)> warp, F0Method f0_method) {
  return [warp = std::move(warp), f0_method](int rate_hz, const Utterance&) {
    const MakeFrameEditor editor = [&warp](int rate) {
      return std::make_unique<WarpFrames>(rate, warp);
    };
    return MakeVocoderTransformer(rate_hz, editor, {f0_method, kFileBlockS, kPeakLimit});
  };
}

std::vector<Undoing> UndoMcAdams(const VoiceOptions& voice, int points) {
  std::vector<Undoing> grid;
  if (voice.alpha.IsFixed()) points = 1;
  for (int i = 0; i < points; ++i) {
    // Midpoints of equal parts of the range.
    const double alpha = voice.alpha.lo + (voice.alpha.hi - voice.alpha.lo) * (i + 0.5) / points;
    McAdamsOptions options;
    options.alpha = std::clamp(1.0 / alpha, McAdamsOptions::kMinAlpha, McAdamsOptions::kMaxAlpha);
    grid.push_back({fmt::format("alpha {:.3g}", alpha), [options](int rate_hz, const Utterance&) {
                      return MakeMcAdams(rate_hz, options);
                    }});
  }
  return grid;
}

std::vector<Undoing> UndoVoiceMask(const VoiceOptions& voice, int points) {
  std::vector<Undoing> grid;
  const VoiceMaskOptions ranges;
  const double size = 0.5 * (ranges.min_alpha + ranges.max_alpha);
  for (const double alpha : {-size, size}) {
    for (const BetaInterval& betas : AllowedBetas(alpha, ranges)) {
      for (int i = 0; i < points; ++i) {
        const double beta = betas.lo + (betas.hi - betas.lo) * (i + 0.5) / points;
        const auto forward = [alpha, beta](double omega) {
          return VoiceMaskWarp(omega, alpha, beta);
        };
        grid.push_back({fmt::format("alpha {:.3g}, beta {:.3g}", alpha, beta),
                        WarpBy([forward](double omega) { return InverseWarp(forward, omega); },
                               voice.f0_method)});
      }
    }
  }
  return grid;
}

std::vector<Undoing> UndoVtln(const VoiceOptions& voice, int points) {
  std::vector<Undoing> grid;
  constexpr double kLow = -0.12, kHigh = 0.10;  // card 1
  for (int i = 0; i < points; ++i) {
    const double a = kLow + (kHigh - kLow) * i / (points - 1);
    // (ω/π)^{1−a} is undone by the power 1/(1−a) = 1 − a'.
    const double inverse = 1.0 - 1.0 / (1.0 - a);
    grid.push_back(
        {fmt::format("a {:.3g}", a),
         WarpBy([inverse](double omega) { return PowerWarp(omega, inverse); }, voice.f0_method)});
  }
  return grid;
}

}  // namespace

Corpus OnlyUtterances(const Corpus& corpus, const std::set<std::string>& ids) {
  Corpus part = corpus;
  part.recordings.clear();
  part.rows.clear();
  part.utterances = 0;
  std::set<std::string> speakers;
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    Recording recording = corpus.recordings[i];
    std::erase_if(recording.spans, [&](const Span& span) { return !ids.contains(span.utterance); });
    if (recording.spans.empty()) continue;
    for (const Span& span : recording.spans) speakers.insert(span.speaker);
    part.utterances += recording.spans.size();
    part.recordings.push_back(std::move(recording));
    if (!corpus.rows.empty()) part.rows.push_back(corpus.rows[i]);
  }
  part.speakers.assign(speakers.begin(), speakers.end());
  return part;
}

ModelledVoices ModelFor(const VoiceOptions& voice, const Corpus& corpus, int jobs) {
  const auto method =
      MakeVoiceMethod(voice, Draws(voice, Strategy::kPerm, Key::FromExperimentSeed(0), ""));
  if (!method->NeedsFit()) return {};
  ModelledVoices modelled = ModelVoices(corpus, {.f0_method = voice.f0_method, .jobs = jobs});
  if (method->FitEncoder() != nullptr) {
    modelled.prints = EmbedVoices(corpus, *method->FitEncoder(), jobs);
  }
  return modelled;
}

Protector::Protector(const VoiceOptions& voice, Strategy strategy, const Key& key,
                     const std::string& context, const ModelledVoices& voices) {
  std::unique_ptr<VoiceMethod> method =
      MakeVoiceMethod(voice, Draws(voice, strategy, key, context));
  std::string fitted;
  if (method->NeedsFit()) {
    for (const VoiceModel& model : voices.voices) {
      fitted += fmt::format("{} {} {} ", model.name, model.log_f0_mean, model.log_f0_deviation);
      fitted.append(reinterpret_cast<const char*>(model.centroids.data()),
                    model.centroids.size() * sizeof(float));
    }
    const EmbeddingSet& prints = voices.prints.set;
    for (const std::string& id : prints.ids) fitted += id + " ";
    fitted.append(reinterpret_cast<const char*>(prints.vectors.data()),
                  static_cast<std::size_t>(prints.vectors.size()) * sizeof(float));
    // Who draws as for a trial does not have its embedding: the mean of the enrolment stands for
    // it.
    method->Fit(SourceVoices(voices, UnknownPrint::kMeanOfSpeaker));
  }
  method_ = std::move(method);
  text_ = fmt::format("{}\t{}\t{}\t{}", voice.Text(), Name(strategy),
                      key.Name({"sotto attack cache 1", context}, 32), ContentDigest(fitted));
}

SoundChange Protector::Change() const {
  return [method = method_](int rate_hz, const Utterance& utterance) {
    return method->MakeTransformer(rate_hz, kPeakLimit, utterance.speaker, utterance.id);
  };
}

SoundChange Protector::ChangeAs(const std::string& id) const {
  return [method = method_, id](int rate_hz, const Utterance& utterance) {
    return method->MakeTransformer(rate_hz, kPeakLimit, utterance.speaker, id);
  };
}

std::vector<Undoing> UndoGrid(const VoiceOptions& voice, bool quick) {
  if (voice.IsNeural()) return {};
  if (voice.method == "mcadams") return UndoMcAdams(voice, quick ? 4 : 8);
  if (voice.method == "voicemask") return UndoVoiceMask(voice, quick ? 1 : 3);
  return UndoVtln(voice, quick ? 5 : 12);
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

}  // namespace sotto
