#include "learn/synth_trainer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "learn/base_net.h"
#include "learn/bottleneck.h"
#include "learn/content_trainer.h"
#include "learn/judges.h"
#include "learn/spectral_losses.h"
#include "learn/torch_source.h"

namespace sotto {
namespace {

using torch::Tensor;

// What the synthesiser gets and what it is to give.
struct Batch {
  SynthInput<Tensor> input;
  Tensor speech;  // batch × samples of the inner frames, at the common level
};

class Maker {
 public:
  Maker(const SynthOptions& options, torch::Device device, bool bf16)
      : backend(device), options_(options) {
    if (bf16) backend.SetWork(torch::kBFloat16);
  }
  // batch × samples.
  Tensor operator()(const SynthInput<Tensor>& input) {
    return Synthesiser<TorchBackend>(options_, backend).Forward(input).squeeze(1);
  }
  TorchBackend backend;

 private:
  SynthOptions options_;
};

Tensor PitchRows(const Tensor& f0, const Tensor& voiced) {
  return torch::stack({(f0.log() - std::log(kNeutralF0Hz)) / 0.5, voiced}, 1);
}

class BatchMaker {
 public:
  BatchMaker(const SpeechData& data, Tensor teacher, Tensor student, const SynthTraining& o)
      : data_(data), teacher_(std::move(teacher)), student_(std::move(student)), o_(o) {}

  // Content frames of a crop.
  std::int64_t Content() const { return o_.frames / 2 + o_.margin; }
  Tensor Teacher(const Crops& crops) const { return data_.Content(teacher_, crops, Content()); }
  Tensor Student(const Crops& crops) const { return data_.Content(student_, crops, Content()); }

  // Rows of the student's, a `share` of all, among the teacher's.
  static Tensor Choose(const Tensor& teacher, const Tensor& student, double share) {
    return torch::where(torch::rand({teacher.size(0), 1, 1}, teacher.options()) < share, student,
                        teacher);
  }

  Batch Make(const Crops& crops, const Tensor& content, bool mean_only) const {
    const std::int64_t frames = o_.frames + 2 * o_.margin, rows = crops.start.size(0);
    Batch batch;
    batch.input.content =
        o_.content_noise > 0.0 ? content + torch::randn_like(content) * o_.content_noise : content;
    const Tensor f0 = data_.F0(crops, frames);
    SetPitch(batch.input, f0, data_.Voiced(crops, frames));
    const Tensor mean = data_.MeanEmbedding(crops);
    if (mean_only) {
      batch.input.embedding = mean;
    } else {
      const Tensor chosen = torch::rand({rows, 1, 1}, mean.options()) < o_.mean_embedding;
      batch.input.embedding = torch::where(chosen, mean, data_.OtherEmbedding(crops));
    }
    batch.speech = Inner(data_.Samples(crops, frames * kSynthHop)) * data_.LevelGain(crops);
    return batch;
  }

  // The first `rows` crops in the voices of others in the batch; a `mixed` share of them in voices
  // between two of those, since the voices asked for in use belong to nobody.
  SynthInput<Tensor> Convert(const Batch& batch, const Crops& crops, std::int64_t rows,
                             double mixed, Tensor* target) const {
    const std::int64_t all = crops.start.size(0);
    const Tensor row = torch::arange(rows, crops.start.options());
    // Far apart: batches are shuffled.
    const Tensor one = torch::remainder(row + all / 2, all);
    const Tensor two = torch::remainder(row + all / 2 + all / 4, all);
    const Tensor pitch = data_.SpeakerPitch(crops);
    Tensor angle = torch::rand({rows, 1}, pitch.options()) * (0.5 * std::numbers::pi);
    angle = torch::where(torch::rand({rows, 1}, pitch.options()) < mixed, angle,
                         torch::zeros_like(angle));
    const auto voice = [&](const Tensor& who) {
      return data_.MeanEmbedding({crops.utterance.index_select(0, who), {}});
    };
    SynthInput<Tensor> input;
    input.content = batch.input.content.narrow(0, 0, rows);
    input.embedding = UnitEmbeddings(voice(one) * angle.cos().unsqueeze(2) +
                                     voice(two) * angle.sin().unsqueeze(2));
    const Tensor asked = pitch.index_select(0, one) * angle.cos().square() +
                         pitch.index_select(0, two) * angle.sin().square();
    const Tensor shift = (asked - pitch.narrow(0, 0, rows)).exp();
    const Crops first{crops.utterance.narrow(0, 0, rows), crops.start.narrow(0, 0, rows)};
    const std::int64_t frames = o_.frames + 2 * o_.margin;
    SetPitch(input, (data_.F0(first, frames) * shift).clamp(50.0, 800.0),
             data_.Voiced(first, frames));
    *target = input.embedding;
    return input;
  }

