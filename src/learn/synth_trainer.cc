#include "learn/synth_trainer.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "learn/base_net.h"
#include "learn/bottleneck.h"
#include "learn/content_trainer.h"
#include "learn/frozen_nets.h"

namespace sotto {
namespace {

using torch::Tensor;

// To batch × 1 × samples.
using Maker = TorchNet<Synthesiser, SynthOptions>;

// What the synthesiser gets and what it is to give.
struct Example {
  SpeechInput input;
  Tensor speech;  // batch × samples of the inner frames, at the common level
};

// The student's states of a batch, and its own task where it learns along.
struct Heard {
  Tensor states, distillation;
};

// Rows of the student's, a `share` of all, among the teacher's.
Tensor Choose(const Tensor& teacher, const Tensor& student, double share) {
  return torch::where(torch::rand({teacher.size(0), 1, 1}, teacher.options()) < share, student,
                      teacher);
}

class SynthLesson : public Lesson {
 public:
  SynthLesson(Trainer& trainer, const SpeechPack& pack, const FeaturePack& features,
              const TensorFile& content, const TensorFile* encoder, const SynthTraining& options,
              const std::vector<double>& emphasis);

  std::vector<Learner> Learners() override;
  Losses Batch(const Moment& now) override;
  std::vector<ValidationFigure> Validate(const std::vector<double>& means) override;
  std::string_view Best() const override { return "held_out_mel_student"; }
  TrainedSynth Result(const Trainer& trainer);

 private:
  void LayersComeIntoBeing();
  Tensor Teacher(const Crops& crops) const {
    return data_.Content(teacher_, crops, resynthesis_.ContentFrames());
  }
  // Unchanged speech, heard by the student that does not learn or by the average of one that does.
  Tensor Unchanged(const Crops& crops);
  Heard Hear(const Crops& crops);
  Example Make(const Crops& crops, const Tensor& content, bool mean_only) const;
  SpeechInput Convert(const Example& example, const Crops& crops, const Targets& targets) const;
  // What the frozen encoders say of the first crops' conversions.
  Tensor ConversionLoss(const Tensor& sound, const Tensor& asked_voice, const Tensor& asked_content,
                        const Crops& crops);
  // Of what a listener hears in `made`, whose last rows are conversions.
  Tensor WordsLoss(const Tensor& made, const Tensor& speech, std::int64_t converted) const;
  // Of held-out crops, with this content.
  struct Measured {
    double mel = 0.0, target_cosine = 0.0, source_cosine = 0.0, content_error = 0.0, words = 0.0;
  };
  Measured Measure(const Crops& crops, const Tensor& content);
  void RecordJoint(const TrainingPoint& last, TensorFile& file) const;

