#include "learn/content_trainer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "base/error.h"
#include "learn/base_net.h"
#include "learn/bottleneck.h"
#include "learn/judges.h"

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

// Crops at a few speeds, and where each lies in the corpus.
struct Batch {
  Tensor samples, target;
};

Batch NextBatch(const SpeechData& data, const Tensor& table, const ContentTraining& o,
                std::int64_t batch, std::mt19937_64& random) {
  constexpr std::int64_t kGroups = 3;  // speeds in a batch: one resampling each
  const std::int64_t n = o.frames * kContentHop;
  std::vector<Tensor> samples, targets;
  for (std::int64_t g = 0; g < kGroups; ++g) {
    const std::int64_t share = batch / kGroups + (g < batch % kGroups ? 1 : 0);
    if (share == 0) continue;
    const std::int64_t source = SamplesAtSpeed(n, o.speeds[random() % o.speeds.size()]);
    const Crops crops = data.Draw(share, (source + kContentHop - 1) / kContentHop + 1);
    samples.push_back(ChangeSpeed(data.Samples(crops, source), n));
    targets.push_back(
        data.Content(table, crops, o.frames, static_cast<double>(source) / static_cast<double>(n)));
  }
  return {torch::cat(samples), torch::cat(targets)};
}

void HeldOutFigures(const SpeechData& data, Student& student, const TorchMel& mel,
                    const Tensor& table, ContentPoint& point) {
  torch::NoGradGuard no_grad;
  const std::int64_t frames = 200;
  const Crops crops = data.Fixed(64, frames);
  const Tensor y = student(mel(data.Samples(crops, frames * kContentHop)));
  const Tensor z = data.Content(table, crops, frames);
  const Tensor centre = z.mean(std::vector<std::int64_t>{0, 2}, /*keepdim=*/true);
  point.error = ((y - z).square().mean() / (z - centre).square().mean()).item<double>();
  point.cosine = torch::cosine_similarity(y, z, 1).mean().item<double>();
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
                                 {"batch", o.batch},
                                 {"frames", o.frames},
                                 {"speaker_directions_removed", o.speaker_directions},
                                 {"speeds", o.speeds},
                                 {"warp", o.change.warp},
                                 {"augmented", o.change.augmented},
                                 {"mask_frames", o.change.mask_frames},
                                 {"mask_bands", o.change.mask_bands},
                                 {"dropout", o.dropout},
                                 {"fresh", o.fresh},
                                 {"fresh_pieces", o.fresh_speech.pieces},
                                 {"learning_rate", o.run.learning_rate},
                                 {"seed", o.run.seed},
                                 {"probe",
                                  {{"teacher", result.probe_teacher},
                                   {"bottleneck", result.probe_bottleneck},
                                   {"student", result.probe_student},
                                   {"chance", result.probe_chance}}}};
  if (o.base) json["base"] = Fingerprint(*o.base);
  if (o.bottleneck_of) {
    json["bottleneck_of"] = Fingerprint(*o.bottleneck_of);
  } else {
    json["variance_kept"] = bottleneck.kept;
  }
  auto& curve = json["curve"] = nlohmann::ordered_json::array();
  for (const ContentPoint& p : result.curve) {
    curve.push_back({{"step", p.step},
                     {"loss", p.loss},
                     {"held_out_error", p.error},
                     {"held_out_cosine", p.cosine},
                     {"seconds", p.seconds}});
  }
  return json.dump();
}

std::vector<std::int64_t> SpeakersOf(const SpeechData& data,
                                     const std::vector<std::int64_t>& utterances) {
  std::vector<std::int64_t> speakers;
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

}  // namespace

