// What the trainings of the two nets that make waveforms share (synth_trainer.h, adain_trainer.h).
// Crops are resynthesised and compared with the recording by log-mel spectra and, from a part of
// the run on, by critics (spectral_losses.h) that learn along. A part of each batch is converted to
// another speaker of the batch, or to a voice between two, with F0 moved to that level: no
// recording says how that sounds, so the critics and further judges of each net's own do.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "learn/spectral_losses.h"
#include "learn/speech_data.h"
#include "learn/trainer.h"
#include "nn/synth.h"

namespace sotto {

struct ResynthesisOptions {
  std::int64_t batch = 32;
  // Of 10 ms, even: those that are compared, and further ones at either end that the net sees.
  std::int64_t frames = 64, margin = 16;
  double content_noise = 0.0;  // deviation of noise added to the content
  double mel_weight = 15.0, feature_weight = 2.0, critic_weight = 1.0;
  double critics_from = 0.08;  // part of the run after which critics judge and voices are converted
  std::int64_t critic_channels = 24;
  std::int64_t converted = 8;                         // crops of a batch that are converted as well
  double mixed = 0.5;                                 // of these: to a voice between two speakers
  double speaker_weight = 1.0, content_weight = 1.0;  // of what conversions are judged by

  static const OptionTable<ResynthesisOptions>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

// Whose voices the first rows of a batch get: those half a batch further on, which are others since
// batches are shuffled, or, a `mixed` share, ones on the way from there to those a quarter further,
// since the voices asked for in use belong to nobody.
struct Targets {
  Targets(const Crops& crops, std::int64_t rows, double mixed);
  // Of the batch's voices (batch × size × 1), of the same length again.
  torch::Tensor Voices(const torch::Tensor& of) const;
  // Of the batch's ln F0 (batch × 1).
  torch::Tensor Pitch(const torch::Tensor& of) const;

  torch::Tensor one, two, angle;
};

using SpeechInput = SynthInput<torch::Tensor>;

// All rows of both.
SpeechInput Joined(const SpeechInput& a, const SpeechInput& b);

// The synthesiser's sources (nn/source.h) for batches: batch × frames of F0 (Hz, above 0) to batch
// × frames·160 samples. `phase` (batch) is where each begins.
torch::Tensor HarmonicSources(const torch::Tensor& f0_hz, const torch::Tensor& phase);

torch::Tensor MeanCosine(const torch::Tensor& a, const torch::Tensor& b);
// Squared error over the power of what was asked for.
double RelativeError(const torch::Tensor& heard, const torch::Tensor& asked);

class Resynthesis {
 public:
  static constexpr std::int64_t kHeldOutCrops = 64, kHeldOutConverted = 32;

  // `data` and `options` are kept by reference.
  Resynthesis(const SpeechData& data, const ResynthesisOptions& options, bool bf16);

  std::int64_t Frames() const { return o_.frames + 2 * o_.margin; }
  std::int64_t ContentFrames() const { return Frames() / 2; }
  Crops Draw(std::int64_t rows) const { return data_.Draw(rows, ContentFrames()); }
  Crops HeldOut() const { return data_.Fixed(kHeldOutCrops, ContentFrames()); }
  // Samples of the frames that are compared.
  torch::Tensor Inner(const torch::Tensor& samples) const;
  // What is to be made: samples of the crops, at the common level.
  torch::Tensor Speech(const Crops& crops, const torch::Tensor& samples) const;
  // F0 and the sources that follow it, at the speakers' own level.
  void SetPitch(const Crops& crops, SpeechInput& input) const;
  // The same of the first crops, moved to the targets' level.
  SpeechInput Converted(const Crops& crops, const Targets& targets) const;
  std::int64_t ConvertedRows(const Moment& now) const { return Judged(now) ? o_.converted : 0; }

  // The critics' layers come into being.
  void BeginCritics(const torch::Tensor& speech);
  Learner CriticLearner() { return {"critics", critic_weights_.get(), nullptr}; }
  // By mel spectra and critics, who learn from it: `made` (inner frames) and in its first rows the
  // `speech` that it is compared with.
  Losses Compare(const torch::Tensor& made, const torch::Tensor& speech, const Moment& now);
  // The means of what Compare showed, and what was measured.
  static std::vector<ValidationFigure> Figures(const std::vector<double>& means,
                                               const std::vector<ValidationFigure>& measured);
  double Distance(const torch::Tensor& made, const torch::Tensor& speech) const {
    return distance_(made, speech).item<double>();
  }

 private:
  bool Judged(const Moment& now) const { return now.progress >= o_.critics_from; }
  static void SetPitch(const torch::Tensor& f0, const torch::Tensor& voiced, SpeechInput& input);

  const SpeechData& data_;
  const ResynthesisOptions& o_;
  MelDistance distance_;
  Critics critics_;
  std::unique_ptr<FlatParameters> critic_weights_;
  torch::Tensor none_;
};

}  // namespace sotto