  const SynthTraining& o_;
  const TensorFile& content_;
  const SpeechData data_;
  const Bottleneck bottleneck_;
  const Tensor teacher_;  // tables of content
  Tensor student_;        // where it does not learn
  std::unique_ptr<LearningStudent> learning_;
  Resynthesis resynthesis_;
  std::optional<FrozenSpeakerEncoder> voice_;
  std::optional<FrozenContentEncoder> said_;
  std::optional<Words> words_;
  std::optional<FreshSpeech> fresh_;
  Maker maker_, smooth_;
  std::optional<FlatParameters> weights_, average_;
};

SynthLesson::SynthLesson(Trainer& trainer, const SpeechPack& pack, const FeaturePack& features,
                         const TensorFile& content, const TensorFile* encoder,
                         const SynthTraining& options, const std::vector<double>& emphasis)
    : o_(options),
      content_(content),
      data_(pack, features, o_.hold_out, emphasis, o_.run.seed, trainer.Device()),
      bottleneck_(ReadBottleneck(content, trainer.Device())),
      teacher_(BottleneckTable(data_, bottleneck_)),
      resynthesis_(data_, o_, o_.run.bf16),
      maker_(o_.net, trainer.Device(), o_.run.bf16),
      smooth_(o_.net, trainer.Device(), false) {
  const torch::Device device = trainer.Device();
  if (o_.distillation > 0.0) {
    learning_ = std::make_unique<LearningStudent>(
        content, data_, teacher_, QuietStretches(pack, device), o_.change, o_.dropout, o_.run.bf16);
  } else {
    student_ = StudentTable(data_, content);
  }
  if (encoder != nullptr) {
    voice_.emplace(*encoder, ReadJudge(*encoder, features.embedding_size), device);
    said_.emplace(content, ReadContentOptions(content), device);
  }
  if (o_.listener) words_.emplace(*o_.listener, bottleneck_, device);
  if (o_.fresh > 0) fresh_.emplace(data_, *words_, o_.fresh_speech, trainer.Random(2));
  LayersComeIntoBeing();
  if (o_.base) BeginFrom(*o_.base, ReadSynthOptions(*o_.base).body, o_.net.body, maker_.backend);
  weights_.emplace(maker_.backend);
  average_.emplace(smooth_.backend);
}

void SynthLesson::LayersComeIntoBeing() {
  torch::NoGradGuard no_grad;
  const Crops crops = resynthesis_.Draw(2);
  const Example some = Make(crops, Teacher(crops), true);
  maker_(some.input);
  smooth_(some.input);
  resynthesis_.BeginCritics(some.speech);
}

std::vector<Learner> SynthLesson::Learners() {
  std::vector<Learner> all = {{"net", &*weights_, &*average_}, resynthesis_.CriticLearner()};
  if (learning_) all.push_back({"student", &learning_->net, &learning_->average});
  return all;
}

Tensor SynthLesson::Unchanged(const Crops& crops) {
  const std::int64_t frames = resynthesis_.ContentFrames();
  return learning_ ? learning_->HearUnchanged(crops, frames)
                   : data_.Content(student_, crops, frames);
}

Heard SynthLesson::Hear(const Crops& crops) {
  if (!learning_) return {Unchanged(crops), {}};
  const LearningStudent::Heard heard = learning_->Hear(crops, resynthesis_.ContentFrames());
  if (!fresh_) return {heard.states, heard.distillation};
  const FreshSpeech::Batch more = fresh_->Draw(o_.fresh, o_.fresh_frames);
  return {heard.states, 0.5 * (heard.distillation + learning_->Follow(more.samples, more.content))};
}

Example SynthLesson::Make(const Crops& crops, const Tensor& content, bool mean_only) const {
  Example example;
  example.input.content =
      o_.content_noise > 0.0 ? content + torch::randn_like(content) * o_.content_noise : content;
  resynthesis_.SetPitch(crops, example.input);
  const Tensor mean = data_.MeanEmbedding(crops);
  if (mean_only) {
    example.input.embedding = mean;
  } else {
    const Tensor chosen =
        torch::rand({crops.start.size(0), 1, 1}, mean.options()) < o_.mean_embedding;
    example.input.embedding = torch::where(chosen, mean, data_.OtherEmbedding(crops));
  }
  example.speech =
      resynthesis_.Speech(crops, data_.Samples(crops, resynthesis_.Frames() * kSynthHop));
  return example;
}

SpeechInput SynthLesson::Convert(const Example& example, const Crops& crops,
                                 const Targets& targets) const {
  SpeechInput input = resynthesis_.Converted(crops, targets);
  input.content = example.input.content.narrow(0, 0, targets.one.size(0));
  input.embedding = targets.Voices(data_.MeanEmbedding(crops));
  return input;
}

Tensor SynthLesson::ConversionLoss(const Tensor& sound, const Tensor& asked_voice,
                                   const Tensor& asked_content, const Crops& crops) {
  const Tensor voice = (*voice_)(sound);
  const Tensor source = data_.MeanEmbedding(crops).narrow(0, 0, sound.size(0));
  const Tensor too_near =
      torch::relu(torch::cosine_similarity(voice, source, 1) -
                  torch::cosine_similarity(asked_voice, source, 1).clamp_min(0.0));
  return o_.speaker_weight * (1.0 - MeanCosine(voice, asked_voice)) +
         o_.source_weight * too_near.mean() +
         o_.content_weight * torch::smooth_l1_loss((*said_)(sound), asked_content);
}

Tensor SynthLesson::WordsLoss(const Tensor& made, const Tensor& speech,
                              std::int64_t converted) const {
  Tensor asked;
  {
    torch::NoGradGuard no_grad;
    asked = (*words_)(speech);
  }
  // Conversions say what their sources say.
  asked = torch::cat({asked, asked.narrow(0, 0, converted)});
  return o_.listener_weight * words_->Loss(made, asked);
}

Losses SynthLesson::Batch(const Moment& now) {
  const std::int64_t converted = resynthesis_.ConvertedRows(now);
  const Crops crops = resynthesis_.Draw(o_.batch);
  const Tensor of_teacher = Teacher(crops);
  const Heard heard = Hear(crops);
  const Tensor given = Choose(of_teacher, heard.states, o_.student);
  const Example example = Make(crops, given, false);
  SpeechInput input = example.input;
  Tensor asked_voice;
  if (converted > 0) {  // one pass for both
    const SpeechInput converting = Convert(example, crops, Targets(crops, converted, o_.mixed));
    asked_voice = converting.embedding;
    input = Joined(input, converting);
  }
  const Tensor whole = maker_(input).squeeze(1), made = resynthesis_.Inner(whole);
  Losses losses = resynthesis_.Compare(made, example.speech, now);
  if (learning_) losses.total = losses.total + o_.distillation * heard.distillation;
  if (words_) losses.total = losses.total + WordsLoss(made, example.speech, converted);
  if (converted > 0) {
    // A student that learns is asked for what the teacher heard, not for what it says itself.
    const Tensor asked_content = (learning_ ? of_teacher : given).narrow(0, 0, converted);
    losses.total = losses.total + ConversionLoss(whole.narrow(0, o_.batch, converted), asked_voice,
                                                 asked_content, crops);
  }
  return losses;
}

SynthLesson::Measured SynthLesson::Measure(const Crops& crops, const Tensor& content) {
  Measured m;
  const Example example = Make(crops, content, true);
  m.mel =
      resynthesis_.Distance(resynthesis_.Inner(smooth_(example.input).squeeze(1)), example.speech);
  if (!voice_) return m;
  const std::int64_t rows = Resynthesis::kHeldOutConverted;
  const SpeechInput input = Convert(example, crops, Targets(crops, rows, 0.0));
  const Tensor converted = smooth_(input).squeeze(1), voice = (*voice_)(converted);
  m.target_cosine = MeanCosine(voice, input.embedding).item<double>();
  m.source_cosine = MeanCosine(voice, example.input.embedding.narrow(0, 0, rows)).item<double>();
  m.content_error = RelativeError((*said_)(converted), content.narrow(0, 0, rows));
  if (words_) {
    m.words = ErrorOverVariance((*words_)(resynthesis_.Inner(converted)),
                                (*words_)(example.speech.narrow(0, 0, rows)));
  }
  return m;
}

std::vector<ValidationFigure> SynthLesson::Validate(const std::vector<double>& means) {
  const Crops crops = resynthesis_.HeldOut();
  const Tensor of_teacher = Teacher(crops), of_student = Unchanged(crops);
  const double error = ErrorOverVariance(of_student, of_teacher);
  const Measured teacher = Measure(crops, of_teacher), student = Measure(crops, of_student);
  return Resynthesis::Figures(means,
                              {{"held_out_mel", " mel {:.4f} teacher", teacher.mel},
                               {"held_out_mel_student", " {:.4f} student", student.mel},
                               {"target_cosine", "  voice {:+.3f} target", student.target_cosine},
                               {"source_cosine", " {:+.3f} source", student.source_cosine},
                               {"content_error", "  content error {:.3f}", student.content_error},
                               {"words_error", "  words {:.3f} teacher", teacher.words},
                               {"words_error_student", " {:.3f} student", student.words},
                               {"student_error", "  student {:.1f} %", error, 100.0}});
}

// What the student's record says of the run in which it learnt along.
void SynthLesson::RecordJoint(const TrainingPoint& last, TensorFile& file) const {
  // A student of unknown origin is no reason to lose a finished training.
  const auto kept = content_.metadata.find("sotto.training");
  auto json = nlohmann::ordered_json::parse(kept == content_.metadata.end() ? "{}" : kept->second,
                                            nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) json = nlohmann::ordered_json::object();
  json["with_synthesiser"] = {{"began_from", Fingerprint(content_)},
                              {"steps", last.step},
                              {"distillation", o_.distillation},
                              {"listener_weight", o_.listener ? o_.listener_weight : 0.0},
                              {"learning_rate", o_.run.learning_rate},
                              {"warp", o_.change.warp},
                              {"augmented", o_.change.augmented},
                              {"dropout", o_.dropout},
                              {"fresh", o_.fresh},
                              {"fresh_pieces", o_.fresh_speech.pieces},
                              {"held_out_error", last["student_error"]},
                              {"probe", ProbeTable(data_, StudentTable(data_, file))}};
  file.metadata["sotto.training"] = json.dump();
}

TrainedSynth SynthLesson::Result(const Trainer& trainer) {
  nlohmann::ordered_json json = {{"content", Fingerprint(content_)},
                                 {"hours", data_.Hours()},
                                 {"utterances", data_.Training().size()},
                                 {"held_out_utterances", data_.HeldOut().size()}};
  sotto::Record<ResynthesisOptions>(ResynthesisOptions::Table(), o_, json);
  sotto::Record(SynthTraining::Table(), o_, json);
  json["student_share"] = o_.student;
  if (!o_.listener) json["listener_weight"] = 0.0;
  json["learning_rate"] = o_.run.learning_rate;
  json["seed"] = o_.run.seed;
  if (o_.base) json["base"] = Fingerprint(*o_.base);
  json["curve"] = CurveRecord(trainer.Curve());
  TrainedSynth result{{}, {}, trainer.Curve()};
  smooth_.backend.Save(result.file);
  WriteSynthOptions(o_.net, result.file);
  result.file.metadata["sotto.content_noise"] = fmt::format("{}", o_.content_noise);
  result.file.metadata["sotto.training"] = json.dump();
  if (learning_) {
    result.content = learning_->File();
    RecordJoint(result.curve.back(), *result.content);
  }
  return result;
}

}  // namespace

const OptionTable<SynthTraining>& SynthTraining::Table() {
  using S = SynthTraining;
  static const OptionTable<S> table = {
      {"student", &S::student, "Share of crops with the student's content", 0, 1},
      {"mean_embedding", &S::mean_embedding, "Share of crops with the speaker's mean embedding"},
      {"source_weight", &S::source_weight,
       "Weight on conversions nearer to the source than the voice asked for is"},
      {"distillation", &S::distillation,
       "Let the content encoder learn along, its own task with this weight"},
      {"dropout", &S::dropout, "Share of values dropped behind the GELU of the student's blocks", 0,
       kBelowOne},
      {"fresh", &S::fresh,
       "Crops of speech joined from pieces, in which the student follows the listener"},
      {"listener_weight", &S::listener_weight,
       "Weight of the difference between what is heard in the made speech and in the recording"},
  };
  return table;
}

void SynthTraining::Validate() const {
  run.Validate();
  ResynthesisOptions::Validate();
  RequireRanges(Table(), *this);
  if (listener && frames < 40) throw Error("a listener needs crops of at least 40 frames");
  if (fresh > 0 && (!listener || distillation == 0.0)) {
    throw Error("fresh speech needs a listener and a student that learns");
  }
  if (fresh_frames < 40) throw Error("fresh speech needs crops of at least 40 frames");
  fresh_speech.Validate();
  change.Validate(frames / 2 + margin);
}

TrainedSynth TrainSynth(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile& content, const TensorFile* encoder,
                        const SynthTraining& given, const std::vector<double>& emphasis) {
  SynthTraining o = given;
  o.net.content = ReadContentOptions(content).bottleneck;
  o.net.embedding = features.embedding_size;
  if (encoder == nullptr) o.converted = 0;
  o.Validate();
  Trainer trainer(o.run, /*same_sizes=*/true);
  SynthLesson lesson(trainer, pack, features, content, encoder, o, emphasis);
  trainer.Run(lesson);
  return lesson.Result(trainer);
}

}  // namespace sotto
