#include "learn/content_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "base/error.h"
#include "learn/base_net.h"
#include "learn/bottleneck.h"
#include "learn/frozen_nets.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kProbeSpeakers = 200;

// Mel frames of whole utterances, cut or filled up with the last one to two for each content frame.
Tensor PairedMels(const TorchMel& mel, const Tensor& x, std::int64_t frames) {
  const Tensor mels = mel(x);
  const std::int64_t missing = 2 * frames - mels.size(2);
  if (missing <= 0) return mels.narrow(2, 0, 2 * frames);
  return torch::cat({mels, mels.narrow(2, mels.size(2) - 1, 1).expand({-1, -1, missing})}, 2);
}

Bottleneck ChooseBottleneck(const SpeechData& data, ContentTraining& o) {
  if (o.bottleneck_of) {
    o.net.bottleneck = ReadContentOptions(*o.bottleneck_of).bottleneck;
    return ReadBottleneck(*o.bottleneck_of, data.Device());
  }
  Bottleneck fitted = FitBottleneck(data, o.net.bottleneck, o.speaker_directions);
  fmt::print(stderr, "bottleneck of {}: {:.1f} % of the states' variance\n", o.net.bottleneck,
             100.0 * fitted.kept);
  return fitted;
}

std::string Record(const ContentTraining& o, const SpeechData& data, const Bottleneck& bottleneck,
                   const TrainedContent& result, const FeaturePack& features) {
  std::set<std::int64_t> speakers;
  for (const std::int64_t u : data.Training()) {
    speakers.insert(data.Speakers()[static_cast<std::size_t>(u)]);
  }
  nlohmann::ordered_json json = {{"teacher", features.teacher},
                                 {"hours", data.Hours()},
                                 {"utterances", data.Training().size()},
                                 {"speakers", speakers.size()},
                                 {"held_out_utterances", data.HeldOut().size()},
                                 {"speaker_directions_removed", o.speaker_directions},
                                 {"learning_rate", o.run.learning_rate},
                                 {"seed", o.run.seed},
                                 {"probe",
                                  {{"teacher", result.probe_teacher},
                                   {"bottleneck", result.probe_bottleneck},
                                   {"student", result.probe_student},
                                   {"chance", result.probe_chance}}}};
  sotto::Record(ContentTraining::Table(), o, json);
  sotto::Record(HeardChange::Table(), o.change, json);
  sotto::Record(FreshSpeechOptions::Table(), o.fresh_speech, json);
  if (o.base) json["base"] = Fingerprint(*o.base);
  if (o.bottleneck_of) {
    json["bottleneck_of"] = Fingerprint(*o.bottleneck_of);
  } else {
    json["variance_kept"] = bottleneck.kept;
  }
  json["curve"] = CurveRecord(result.curve);
  return json.dump();
}

std::vector<std::int64_t> SpeakersOf(const SpeechData& data,
                                     const std::vector<std::int64_t>& utterances) {
  std::vector<std::int64_t> speakers;
  speakers.reserve(utterances.size());
  for (const std::int64_t u : utterances) {
    speakers.push_back(data.Speakers()[static_cast<std::size_t>(u)]);
  }
  return speakers;
}

void Probe(const SpeechData& data, const Tensor& table, TrainedContent& result) {
  torch::NoGradGuard no_grad;
  const std::vector<std::int64_t> utterances = ProbeUtterances(data, kProbeSpeakers);
  if (utterances.empty()) return;
  std::vector<Tensor> states;
  states.reserve(utterances.size());
  for (const std::int64_t u : utterances) {
    states.push_back(
        data.TeacherStates(data.ContentBegin(u), data.ContentBegin(u) + data.ContentCount(u))
            .mean(0));
  }
  const std::vector<std::int64_t> speakers = SpeakersOf(data, utterances);
  result.probe_chance =
      1.0 / static_cast<double>(std::set<std::int64_t>(speakers.begin(), speakers.end()).size());
  result.probe_teacher = SpeakerProbe(torch::stack(states), speakers);
  result.probe_bottleneck = ProbeTable(data, table);
  result.probe_student = ProbeTable(data, StudentTable(data, result.file));
}

