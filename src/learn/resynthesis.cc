#include "learn/resynthesis.h"

#include <cmath>
#include <numbers>

#include "nn/source.h"

namespace sotto {

using torch::Tensor;

const OptionTable<ResynthesisOptions>& ResynthesisOptions::Table() {
  using R = ResynthesisOptions;
  static const OptionTable<R> table = {
      {"batch", &R::batch, "Crops of a batch", 2},
      {"frames", &R::frames, "Frames of 10 ms in a crop, an even number", 14},
      {"margin", &R::margin, "Further frames at either end that the net sees, an even number"},
      {"content_noise", &R::content_noise,
       "Deviation of noise added to the content in training (synth: in use, too)"},
      {"mel_weight", &R::mel_weight, "Weight of the distance of mel spectra"},
      {"feature_weight", &R::feature_weight, "Weight of the distance in the critics' inner layers"},
      {"critic_weight", &R::critic_weight, "Weight of the critics' verdict"},
      {"critics_from", &R::critics_from,
       "Part of the run after which critics judge and voices are converted"},
      {"critic_channels", &R::critic_channels, "Width of the critics", 1},
      {"converted", &R::converted, "Crops of a batch that are converted as well"},
      {"mixed", &R::mixed, "Share of these that gets a voice between two speakers", 0, 1},
      {"speaker_weight", &R::speaker_weight,
       "Weight of the distance of a conversion's voice from the one asked for"},
      {"content_weight", &R::content_weight,
       "Weight of the distance of a conversion's content from its source's"},
  };
  return table;
}

void ResynthesisOptions::Validate() const {
  RequireRanges(Table(), *this);
  if (frames % 2 != 0 || margin % 2 != 0) throw Error("frames and margin are even numbers");
  if (converted > batch) throw Error("converted crops are a part of the batch");
}

Targets::Targets(const Crops& crops, std::int64_t rows, double mixed) {
  const std::int64_t all = crops.start.size(0);
  const Tensor row = torch::arange(rows, crops.start.options());
  one = torch::remainder(row + all / 2, all);
  two = torch::remainder(row + all / 2 + all / 4, all);
  const auto options = crops.start.options().dtype(torch::kFloat32);
  angle = torch::rand({rows, 1}, options) * (0.5 * std::numbers::pi);
  angle = torch::where(torch::rand({rows, 1}, options) < mixed, angle, torch::zeros_like(angle));
}

Tensor Targets::Voices(const Tensor& of) const {
  return UnitEmbeddings(of.index_select(0, one) * angle.cos().unsqueeze(2) +
                        of.index_select(0, two) * angle.sin().unsqueeze(2));
}

Tensor Targets::Pitch(const Tensor& of) const {
  return of.index_select(0, one) * angle.cos().square() +
         of.index_select(0, two) * angle.sin().square();
}

SpeechInput Joined(const SpeechInput& a, const SpeechInput& b) {
  return {torch::cat({a.content, b.content}), torch::cat({a.pitch, b.pitch}),
          torch::cat({a.harmonic, b.harmonic}), torch::cat({a.noise, b.noise}),
          torch::cat({a.embedding, b.embedding})};
}

Tensor HarmonicSources(const Tensor& f0_hz, const Tensor& phase) {
  const std::int64_t frames = f0_hz.size(1), hop = kSynthHop, half = hop / 2;
  const Tensor log_f0 = f0_hz.to(torch::kFloat64).log();
  // Between the centres of frames; the ends stand still.
  const Tensor share = torch::arange(hop, log_f0.options()) / static_cast<double>(hop);
  const Tensor from = log_f0.narrow(1, 0, frames - 1).unsqueeze(2);
  const Tensor to = log_f0.narrow(1, 1, frames - 1).unsqueeze(2);
  const Tensor between = (from + (to - from) * share).reshape({f0_hz.size(0), -1});
  const Tensor f0 = torch::cat({log_f0.narrow(1, 0, 1).expand({-1, half}), between,
                                log_f0.narrow(1, frames - 1, 1).expand({-1, half})},
                               1)
                        .exp();
  constexpr double kTurn = 2.0 * std::numbers::pi;
  const Tensor angle =
      torch::remainder(torch::cumsum(f0 * (kTurn / kSynthRateHz), 1) + phase.unsqueeze(1), kTurn);
  const Tensor k = torch::floor(kHighestHarmonicHz / f0).clamp_min(1.0);
  const Tensor below = 2.0 * torch::sin(0.5 * angle);
  const Tensor flat = below.abs() < 1e-5;
  const Tensor sum = torch::where(
      flat, k,
      torch::sin((k + 0.5) * angle) / torch::where(flat, torch::ones_like(below), below) - 0.5);
  return ((2.0 / k).sqrt() * sum).to(torch::kFloat32);
}

Tensor MeanCosine(const Tensor& a, const Tensor& b) {
  return torch::cosine_similarity(a, b, 1).mean();
}

double RelativeError(const Tensor& heard, const Tensor& asked) {
  return ((heard - asked).square().mean() / asked.square().mean()).item<double>();
}

Resynthesis::Resynthesis(const SpeechData& data, const ResynthesisOptions& options, bool bf16)
    : data_(data),
      o_(options),
      distance_(data.Device()),
      critics_(options.critic_channels, data.Device()),
      none_(torch::zeros({}, torch::TensorOptions(data.Device()))) {
  if (bf16) critics_.backend.SetWork(torch::kBFloat16);
}

Tensor Resynthesis::Inner(const Tensor& samples) const {
  return samples.narrow(1, o_.margin * kSynthHop, o_.frames * kSynthHop);
}

Tensor Resynthesis::Speech(const Crops& crops, const Tensor& samples) const {
  return Inner(samples) * data_.LevelGain(crops);
}

void Resynthesis::SetPitch(const Tensor& f0, const Tensor& voiced, SpeechInput& input) {
  const Tensor phase =
      torch::rand({f0.size(0)}, f0.options().dtype(torch::kFloat64)) * (2.0 * std::numbers::pi);
  input.pitch = torch::stack({(f0.log() - std::log(kNeutralF0Hz)) / 0.5, voiced}, 1);
  input.harmonic = HarmonicSources(f0, phase).unsqueeze(1);
  input.noise = torch::randn_like(input.harmonic);
}

void Resynthesis::SetPitch(const Crops& crops, SpeechInput& input) const {
  SetPitch(data_.F0(crops, Frames()), data_.Voiced(crops, Frames()), input);
}

SpeechInput Resynthesis::Converted(const Crops& crops, const Targets& targets) const {
  const std::int64_t rows = targets.one.size(0);
  const Tensor pitch = data_.SpeakerPitch(crops);
  const Tensor shift = (targets.Pitch(pitch) - pitch.narrow(0, 0, rows)).exp();
  const Crops first{crops.utterance.narrow(0, 0, rows), crops.start.narrow(0, 0, rows)};
  SpeechInput input;
  SetPitch((data_.F0(first, Frames()) * shift).clamp(50.0, 800.0), data_.Voiced(first, Frames()),
           input);
  return input;
}

void Resynthesis::BeginCritics(const Tensor& speech) {
  torch::NoGradGuard no_grad;
  critics_(speech);
  critic_weights_ = std::make_unique<FlatParameters>(critics_.backend);
}

Losses Resynthesis::Compare(const Tensor& made, const Tensor& speech, const Moment& now) {
  const std::int64_t rows = speech.size(0);
  const Tensor mel = distance_(made.narrow(0, 0, rows), speech);
  if (!Judged(now)) return {o_.mel_weight * mel, {mel, none_, none_, none_}};
  critic_weights_->Spread(true);
  const Critics::Verdicts real = critics_(speech);
  const Tensor critic = CriticLoss(real, critics_(made.detach()));
  critic.backward();
  critic_weights_->Step(now.adam);
  critic_weights_->Spread(false);
  const Critics::Verdicts verdicts = critics_(made);
  const Tensor maker = MakerLoss(verdicts), feature = FeatureLoss(real, verdicts, rows);
  return {o_.mel_weight * mel + o_.critic_weight * maker + o_.feature_weight * feature,
          {mel, critic, maker, feature}};
}

std::vector<ValidationFigure> Resynthesis::Figures(const std::vector<double>& means,
                                                   const std::vector<ValidationFigure>& measured) {
  std::vector<ValidationFigure> figures = {{"mel", "  mel {:.4f}", means[0]},
                                           {"critic", "  critic {:.3f}", means[1]},
                                           {"maker", "  maker {:.3f}", means[2]},
                                           {"feature", "  feature {:.3f} | held out:", means[3]}};
  figures.insert(figures.end(), measured.begin(), measured.end());
  return figures;
}

}  // namespace sotto