  Tensor Inner(const Tensor& samples) const {
    return samples.narrow(1, o_.margin * kSynthHop, o_.frames * kSynthHop);
  }

 private:
  static void SetPitch(SynthInput<Tensor>& input, const Tensor& f0, const Tensor& voiced) {
    const Tensor phase =
        torch::rand({f0.size(0)}, f0.options().dtype(torch::kFloat64)) * (2.0 * std::numbers::pi);
    input.pitch = PitchRows(f0, voiced);
    input.harmonic = HarmonicSources(f0, phase).unsqueeze(1);
    input.noise = torch::randn_like(input.harmonic);
  }

  const SpeechData& data_;
  Tensor teacher_, student_;
  const SynthTraining& o_;
};

Tensor MeanCosine(const Tensor& a, const Tensor& b) {
  return torch::cosine_similarity(a, b, 1).mean();
}

// `learning`: nullptr where the student stays as it is.
SynthPoint HeldOutFigures(const SpeechData& data, const BatchMaker& batches,
                          LearningStudent* learning, Maker& maker, const MelDistance& distance,
                          Judges* judges, const Words* words) {
  torch::NoGradGuard no_grad;
  SynthPoint point;
  const Crops crops = data.Fixed(64, batches.Content());
  const Tensor of_teacher = batches.Teacher(crops);
  const Tensor of_student = learning == nullptr ? batches.Student(crops)
                                                : learning->HearUnchanged(crops, batches.Content());
  point.student_error =
      ((of_student - of_teacher).square().mean() /
       (of_teacher - of_teacher.mean(std::vector<std::int64_t>{0, 2}, true)).square().mean())
          .item<double>();
  for (const bool student : {false, true}) {
    const Tensor& content = student ? of_student : of_teacher;
    const Batch batch = batches.Make(crops, content, true);
    const Tensor made = batches.Inner(maker(batch.input));
    (student ? point.held_out_mel_student : point.held_out_mel) =
        distance(made, batch.speech).item<double>();
    if (judges == nullptr) continue;
    Tensor target;
    const std::int64_t rows = 32;
    const SynthInput<Tensor> input = batches.Convert(batch, crops, rows, 0.0, &target);
    const Tensor converted = maker(input);
    if (words != nullptr) {
      (student ? point.words_error_student : point.words_error) =
          words->RelativeError(batches.Inner(converted), (*words)(batch.speech.narrow(0, 0, rows)));
    }
    if (!student) continue;
    const Tensor voice = judges->Speaker(converted);
    point.target_cosine = MeanCosine(voice, target).item<double>();
    point.source_cosine =
        MeanCosine(voice, batch.input.embedding.narrow(0, 0, rows)).item<double>();
    const Tensor asked = content.narrow(0, 0, rows);
    point.content_error =
        ((judges->Content(converted) - asked).square().mean() / asked.square().mean())
            .item<double>();
  }
  return point;
}

void Print(const SynthPoint& p) {
  fmt::print(stderr,
             "step {:6d}  mel {:.4f}  critic {:.3f}  maker {:.3f}  feature {:.3f} | held out: mel "
             "{:.4f} teacher {:.4f} student  voice {:+.3f} target {:+.3f} source  content error "
             "{:.3f}  words {:.3f} teacher {:.3f} student  student {:.1f} %  {:.0f} s\n",
             p.step, p.mel, p.critic, p.maker, p.feature, p.held_out_mel, p.held_out_mel_student,
             p.target_cosine, p.source_cosine, p.content_error, p.words_error,
             p.words_error_student, 100.0 * p.student_error, p.seconds);
}

std::string Record(const SynthTraining& o, const SpeechData& data, const TensorFile& content,
                   const TrainedSynth& result) {
  nlohmann::ordered_json json = {{"content", Fingerprint(content)},
                                 {"hours", data.Hours()},
                                 {"utterances", data.Training().size()},
                                 {"held_out_utterances", data.HeldOut().size()},
                                 {"batch", o.batch},
                                 {"frames", o.frames},
                                 {"student_share", o.student},
                                 {"mel_weight", o.mel_weight},
                                 {"feature_weight", o.feature_weight},
                                 {"critic_weight", o.critic_weight},
                                 {"converted", o.converted},
                                 {"mixed", o.mixed},
                                 {"speaker_weight", o.speaker_weight},
                                 {"content_weight", o.content_weight},
                                 {"source_weight", o.source_weight},
                                 {"content_noise", o.content_noise},
                                 {"distillation", o.distillation},
                                 {"listener_weight", o.listener ? o.listener_weight : 0.0},
                                 {"learning_rate", o.run.learning_rate},
                                 {"seed", o.run.seed}};
  if (o.base) json["base"] = Fingerprint(*o.base);
  auto& curve = json["curve"] = nlohmann::ordered_json::array();
  for (const SynthPoint& p : result.curve) {
    curve.push_back({{"step", p.step},
                     {"mel", p.mel},
                     {"held_out_mel", p.held_out_mel},
                     {"held_out_mel_student", p.held_out_mel_student},
                     {"target_cosine", p.target_cosine},
                     {"source_cosine", p.source_cosine},
                     {"content_error", p.content_error},
                     {"words_error", p.words_error},
                     {"words_error_student", p.words_error_student},
                     {"student_error", p.student_error},
                     {"seconds", p.seconds}});
  }
  return json.dump();
}

// What the student's record says of the run in which it learnt along.
void RecordJoint(const SynthTraining& o, const SpeechData& data, const TensorFile& before,
                 TensorFile& content, const SynthPoint& last) {
  // A student of unknown origin is no reason to lose a finished training.
  const auto kept = before.metadata.find("sotto.training");
  auto json = nlohmann::ordered_json::parse(kept == before.metadata.end() ? "{}" : kept->second,
                                            nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) json = nlohmann::ordered_json::object();
  json["with_synthesiser"] = {{"began_from", Fingerprint(before)},
                              {"steps", last.step},
                              {"distillation", o.distillation},
                              {"listener_weight", o.listener ? o.listener_weight : 0.0},
                              {"learning_rate", o.run.learning_rate},
                              {"warp", o.change.warp},
                              {"augmented", o.change.augmented},
                              {"dropout", o.dropout},
                              {"fresh", o.fresh},
                              {"fresh_pieces", o.fresh_speech.pieces},
                              {"held_out_error", last.student_error},
                              {"probe", ProbeTable(data, StudentTable(data, content))}};
  content.metadata["sotto.training"] = json.dump();
}

// Sums of losses on the device, read once a validation.
struct Sums {
  explicit Sums(torch::Device device) : values(torch::zeros({4}, torch::TensorOptions(device))) {}
  void Add(const Tensor& mel, const Tensor& critic, const Tensor& maker, const Tensor& feature) {
    values += torch::stack({mel, critic, maker, feature}).detach();
    ++count;
  }
  void Take(SynthPoint& point) {
    const Tensor mean = (values / static_cast<double>(std::max<std::int64_t>(1, count))).cpu();
    point.mel = mean[0].item<double>();
    point.critic = mean[1].item<double>();
    point.maker = mean[2].item<double>();
    point.feature = mean[3].item<double>();
    values.zero_();
    count = 0;
  }
  Tensor values;
  std::int64_t count = 0;
};

}  // namespace

void SynthTraining::Validate() const {
  run.Validate();
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(what);
  };
  need(batch >= 2, "a batch needs at least 2 crops");
  need(frames >= 14 && frames % 2 == 0, "crops have an even number of frames, at least 14");
  need(margin >= 0 && margin % 2 == 0, "the margin is an even number of frames");
  need(student >= 0.0 && student <= 1.0, "the student's share lies from 0 to 1");
  need(content_noise >= 0.0, "the content's noise is 0 or more");
  need(converted >= 0 && converted <= batch, "converted crops are a part of the batch");
  need(mixed >= 0.0 && mixed <= 1.0, "the share of mixed voices lies from 0 to 1");
  need(critic_channels >= 1, "critics need a channel");
  need(average >= 0.0 && average < 1.0, "the average's decay lies in [0, 1)");
  need(distillation >= 0.0, "the weight of the student's task is 0 or more");
  need(dropout >= 0.0 && dropout < 1.0, "the dropped share lies in [0, 1)");
  need(listener_weight >= 0.0, "the listener's weight is 0 or more");
  need(!listener || frames >= 40, "a listener needs crops of at least 40 frames");
  need(fresh >= 0, "fresh crops are 0 or more");
  need(fresh == 0 || (listener && distillation > 0.0),
       "fresh speech needs a listener and a student that learns");
  fresh_speech.Validate();
  need(fresh_frames >= 40, "fresh speech needs crops of at least 40 frames");
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
  const torch::Device device(o.run.device);
  torch::manual_seed(o.run.seed);
  if (device.is_cuda()) {
    at::globalContext().setAllowTF32CuBLAS(true);
    at::globalContext().setAllowTF32CuDNN(true);
    at::globalContext().setBenchmarkCuDNN(true);  // every step has the same sizes
  }
  const SpeechData data(pack, features, o.hold_out, emphasis, o.run.seed, device);
  const Bottleneck bottleneck = ReadBottleneck(content, device);
  const Tensor teacher = BottleneckTable(data, bottleneck);
  std::unique_ptr<LearningStudent> learning;
  if (o.distillation > 0.0) {
    learning = std::make_unique<LearningStudent>(
        content, data, teacher, QuietStretches(pack, device), o.change, o.dropout, o.run.bf16);
  }
  const BatchMaker batches(data, teacher, learning ? Tensor() : StudentTable(data, content), o);
  std::unique_ptr<Judges> judges;
  if (encoder != nullptr) {
    judges = std::make_unique<Judges>(content, *encoder, device);
    if (judges->EmbeddingSize() != features.embedding_size) {
      throw Error(fmt::format("{}: embeddings of {}, those of the features have {}", encoder->where,
                              judges->EmbeddingSize(), features.embedding_size));
    }
  }
  std::unique_ptr<Words> words;
  if (o.listener) words = std::make_unique<Words>(*o.listener, bottleneck, device);
  std::optional<FreshSpeech> fresh;
  if (o.fresh > 0) fresh.emplace(data, *words, o.fresh_speech, o.run.seed + 2);
  const MelDistance distance(device);

