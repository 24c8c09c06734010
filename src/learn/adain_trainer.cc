#include "learn/adain_trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "learn/augment.h"
#include "learn/frozen_nets.h"
#include "learn/student.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr TorchMelOptions kMels = kStudentMels;

// The net with weights of its own.
class Converter {
 public:
  Converter(const AdainOptions& options, torch::Device device, bool bf16)
      : backend(device), options_(options) {
    if (bf16) backend.SetWork(torch::kBFloat16);
  }
  Tensor Content(const Tensor& mels) {
    return Adain<TorchBackend>(options_, backend).Content(mels);
  }
  // batch × size × 1, length √size.
  Tensor Speaker(const Tensor& mels) {
    return UnitEmbeddings(Adain<TorchBackend>(options_, backend).Speaker(mels));
  }
  // batch × samples.
  Tensor Speak(const SpeechInput& input) {
    return Adain<TorchBackend>(options_, backend).Speak(input).squeeze(1);
  }
  TorchBackend backend;

 private:
  AdainOptions options_;
};

// What the net hears and what it is to give.
struct Example {
  Tensor mels, voice_mels;
  SpeechInput input;  // without content and embedding
  Tensor speech;      // batch × samples of the inner frames, at the common level
};

// Mean squared cosine of the vectors of different crops.
Tensor Crowding(const Tensor& voices) {
  const Tensor v = voices.squeeze(2) / std::sqrt(static_cast<double>(voices.size(1)));
  const auto n = static_cast<double>(v.size(0));
  const Tensor squares = torch::matmul(v, v.t()).square();
  return (squares.sum() - squares.diagonal().sum()) / (n * (n - 1.0));
}

class AdainLesson : public Lesson {
 public:
  AdainLesson(const Trainer& trainer, const SpeechPack& pack, const FeaturePack& features,
              const TensorFile* encoder, const AdainTraining& options,
              const std::vector<double>& emphasis)
      : o_(options),
        data_(pack, features, o_.hold_out, emphasis, o_.run.seed, trainer.Device()),
        resynthesis_(data_, o_, o_.run.bf16),
        mel_(kMels, trainer.Device()),
        net_(o_.net, trainer.Device(), o_.run.bf16),
        smooth_(o_.net, trainer.Device(), false) {
    if (encoder != nullptr) {
      encoder_.emplace(*encoder, ReadJudge(*encoder, features.embedding_size), trainer.Device());
      encoder_name_ = Fingerprint(*encoder);
    }
    torch::NoGradGuard no_grad;  // layers come into being
    const Example some = Make(resynthesis_.Draw(2), false);
    for (Converter* net : {&net_, &smooth_}) {
      SpeechInput input = some.input;
      input.content = net->Content(some.mels);
      input.embedding = net->Speaker(some.voice_mels);
      net->Speak(input);
    }
    resynthesis_.BeginCritics(some.speech);
    weights_.emplace(net_.backend);
    average_.emplace(smooth_.backend);
  }

  std::vector<Learner> Learners() override {
    return {{"net", &*weights_, &*average_}, resynthesis_.CriticLearner()};
  }
  Losses Batch(const Moment& now) override;
  std::vector<ValidationFigure> Validate(const std::vector<double>& means) override;
  std::string_view Best() const override { return "held_out_mel"; }
  TrainedAdain Result(const Trainer& trainer);

 private:
  Example Make(const Crops& crops, bool fixed) const;
  // What the net's averages and the speaker encoder say of conversions.
  Tensor ConversionLoss(const Tensor& sound, const Tensor& said, const Tensor& asked,
                        const Crops& crops, const Targets& targets);

  const AdainTraining& o_;
  const SpeechData data_;
  Resynthesis resynthesis_;
  TorchMel mel_;
  std::optional<FrozenSpeakerEncoder> encoder_;
  std::string encoder_name_;
  Converter net_, smooth_;
  std::optional<FlatParameters> weights_, average_;
};

Example AdainLesson::Make(const Crops& crops, bool fixed) const {
  Example batch;
  const Tensor samples = data_.Samples(crops, resynthesis_.Frames() * kSynthHop);
  batch.mels = mel_(samples);
  const Crops other = data_.Other(crops, o_.voice_frames / 2, fixed);
  Tensor voice = data_.Samples(other, o_.voice_frames * kSynthHop);
  if (!fixed) {
    batch.mels = WarpMels(batch.mels, o_.warp, kMels.low_hz, kMels.high_hz);
    const Tensor db = (torch::rand({voice.size(0), 1}, voice.options()) * 2.0 - 1.0) * o_.gain_db;
    voice = voice * (db * (std::numbers::ln10 / 20.0)).exp();
  }
  batch.voice_mels = mel_(voice);
  resynthesis_.SetPitch(crops, batch.input);
  batch.speech = resynthesis_.Speech(crops, samples);
  return batch;
}

Tensor AdainLesson::ConversionLoss(const Tensor& sound, const Tensor& said, const Tensor& asked,
                                   const Crops& crops, const Targets& targets) {
  const Tensor mels = mel_(sound);
  Tensor loss = o_.speaker_weight * (1.0 - MeanCosine(smooth_.Speaker(mels), asked)) +
                o_.content_weight * torch::smooth_l1_loss(smooth_.Content(mels), said);
  if (!encoder_ || o_.encoder_weight <= 0.0) return loss;
  const Tensor who = targets.Voices(data_.MeanEmbedding(crops));
  return loss + o_.encoder_weight * (1.0 - MeanCosine((*encoder_)(sound), who));
}