class ContentLesson : public Lesson {
 public:
  ContentLesson(Trainer& trainer, const SpeechPack& pack, const FeaturePack& features,
                const ContentTraining& options, const std::vector<double>& emphasis)
      : o_(WithTeacher(options, features)),
        data_(pack, features, o_.hold_out, emphasis, o_.run.seed, trainer.Device()),
        noises_(QuietStretches(pack, trainer.Device())),
        mel_(kStudentMels, trainer.Device()),
        bottleneck_(ChooseBottleneck(data_, o_)),
        table_(BottleneckTable(data_, bottleneck_)),
        random_(trainer.Random(1)),
        student_(o_.net, trainer.Device(), o_.run.bf16),
        smooth_(o_.net, trainer.Device(), false) {
    if (o_.fresh > 0) {
      teacher_.emplace(*o_.listener, bottleneck_, trainer.Device());
      fresh_.emplace(data_, *teacher_, o_.fresh_speech, trainer.Random(2));
    }
    torch::NoGradGuard no_grad;  // layers come into being
    const Tensor some =
        torch::zeros({1, kStudentMels.mels, 8}, torch::TensorOptions(trainer.Device()));
    student_(some);
    smooth_(some);
    if (o_.base) {
      BeginFrom(*o_.base, ReadContentOptions(*o_.base).body, o_.net.body, student_.backend);
    }
    student_.backend.SetDropout(o_.dropout);
    weights_.emplace(student_.backend);
    average_.emplace(smooth_.backend);
  }

  std::vector<Learner> Learners() override { return {{"net", &*weights_, &*average_}}; }
  AdamOptions Adam() const override {
    AdamOptions adam;
    adam.beta1 = 0.9;
    adam.clip = 1.0;
    return adam;
  }
  Losses Batch(const Moment& now) override;
  std::vector<ValidationFigure> Validate(const std::vector<double>& means) override;
  std::string_view Best() const override { return "held_out_error"; }
  TrainedContent Result(const Trainer& trainer, const FeaturePack& features);

 private:
  static ContentTraining WithTeacher(ContentTraining options, const FeaturePack& features) {
    options.net.teacher = features.state_size;
    return options;
  }

  ContentTraining o_;
  const SpeechData data_;
  const NoiseBank noises_;
  const TorchMel mel_;
  const Bottleneck bottleneck_;
  const Tensor table_;
  std::mt19937_64& random_;
  std::optional<Words> teacher_;
  std::optional<FreshSpeech> fresh_;
  Student student_, smooth_;
  std::optional<FlatParameters> weights_, average_;
};

Losses ContentLesson::Batch(const Moment&) {
  constexpr std::size_t kGroups = 3;  // speeds in a batch: one resampling each
  const std::int64_t n = o_.frames * kContentHop;
  std::vector<Tensor> samples, asked;
  for (const std::int64_t share : EvenShares(o_.batch - o_.fresh, kGroups)) {
    if (share == 0) continue;
    const std::int64_t source = SamplesAtSpeed(n, o_.speeds[random_() % o_.speeds.size()]);
    const Crops crops = data_.Draw(share, (source + kContentHop - 1) / kContentHop + 1);
    samples.push_back(ChangeSpeed(data_.Samples(crops, source), n));
    asked.push_back(data_.Content(table_, crops, o_.frames,
                                  static_cast<double>(source) / static_cast<double>(n)));
  }
  if (fresh_) {
    FreshSpeech::Batch more = fresh_->Draw(o_.fresh, o_.frames);
    samples.push_back(std::move(more.samples));
    asked.push_back(std::move(more.content));
  }
  const Tensor x = ChangedMels(mel_, torch::cat(samples), noises_, o_.change);
  const Tensor loss = DistillationLoss(student_(x), torch::cat(asked), o_.margin);
  return {loss, {loss}};
}

std::vector<ValidationFigure> ContentLesson::Validate(const std::vector<double>& means) {
  const std::int64_t frames = 200;
  const Crops crops = data_.Fixed(64, frames);
  const Tensor y = smooth_(mel_(data_.Samples(crops, frames * kContentHop)));
  const Tensor z = data_.Content(table_, crops, frames);
  const Tensor cosine = torch::cosine_similarity(y, z, 1).mean();
  return {{"loss", "  loss {:7.4f}", means[0]},
          {"held_out_error", "  held-out error {:5.1f} %", ErrorOverVariance(y, z), 100.0},
          {"held_out_cosine", "  cosine {:.4f}", cosine.item<double>()}};
}