  Maker maker(o.net, device, o.run.bf16), smooth(o.net, device, false);
  Critics critics(o.critic_channels, device);
  if (o.run.bf16) critics.backend.SetWork(torch::kBFloat16);
  {
    torch::NoGradGuard no_grad;  // layers come into being
    const Crops crops = data.Draw(2, batches.Content());
    const Batch some = batches.Make(crops, batches.Teacher(crops), true);
    maker(some.input);
    smooth(some.input);
    critics(some.speech);
  }
  if (o.base) BeginFrom(*o.base, ReadSynthOptions(*o.base).body, o.net.body, maker.backend);
  FlatParameters net(maker.backend), average(smooth.backend), judge(critics.backend);
  average.AverageFrom(net, 0.0);
  RunClock clock(o.run);
  CheckpointParts parts = {{"net", &net}, {"average", &average}, {"critics", &judge}};
  if (learning) {
    parts["student"] = &learning->net;
    parts["student_average"] = &learning->average;
  }
  if (!o.run.resume.empty()) ReadCheckpoint(o.run.resume, clock, parts);

  TrainedSynth result;
  Sums sums(device);
  AdamOptions adam;
  adam.weight_decay = o.weight_decay;
  const Tensor none = torch::zeros({}, torch::TensorOptions(device));
  for (bool first = true;; first = false, clock.Next()) {
    const bool last = clock.Ended();
    if (first || last || clock.Step() % o.run.validate_every == 0) {
      average.Spread(false);
      SynthPoint point = HeldOutFigures(data, batches, learning.get(), smooth, distance,
                                        judges.get(), words.get());
      point.step = clock.Step();
      sums.Take(point);
      point.seconds = clock.Seconds();
      result.curve.push_back(point);
      Print(point);
      if (!o.run.checkpoint.empty() && !first) {
        WriteCheckpoint(o.run.checkpoint, clock, parts, {});
      }
      if (last) break;
    }
    const bool judged = clock.Progress() >= o.critics_from;
    adam.learning_rate = clock.LearningRate();
    const std::int64_t converted = judged ? o.converted : 0;
    const Crops crops = data.Draw(o.batch, batches.Content());
    const Tensor of_teacher = batches.Teacher(crops);
    LearningStudent::Heard heard{{}, none};
    if (learning) {
      learning->net.Spread(true);
      heard = learning->Hear(crops, batches.Content());
      if (fresh) {
        const FreshSpeech::Batch more = fresh->Draw(o.fresh, o.fresh_frames);
        heard.distillation =
            0.5 * (heard.distillation + learning->Follow(more.samples, more.content));
      }
    } else {
      heard.states = batches.Student(crops);
    }
    const Tensor given_content = batches.Choose(of_teacher, heard.states, o.student);
    const Batch batch = batches.Make(crops, given_content, false);
    // A student that learns is asked for what the teacher heard, not for what it says itself.
    const Tensor asked_content = (learning ? of_teacher : given_content).narrow(0, 0, converted);
    SynthInput<Tensor> converting;
    Tensor target;
    if (converted > 0) converting = batches.Convert(batch, crops, converted, o.mixed, &target);
    net.Spread(true);
    SynthInput<Tensor> input = batch.input;
    if (converted > 0) {  // one pass for both
      input.content = torch::cat({input.content, converting.content});
      input.pitch = torch::cat({input.pitch, converting.pitch});
      input.harmonic = torch::cat({input.harmonic, converting.harmonic});
      input.noise = torch::cat({input.noise, converting.noise});
      input.embedding = torch::cat({input.embedding, converting.embedding});
    }
    const Tensor whole = maker(input), made = batches.Inner(whole);
    const Tensor mel = distance(made.narrow(0, 0, o.batch), batch.speech);
    Tensor loss = o.mel_weight * mel + o.distillation * heard.distillation, critic_loss = none,
           maker_loss = none, feature_loss = none;
    if (judged) {
      judge.Spread(true);
      const Critics::Verdicts real = critics(batch.speech);
      critic_loss = CriticLoss(real, critics(made.detach()));
      critic_loss.backward();
      judge.Step(adam);
      judge.Spread(false);
      const Critics::Verdicts verdicts = critics(made);
      maker_loss = MakerLoss(verdicts);
      feature_loss = FeatureLoss(real, verdicts, o.batch);
      loss = loss + o.critic_weight * maker_loss + o.feature_weight * feature_loss;
    }
    if (words != nullptr) {
      torch::Tensor asked;
      {
        torch::NoGradGuard no_grad;
        asked = (*words)(batch.speech);
      }
      // Conversions say what their sources say.
      asked = torch::cat({asked, asked.narrow(0, 0, converted)});
      loss = loss + o.listener_weight * words->Loss(made, asked);
    }
    if (converted > 0) {
      const Tensor sound = whole.narrow(0, o.batch, converted);
      const Tensor voice = judges->Speaker(sound);
      const Tensor source = data.MeanEmbedding(
          {crops.utterance.narrow(0, 0, converted), crops.start.narrow(0, 0, converted)});
      const Tensor too_near =
          torch::relu(torch::cosine_similarity(voice, source, 1) -
                      torch::cosine_similarity(target, source, 1).clamp_min(0.0));
      loss = loss + o.speaker_weight * (1.0 - MeanCosine(voice, target)) +
             o.source_weight * too_near.mean() +
             o.content_weight * torch::smooth_l1_loss(judges->Content(sound), asked_content);
    }
    loss.backward();
    net.Step(adam);
    const auto t = static_cast<double>(clock.Step());
    average.AverageFrom(net, std::min(o.average, (1.0 + t) / (10.0 + t)));
    if (learning) {
      learning->net.Step(adam);
      learning->average.AverageFrom(learning->net, std::min(o.average, (1.0 + t) / (10.0 + t)));
    }
    sums.Add(mel, critic_loss, maker_loss, feature_loss);
  }
  average.Spread(false);
  smooth.backend.Save(result.file);
  WriteSynthOptions(o.net, result.file);
  result.file.metadata["sotto.content_noise"] = fmt::format("{}", o.content_noise);
  result.file.metadata["sotto.training"] = Record(o, data, content, result);
  if (learning) {
    result.content = learning->File();
    RecordJoint(o, data, content, *result.content, result.curve.back());
  }
  return result;
}

}  // namespace sotto