Losses AdainLesson::Batch(const Moment& now) {
  const std::int64_t converted = resynthesis_.ConvertedRows(now);
  const Crops crops = resynthesis_.Draw(o_.batch);
  Example batch;
  SpeechInput converting;
  std::optional<Targets> targets;
  {
    torch::NoGradGuard no_grad;
    batch = Make(crops, false);
    if (converted > 0) {
      targets.emplace(crops, converted, o_.mixed);
      converting = resynthesis_.Converted(crops, *targets);
    }
  }
  SpeechInput input = batch.input;
  const Tensor content = net_.Content(batch.mels), voice = net_.Speaker(batch.voice_mels);
  input.content = content + torch::randn_like(content) * o_.content_noise;
  input.embedding = voice;
  if (converted > 0) {  // one pass for both; conversions teach the decoder alone
    converting.content = input.content.narrow(0, 0, converted).detach();
    converting.embedding = targets->Voices(voice).detach();
    input = Joined(input, converting);
  }
  const Tensor whole = net_.Speak(input);
  Losses losses = resynthesis_.Compare(resynthesis_.Inner(whole), batch.speech, now);
  losses.total = losses.total + o_.spread_weight * Crowding(voice);
  if (converted > 0) {
    losses.total = losses.total + ConversionLoss(whole.narrow(0, o_.batch, converted),
                                                 content.narrow(0, 0, converted).detach(),
                                                 converting.embedding, crops, *targets);
  }
  return losses;
}

std::vector<ValidationFigure> AdainLesson::Validate(const std::vector<double>& means) {
  const Crops crops = resynthesis_.HeldOut();
  Example batch = Make(crops, true);
  batch.input.content = smooth_.Content(batch.mels);
  batch.input.embedding = smooth_.Speaker(batch.voice_mels);
  const double mel =
      resynthesis_.Distance(resynthesis_.Inner(smooth_.Speak(batch.input)), batch.speech);
  const std::int64_t rows = Resynthesis::kHeldOutConverted;
  const Targets targets(crops, rows, 0.0);
  SpeechInput input = resynthesis_.Converted(crops, targets);
  input.content = batch.input.content.narrow(0, 0, rows);
  input.embedding = targets.Voices(batch.input.embedding);
  const Tensor sound = smooth_.Speak(input), mels = mel_(sound);
  const Tensor voice = smooth_.Speaker(mels);
  const Tensor source = batch.input.embedding.narrow(0, 0, rows);
  double encoder_target = 0.0, encoder_source = 0.0;
  if (encoder_) {
    const Tensor heard = (*encoder_)(sound), who = data_.MeanEmbedding(crops);
    encoder_target = MeanCosine(heard, targets.Voices(who)).item<double>();
    encoder_source = MeanCosine(heard, who.narrow(0, 0, rows)).item<double>();
  }
  const double target_cosine = MeanCosine(voice, input.embedding).item<double>();
  const double source_cosine = MeanCosine(voice, source).item<double>();
  const double content_error = RelativeError(smooth_.Content(mels), input.content);
  return Resynthesis::Figures(
      means, {{"held_out_mel", " mel {:.4f}", mel},
              {"target_cosine", "  voice {:+.3f} target", target_cosine},
              {"source_cosine", " {:+.3f} source", source_cosine},
              {"encoder_target_cosine", "  by the encoder {:+.3f}", encoder_target},
              {"encoder_source_cosine", " {:+.3f}", encoder_source},
              {"content_error", "  content error {:.3f}", content_error}});
}

TrainedAdain AdainLesson::Result(const Trainer& trainer) {
  TrainedAdain result{{}, trainer.Curve()};
  smooth_.backend.Save(result.file);
  WriteAdainOptions(o_.net, result.file);
  nlohmann::ordered_json json = {{"encoder", encoder_name_},
                                 {"hours", data_.Hours()},
                                 {"utterances", data_.Training().size()},
                                 {"held_out_utterances", data_.HeldOut().size()}};
  sotto::Record<ResynthesisOptions>(ResynthesisOptions::Table(), o_, json);
  sotto::Record(AdainTraining::Table(), o_, json);
  if (!encoder_) json["encoder_weight"] = 0.0;
  json["learning_rate"] = o_.run.learning_rate;
  json["seed"] = o_.run.seed;
  json["curve"] = CurveRecord(result.curve);
  result.file.metadata["sotto.training"] = json.dump();
  return result;
}

}  // namespace

const OptionTable<AdainTraining>& AdainTraining::Table() {
  using A = AdainTraining;
  static const OptionTable<A> table = {
      {"voice_frames", &A::voice_frames,
       "Frames of the speaker's other utterance that the vector is taken from, an even number", 20},
      {"warp", &A::warp, "Stretch the mel axis that the content is taken from by up to this", 0,
       0.5},
      {"gain_db", &A::gain_db, "Change the level of the other utterance by up to this"},
      {"spread_weight", &A::spread_weight,
       "Weight of the squared cosines between the speaker vectors of a batch"},
      {"encoder_weight", &A::encoder_weight,
       "Weight of the verdict of --encoder (0: it only shows its cosines)"},
  };
  return table;
}

void AdainTraining::Validate() const {
  run.Validate();
  ResynthesisOptions::Validate();
  RequireRanges(Table(), *this);
  if (voice_frames % 2 != 0) throw Error("the other utterance has an even number of frames");
  if (net.mels != kMels.mels) throw Error("the net hears 80 mel bands");
  if (net.spectrum.hop != kSynthHop) throw Error("spectra have a hop of 160 samples");
}

TrainedAdain TrainAdain(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile* encoder, const AdainTraining& o,
                        const std::vector<double>& emphasis) {
  o.Validate();
  Trainer trainer(o.run, /*same_sizes=*/true);
  AdainLesson lesson(trainer, pack, features, encoder, o, emphasis);
  trainer.Run(lesson);
  return lesson.Result(trainer);
}

}  // namespace sotto