TrainedContent ContentLesson::Result(const Trainer& trainer, const FeaturePack& features) {
  TrainedContent result{{}, trainer.Curve()};
  smooth_.backend.Save(result.file);
  result.file.tensors["bottleneck.weight"] = AsStored(bottleneck_.weight);
  result.file.tensors["bottleneck.bias"] = AsStored(bottleneck_.bias);
  WriteContentOptions(o_.net, result.file);
  Probe(data_, table_, result);
  result.file.metadata["sotto.training"] = Record(o_, data_, bottleneck_, result, features);
  return result;
}

}  // namespace

const OptionTable<ContentTraining>& ContentTraining::Table() {
  using C = ContentTraining;
  static const OptionTable<C> table = {
      {"speaker_directions", &C::speaker_directions,
       "Remove so many directions from the teacher's states: those that tell speakers apart most"},
      {"batch", &C::batch, "Crops of a batch", 1},
      {"frames", &C::frames, "Frames of 20 ms in a crop", 1},
      {"margin", &C::margin, "Frames at either end of a crop without a loss"},
      {"speeds", &C::speeds, "Play crops at one of these speeds", 0.5, 2},
      {"fresh", &C::fresh,
       "Crops of a batch whose speech is joined from pieces of several utterances"},
      {"dropout", &C::dropout, "Share of values dropped behind the GELU of each block", 0,
       kBelowOne},
  };
  return table;
}

void ContentTraining::Validate() const {
  run.Validate();
  RequireRanges(Table(), *this);
  fresh_speech.Validate();
  change.Validate(frames);
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(what);
  };
  need(net.mels == kStudentMels.mels, "the content encoder sees 80 mel bands");
  need(net.attend_every >= 0 && net.attend_every <= net.body.blocks,
       "attention stands behind a number of blocks that are there");
  need(net.attention.reach >= 1, "attention reaches at least one frame");
  need(frames > 2 * margin, "crops are longer than their margins");
  need(fresh < batch, "fresh speech is a part of the batch");
  need(fresh == 0 || listener, "fresh speech needs the teacher's net");
}

Tensor StudentTable(const SpeechData& data, const TensorFile& content) {
  torch::NoGradGuard no_grad;
  const ContentOptions options = ReadContentOptions(content);
  Student student(options, data.Device(), false);
  student.backend.Load(content);
  const TorchMel mel(kStudentMels, data.Device());
  // Several utterances of about the same length at a time.
  constexpr std::size_t kTogether = 16;
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.Utterances()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return data.ContentCount(a) < data.ContentCount(b);
  });
  std::vector<Tensor> parts(order.size());
  for (std::size_t from = 0; from < order.size(); from += kTogether) {
    const std::size_t to = std::min(order.size(), from + kTogether);
    const std::int64_t longest = data.ContentCount(order[to - 1]);
    std::vector<Tensor> mels;
    for (std::size_t i = from; i < to; ++i) {
      mels.push_back(PairedMels(mel, data.Whole(order[i], std::int64_t{1} << 40), longest));
    }
    const Tensor states = student(torch::cat(mels)).to(torch::kHalf);
    for (std::size_t i = from; i < to; ++i) {
      parts[static_cast<std::size_t>(order[i])] =
          states[static_cast<std::int64_t>(i - from)].narrow(1, 0, data.ContentCount(order[i])).t();
    }
  }
  return torch::cat(parts);
}

double ProbeTable(const SpeechData& data, const Tensor& table) {
  const std::vector<std::int64_t> utterances = ProbeUtterances(data, kProbeSpeakers);
  if (utterances.empty()) return 0.0;
  return SpeakerProbe(TimeMeans(data, table, utterances), SpeakersOf(data, utterances));
}

TrainedContent TrainContent(const SpeechPack& pack, const FeaturePack& features,
                            const ContentTraining& o, const std::vector<double>& emphasis) {
  o.Validate();
  Trainer trainer(o.run);
  ContentLesson lesson(trainer, pack, features, o, emphasis);
  trainer.Run(lesson);
  return lesson.Result(trainer, features);
}

}  // namespace sotto