void ContentTraining::Validate() const {
  run.Validate();
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(what);
  };
  need(net.mels == kStudentMels.mels, "the content encoder sees 80 mel bands");
  need(net.attend_every >= 0 && net.attend_every <= net.body.blocks,
       "attention stands behind a number of blocks that are there");
  need(net.attention.reach >= 1, "attention reaches at least one frame");
  need(batch >= 1, "a batch needs a crop");
  need(margin >= 0 && frames > 2 * margin, "crops are longer than their margins");
  need(!speeds.empty(), "at least one speed");
  for (const double speed : speeds) need(speed >= 0.5 && speed <= 2.0, "speeds lie from 0.5 to 2");
  need(fresh >= 0 && fresh < batch, "fresh speech is a part of the batch");
  need(fresh == 0 || listener, "fresh speech needs the teacher's net");
  fresh_speech.Validate();
  change.Validate(frames);
  need(dropout >= 0.0 && dropout < 1.0, "the dropped share lies in [0, 1)");
  need(average >= 0.0 && average < 1.0, "the average's decay lies in [0, 1)");
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
  const torch::Device device(o.run.device);
  torch::manual_seed(o.run.seed);
  std::mt19937_64 random(o.run.seed + 1);
  if (device.is_cuda()) {
    at::globalContext().setAllowTF32CuBLAS(true);
    at::globalContext().setAllowTF32CuDNN(true);
  }
  ContentTraining options = o;
  options.net.teacher = features.state_size;
  const SpeechData data(pack, features, o.hold_out, emphasis, o.run.seed, device);
  const NoiseBank noises = QuietStretches(pack, device);
  const TorchMel mel(kStudentMels, device);
  const Bottleneck bottleneck = ChooseBottleneck(data, options);
  const Tensor table = BottleneckTable(data, bottleneck);
  std::optional<Words> teacher;
  std::optional<FreshSpeech> fresh;
  if (o.fresh > 0) {
    teacher.emplace(*o.listener, bottleneck, device);
    fresh.emplace(data, *teacher, o.fresh_speech, o.run.seed + 2);
  }

  Student student(options.net, device, o.run.bf16), smooth(options.net, device, false);
  {
    torch::NoGradGuard no_grad;  // layers come into being
    const Tensor some = torch::zeros({1, kStudentMels.mels, 8}, torch::TensorOptions(device));
    student(some);
    smooth(some);
  }
  if (o.base) {
    BeginFrom(*o.base, ReadContentOptions(*o.base).body, options.net.body, student.backend);
  }
  student.backend.SetDropout(o.dropout);
  FlatParameters net(student.backend), average(smooth.backend);
  average.AverageFrom(net, 0.0);
  RunClock clock(o.run);
  const CheckpointParts parts = {{"net", &net}, {"average", &average}};
  if (!o.run.resume.empty()) ReadCheckpoint(o.run.resume, clock, parts);

  TrainedContent result;
  Tensor loss_sum = torch::zeros({1}, torch::TensorOptions(device));
  std::int64_t counted = 0;
  AdamOptions adam;
  adam.beta1 = 0.9;
  adam.weight_decay = o.weight_decay;
  adam.clip = 1.0;
  for (bool first = true;; first = false, clock.Next()) {
    const bool last = clock.Ended();
    if (first || last || clock.Step() % o.run.validate_every == 0) {
      ContentPoint point;
      point.step = clock.Step();
      point.loss =
          loss_sum.item<double>() / static_cast<double>(std::max<std::int64_t>(1, counted));
      loss_sum.zero_();
      counted = 0;
      average.Spread(false);
      HeldOutFigures(data, smooth, mel, table, point);
      point.seconds = clock.Seconds();
      result.curve.push_back(point);
      fmt::print(stderr,
                 "step {:6d}  loss {:7.4f}  held-out error {:5.1f} %  cosine {:.4f}  {:.0f} s\n",
                 point.step, point.loss, 100.0 * point.error, point.cosine, point.seconds);
      if (!o.run.checkpoint.empty() && !first) {
        WriteCheckpoint(o.run.checkpoint, clock, parts, {});
      }
      if (last) break;
    }
    Batch batch = NextBatch(data, table, options, o.batch - o.fresh, random);
    if (fresh) {
      const FreshSpeech::Batch more = fresh->Draw(o.fresh, o.frames);
      batch.samples = torch::cat({batch.samples, more.samples});
      batch.target = torch::cat({batch.target, more.content});
    }
    const Tensor x = ChangedMels(mel, batch.samples, noises, o.change);
    net.Spread(true);
    const Tensor loss = DistillationLoss(student(x), batch.target, o.margin);
    loss.backward();
    adam.learning_rate = clock.LearningRate();
    net.Step(adam);
    const auto t = static_cast<double>(clock.Step());
    average.AverageFrom(net, std::min(o.average, (1.0 + t) / (10.0 + t)));
    loss_sum += loss.detach();
    ++counted;
  }
  average.Spread(false);
  smooth.backend.Save(result.file);
  for (const auto& [name, value] :
       {std::pair{"bottleneck.weight", bottleneck.weight}, {"bottleneck.bias", bottleneck.bias}}) {
    const Tensor plain = value.to(torch::kCPU).contiguous();
    NamedTensor& out = result.file.tensors[name];
    out.shape = plain.sizes().vec();
    out.values.assign(plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel());
  }
  WriteContentOptions(options.net, result.file);
  Probe(data, table, result);
  result.file.metadata["sotto.training"] = Record(options, data, bottleneck, result, features);
  return result;
}

}  // namespace sotto
