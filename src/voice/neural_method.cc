#include "voice/neural_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "voice/live_voice.h"
#include "voice/neural_nets.h"
#include "voice/vocoder_definition.h"

namespace sotto {
namespace {

Error NotFitted(const std::string& speaker) {
  return Error(fmt::format("the method has not been fitted to '{}'", speaker));
}

}  // namespace

NeuralMethod::NeuralMethod(const VoiceOptions& options, TargetDraws draws, NeuralKind kind,
                           const TargetRules& rules)
    : o_(ReadNeuralOptions(options)),
      gender_(AskedGender(options)),
      pitch_(AskedPitch(options)),
      draws_(std::move(draws)) {
  double nearest = kNearestVoice;
  if (kind == NeuralKind::kAdain) {
    AdainNets nets = OpenAdainNets(o_);
    models_ = std::move(nets.models);
    nearest = std::max(nearest, UsualNearest(nets.pool));
    pool_ = std::make_shared<const SpeakerPool>(std::move(nets.pool));
  } else {
    NeuralNets nets = OpenNeuralNets(o_);
    models_ = live_ = std::move(nets.models);
    pool_ = std::make_shared<const SpeakerPool>(std::move(nets.pool));
  }
  targets_ = rules.Find(options.Value("target"))->Make(pool_, nearest, options, draws_);
  if (o_.teacher) {
    const ModelFolders models = ModelFolders::Default(o_.models, o_.trust_models);
    teacher_ = std::make_shared<MoonshineContent>(OnnxRuntime::Open(models), models);
  }
}

FitNeeds NeuralMethod::Needs() const {
  if (sources_) return {};
  const bool by_gender = gender_ != TargetGender::kRandom;
  return {.voices = by_gender, .genders = by_gender, .encoder = targets_->Encoder()};
}

Gender NeuralMethod::SourceGender(const std::string& speaker) const {
  if (gender_ == TargetGender::kRandom) return Gender::kUnknown;
  if (!sources_) throw NotFitted(speaker);
  const VoiceModel& source = sources_->Find(speaker);
  if (source.gender != Gender::kUnknown) return source.gender;
  return GuessGender(source.log_f0_mean, pool_->voices);
}

SpeakerVoice NeuralMethod::Target(const std::string& speaker, const std::string& utterance,
                                  std::size_t pause) const {
  const TargetUnit unit{speaker, utterance, pause};
  const Gender gender =
      TargetGenderFor(draws_, gender_, SourceGender(speaker), speaker, unit.Name());
  if (targets_->Encoder() != nullptr && !sources_) throw NotFitted(speaker);
  return targets_->Draw(unit, gender, sources_ ? &*sources_ : nullptr);
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
  return MakeLiveTransformer(rate_hz, live_, options,
                             [method = std::make_shared<const NeuralMethod>(*this), speaker,
                              utterance, last = targets_->MostVoices() - 1](std::size_t pause) {
                               return method->Target(speaker, utterance, std::min(pause, last));
                             });
}

}  // namespace sotto
