#include "voice/neural_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "speaker/encoder.h"
#include "voice/adain_nets.h"
#include "voice/live_voice.h"
#include "voice/neural_nets.h"

namespace sotto {
namespace {

constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

}  // namespace

NeuralMethod::NeuralMethod(const NeuralOptions& options, TargetGender gender, PitchMode pitch,
                           TargetDraws draws, NeuralKind kind)
    : o_(options), gender_(gender), pitch_(pitch), draws_(std::move(draws)) {
  const bool after_pauses = o_.streaming && draws_.How() == Strategy::kRandom;
  ledger_ =
      std::make_shared<DrawLedger>(after_pauses ? o_.max_draws : std::optional<std::size_t>(1));
  double nearest = kNearestVoice;
  if (kind == NeuralKind::kAdain) {
    AdainNets nets = OpenAdainNets(o_);
    models_ = std::move(nets.models);
    pool_ = std::move(nets.pool);
    nearest = std::max(nearest, UsualNearest(pool_));
  } else {
    NeuralNets nets = OpenNeuralNets(o_);
    models_ = live_ = std::move(nets.models);
    pool_ = std::move(nets.pool);
  }
  if (o_.target == NeuralTarget::kGenerated) generator_.emplace(pool_, nearest);
  if (o_.target == NeuralTarget::kVoiceInd) {
    voice_ind_.emplace(pool_, o_.eps.value_or(0.0));
    encoder_ = OpenEncoder(kDefaultEncoder);
    if (encoder_->WeightsFingerprint() != pool_.encoder) {
      throw Error(
          fmt::format("target voice-ind: the pool's embeddings were made by an encoder with the "
                      "weights '{}', the program's has '{}'",
                      pool_.encoder, encoder_->WeightsFingerprint()));
    }
  }
  if (o_.teacher) {
    const ModelFolders models = ModelFolders::Default(o_.models, o_.trust_models);
    teacher_ = std::make_shared<MoonshineContent>(OnnxRuntime::Open(models), models);
  }
}

FitNeeds NeuralMethod::Needs() const {
  if (sources_) return {};
  return {.voices = gender_ != TargetGender::kRandom, .encoder = encoder_.get()};
}

Gender NeuralMethod::SourceGender(const std::string& speaker) const {
  if (gender_ == TargetGender::kRandom) return Gender::kUnknown;
  if (!sources_) throw Error(fmt::format("the method has not been fitted to '{}'", speaker));
  const VoiceModel& source = sources_->Find(speaker);
  if (source.gender != Gender::kUnknown) return source.gender;
  // Guessed: the gender whose voices in the pool have the nearer mean pitch.
  std::array<double, 2> sum{}, count{};
  for (const SpeakerVoice& voice : pool_.voices) {
    const std::size_t i = voice.gender == Gender::kFemale ? 0 : 1;
    sum[i] += voice.log_f0_mean;
    count[i] += 1.0;
  }
  const auto distance = [&](std::size_t i) {
    return std::abs(sum[i] / std::max(1.0, count[i]) - source.log_f0_mean);
  };
  return distance(0) < distance(1) ? Gender::kFemale : Gender::kMale;
}

void NeuralMethod::RefuseSpeakers(const std::vector<std::string>& speakers) const {
  if (!voice_ind_) return;
  for (const std::string& speaker : speakers) {
    for (const SpeakerVoice& voice : pool_.voices) {
      if (voice.name != speaker) continue;
      throw Error(
          fmt::format("target voice-ind: speaker '{}' has the name of a voice of the pool, and the "
                      "bound holds for a pool without the protected speakers (--target-pool, or "
                      "another name where it is another person)",
                      speaker));
    }
  }
}

SpeakerVoice NeuralMethod::TargetBySource(Gender gender, const std::string& speaker,
                                          const std::string& utterance, std::size_t pause) const {
  if (!sources_) throw Error(fmt::format("the method has not been fitted to '{}'", speaker));
  const bool per_speaker = draws_.How() == Strategy::kPerm;
  const std::vector<float> source =
      per_speaker ? sources_->MeanPrint(speaker) : sources_->Print(speaker, utterance);
  // Names that no utterance's id can make alike.
  ledger_->Enter(utterance,
                 {speaker, per_speaker  ? ""
                           : pause == 0 ? fmt::format("beginning of {}", utterance)
                                        : fmt::format("pause {} of {}", pause, utterance)});
  return pool_.voices[voice_ind_->Draw(draws_, gender, speaker, utterance, source, pause)];
}

SpeakerVoice NeuralMethod::Target(const std::string& speaker, const std::string& utterance,
                                  std::size_t pause) const {
  // After a pause another utterance begins, as far as draws without a look at the source are
  // concerned.
  const std::string name =
      pause == 0 ? utterance : fmt::format("{} after pause {}", utterance, pause);
  const Gender gender = TargetGenderFor(draws_, gender_, SourceGender(speaker), speaker, name);
  if (generator_) return generator_->Draw(draws_, gender, speaker, name);
  if (voice_ind_) return TargetBySource(gender, speaker, utterance, pause);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < pool_.voices.size(); ++i) {
    if (pool_.voices[i].gender == gender) candidates.push_back(i);
  }
  if (candidates.empty()) throw Error("the pool has no voice of the target's gender");
  const double place =
      draws_.Uniform("target", 0.0, static_cast<double>(candidates.size()), speaker, name);
  return pool_.voices[candidates[std::min(static_cast<std::size_t>(place), candidates.size() - 1)]];
}

std::unique_ptr<StreamTransformer> NeuralMethod::MakeChannel(int rate_hz, double peak_limit,
                                                             const std::string& speaker,
                                                             const std::string& utterance,
                                                             std::size_t channel) const {
  NeuralVoiceOptions options;
  options.target = Target(speaker, utterance);
  options.pitch = pitch_;
  options.peak_limit = peak_limit;
  options.teacher = teacher_;
  if (o_.bend_semitones > 0.0) {
    options.bend.emplace_back(draws_, o_.bend_semitones, speaker, utterance);
  }
  // Shared by two channels it would go away in their difference.
  options.content_key = draws_.Derive(
      channel == 0 ? "content noise" : fmt::format("content noise of channel {}", channel),
      utterance);
  // Whatever the strategy, another noise for each utterance: its name is part of the parameter.
  options.noise_seed = static_cast<std::uint64_t>(
      draws_.Uniform("noise of " + utterance, 0.0, 0x1.0p53, speaker, utterance));
  if (!o_.streaming) return MakeNeuralTransformer(rate_hz, models_, options);
  // A copy, since the transformer may outlive the method.
  return MakeLiveTransformer(
      rate_hz, live_, options,
      [method = std::make_shared<const NeuralMethod>(*this), speaker, utterance,
       last = o_.max_draws.value_or(kUnbounded) - 1](std::size_t pause) {
        return method->Target(speaker, utterance, std::min(pause, last));
      });
}

}  // namespace sotto
