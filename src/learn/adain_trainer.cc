#include "learn/adain_trainer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "learn/augment.h"
#include "learn/spectral_losses.h"
#include "learn/torch_mel.h"
#include "learn/torch_source.h"
#include "nn/encoder_net.h"
#include "nn/source.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr TorchMelOptions kMels = {16000, 80, 20.0, 7600.0};

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
  Tensor Speak(const SynthInput<Tensor>& input) {
    return Adain<TorchBackend>(options_, backend).Speak(input).squeeze(1);
  }
  TorchBackend backend;

 private:
  AdainOptions options_;
};

// The frozen speaker encoder.
class Listener {
 public:
  Listener(const TensorFile& file, std::int64_t size, torch::Device device)
      : backend_(device), mel_(kMels, device) {
    const EncoderNetOptions options = ReadEncoderNetOptions(file);
    const auto* ecapa = std::get_if<EcapaOptions>(&options);
    if (ecapa == nullptr || ecapa->mels != kMels.mels || ecapa->embedding != size) {
      throw Error(fmt::format(
          "{}: conversions are judged by an ECAPA net with 80 mel bands and embeddings of {}",
          file.where, size));
    }
    options_ = *ecapa;
    backend_.Load(file);
    for (auto& [name, value] : backend_.ParameterMap()) value.requires_grad_(false);
  }
  Tensor operator()(const Tensor& x) {
    return Ecapa<TorchBackend>(options_, backend_).Forward(mel_(x));
  }

 private:
  EcapaOptions options_;
  TorchBackend backend_;
  TorchMel mel_;
};

// Whose voices the first rows of a batch get: those half a batch further on, which are others since
// batches are shuffled, or ones on the way from there to those a quarter further.
struct Targets {
  Targets(const Crops& crops, std::int64_t rows, double mixed) {
    const std::int64_t all = crops.start.size(0);
    const Tensor row = torch::arange(rows, crops.start.options());
    one = torch::remainder(row + all / 2, all);
    two = torch::remainder(row + all / 2 + all / 4, all);
    const auto options = crops.start.options().dtype(torch::kFloat32);
    angle = torch::rand({rows, 1}, options) * (0.5 * std::numbers::pi);
    angle = torch::where(torch::rand({rows, 1}, options) < mixed, angle, torch::zeros_like(angle));
  }
  // Of the batch's voices (batch × size × 1), of the same length again.
  Tensor Voices(const Tensor& of) const {
    return UnitEmbeddings(of.index_select(0, one) * angle.cos().unsqueeze(2) +
                          of.index_select(0, two) * angle.sin().unsqueeze(2));
  }
  // Of the batch's ln F0 (batch × 1).
  Tensor Pitch(const Tensor& of) const {
    return of.index_select(0, one) * angle.cos().square() +
           of.index_select(0, two) * angle.sin().square();
  }
  Tensor one, two, angle;
};

// What the net hears and what it is to give.
struct Batch {
  Tensor mels, voice_mels;
  SynthInput<Tensor> input;  // without content and embedding
  Tensor speech;             // batch × samples of the inner frames, at the common level
};

class BatchMaker {
 public:
  BatchMaker(const SpeechData& data, const AdainTraining& o)
      : data_(data), o_(o), mel_(kMels, data.Device()) {}

  std::int64_t Frames() const { return o_.frames + 2 * o_.margin; }

  Batch Make(const Crops& crops, bool fixed) const {
    Batch batch;
    const Tensor samples = data_.Samples(crops, Frames() * kSynthHop);
    batch.mels = mel_(samples);
    const Crops other = data_.Other(crops, o_.voice_frames / 2, fixed);
    Tensor voice = data_.Samples(other, o_.voice_frames * kSynthHop);
    if (!fixed) {
      batch.mels = WarpMels(batch.mels, o_.warp, kMels.low_hz, kMels.high_hz);
      const Tensor db = (torch::rand({voice.size(0), 1}, voice.options()) * 2.0 - 1.0) * o_.gain_db;
      voice = voice * (db * (std::numbers::ln10 / 20.0)).exp();
    }
    batch.voice_mels = mel_(voice);
    SetPitch(batch.input, data_.F0(crops, Frames()), data_.Voiced(crops, Frames()));
    batch.speech = Inner(samples) * data_.LevelGain(crops);
    return batch;
  }

  // F0 and sources of the first crops, moved to the targets' level.
  SynthInput<Tensor> Converted(const Crops& crops, const Targets& targets) const {
    const std::int64_t rows = targets.one.size(0);
    const Tensor pitch = data_.SpeakerPitch(crops);
    const Tensor shift = (targets.Pitch(pitch) - pitch.narrow(0, 0, rows)).exp();
    const Crops first{crops.utterance.narrow(0, 0, rows), crops.start.narrow(0, 0, rows)};
    SynthInput<Tensor> input;
    SetPitch(input, (data_.F0(first, Frames()) * shift).clamp(50.0, 800.0),
             data_.Voiced(first, Frames()));
    return input;
  }

  Tensor Inner(const Tensor& samples) const {
    return samples.narrow(1, o_.margin * kSynthHop, o_.frames * kSynthHop);
  }
  Tensor Mels(const Tensor& samples) const { return mel_(samples); }

 private:
  static void SetPitch(SynthInput<Tensor>& input, const Tensor& f0, const Tensor& voiced) {
    const Tensor phase =
        torch::rand({f0.size(0)}, f0.options().dtype(torch::kFloat64)) * (2.0 * std::numbers::pi);
    input.pitch = torch::stack({(f0.log() - std::log(kNeutralF0Hz)) / 0.5, voiced}, 1);
    input.harmonic = HarmonicSources(f0, phase).unsqueeze(1);
    input.noise = torch::randn_like(input.harmonic);
  }

  const SpeechData& data_;
  const AdainTraining& o_;
  TorchMel mel_;
};

Tensor MeanCosine(const Tensor& a, const Tensor& b) {
  return torch::cosine_similarity(a, b, 1).mean();
}

// Mean squared cosine of the vectors of different crops.
Tensor Crowding(const Tensor& voices) {
  const Tensor v = voices.squeeze(2) / std::sqrt(static_cast<double>(voices.size(1)));
  const auto n = static_cast<double>(v.size(0));
  const Tensor squares = torch::matmul(v, v.t()).square();
  return (squares.sum() - squares.diagonal().sum()) / (n * (n - 1.0));
}

AdainPoint HeldOutFigures(const SpeechData& data, const BatchMaker& batches, Converter& net,
                          const MelDistance& distance, Listener* listener) {
  torch::NoGradGuard no_grad;
  AdainPoint point;
  const Crops crops = data.Fixed(64, batches.Frames() / 2);
  Batch batch = batches.Make(crops, true);
  batch.input.content = net.Content(batch.mels);
  batch.input.embedding = net.Speaker(batch.voice_mels);
  point.held_out_mel = distance(batches.Inner(net.Speak(batch.input)), batch.speech).item<double>();
  const std::int64_t rows = 32;
  const Targets targets(crops, rows, 0.0);
  SynthInput<Tensor> input = batches.Converted(crops, targets);
  input.content = batch.input.content.narrow(0, 0, rows);
  input.embedding = targets.Voices(batch.input.embedding);
  const Tensor sound = net.Speak(input), mels = batches.Mels(sound);
  const Tensor voice = net.Speaker(mels);
  point.target_cosine = MeanCosine(voice, input.embedding).item<double>();
  point.source_cosine = MeanCosine(voice, batch.input.embedding.narrow(0, 0, rows)).item<double>();
  point.content_error =
      ((net.Content(mels) - input.content).square().mean() / input.content.square().mean())
          .item<double>();
  if (listener != nullptr) {
    const Tensor heard = (*listener)(sound), who = data.MeanEmbedding(crops);
    point.encoder_target = MeanCosine(heard, targets.Voices(who)).item<double>();
    point.encoder_source = MeanCosine(heard, who.narrow(0, 0, rows)).item<double>();
  }
  return point;
}

void Print(const AdainPoint& p) {
  fmt::print(stderr,
             "step {:6d}  mel {:.4f}  critic {:.3f}  maker {:.3f}  feature {:.3f} | held out: mel "
             "{:.4f}  voice {:+.3f} target {:+.3f} source  by the encoder {:+.3f} {:+.3f}  content "
             "error {:.3f}  {:.0f} s\n",
             p.step, p.mel, p.critic, p.maker, p.feature, p.held_out_mel, p.target_cosine,
             p.source_cosine, p.encoder_target, p.encoder_source, p.content_error, p.seconds);
}

std::string Record(const AdainTraining& o, const SpeechData& data, const TensorFile* encoder,
                   const TrainedAdain& result) {
  nlohmann::ordered_json json = {{"encoder", encoder == nullptr ? "" : Fingerprint(*encoder)},
                                 {"hours", data.Hours()},
                                 {"utterances", data.Training().size()},
                                 {"held_out_utterances", data.HeldOut().size()},
                                 {"batch", o.batch},
                                 {"frames", o.frames},
                                 {"margin", o.margin},
                                 {"voice_frames", o.voice_frames},
                                 {"content_noise", o.content_noise},
                                 {"warp", o.warp},
                                 {"mel_weight", o.mel_weight},
                                 {"feature_weight", o.feature_weight},
                                 {"critic_weight", o.critic_weight},
                                 {"converted", o.converted},
                                 {"mixed", o.mixed},
                                 {"speaker_weight", o.speaker_weight},
                                 {"content_weight", o.content_weight},
                                 {"spread_weight", o.spread_weight},
                                 {"encoder_weight", encoder == nullptr ? 0.0 : o.encoder_weight},
                                 {"learning_rate", o.run.learning_rate},
                                 {"seed", o.run.seed}};
  auto& curve = json["curve"] = nlohmann::ordered_json::array();
  for (const AdainPoint& p : result.curve) {
    curve.push_back({{"step", p.step},
                     {"mel", p.mel},
                     {"held_out_mel", p.held_out_mel},
                     {"target_cosine", p.target_cosine},
                     {"source_cosine", p.source_cosine},
                     {"encoder_target_cosine", p.encoder_target},
                     {"encoder_source_cosine", p.encoder_source},
                     {"content_error", p.content_error},
                     {"seconds", p.seconds}});
  }
  return json.dump();
}

// Sums of losses on the device, read once a validation.
class Sums {
 public:
  explicit Sums(torch::Device device) : values_(torch::zeros({4}, torch::TensorOptions(device))) {}
  void Add(const Tensor& mel, const Tensor& critic, const Tensor& maker, const Tensor& feature) {
    values_ += torch::stack({mel, critic, maker, feature}).detach();
    ++count_;
  }
  void Take(AdainPoint& point) {
    const Tensor mean = (values_ / static_cast<double>(std::max<std::int64_t>(1, count_))).cpu();
    point.mel = mean[0].item<double>();
    point.critic = mean[1].item<double>();
    point.maker = mean[2].item<double>();
    point.feature = mean[3].item<double>();
    values_.zero_();
    count_ = 0;
  }

 private:
  Tensor values_;
  std::int64_t count_ = 0;
};

}  // namespace

void AdainTraining::Validate() const {
  run.Validate();
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(what);
  };
  need(net.mels == kMels.mels, "the net hears 80 mel bands");
  need(net.spectrum.hop == kSynthHop, "spectra have a hop of 160 samples");
  need(batch >= 2, "a batch needs at least 2 crops");
  need(frames >= 14 && frames % 2 == 0, "crops have an even number of frames, at least 14");
  need(margin >= 0 && margin % 2 == 0, "the margin is an even number of frames");
  need(voice_frames >= 20 && voice_frames % 2 == 0,
       "the other utterance has an even number of frames, at least 20");
  need(content_noise >= 0.0, "the content's noise is 0 or more");
  need(warp >= 0.0 && warp <= 0.5, "the warp lies from 0 to 0.5");
  need(gain_db >= 0.0, "the level's range is 0 or more");
  need(converted >= 0 && converted <= batch, "converted crops are a part of the batch");
  need(mixed >= 0.0 && mixed <= 1.0, "the share of mixed voices lies from 0 to 1");
  need(critic_channels >= 1, "critics need a channel");
  need(average >= 0.0 && average < 1.0, "the average's decay lies in [0, 1)");
}

TrainedAdain TrainAdain(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile* encoder, const AdainTraining& o,
                        const std::vector<double>& emphasis) {
  o.Validate();
  const torch::Device device(o.run.device);
  torch::manual_seed(o.run.seed);
  if (device.is_cuda()) {
    at::globalContext().setAllowTF32CuBLAS(true);
    at::globalContext().setAllowTF32CuDNN(true);
    at::globalContext().setBenchmarkCuDNN(true);  // every step has the same sizes
  }
  const SpeechData data(pack, features, o.hold_out, emphasis, o.run.seed, device);
  const BatchMaker batches(data, o);
  std::unique_ptr<Listener> listener;
  if (encoder != nullptr) {
    listener = std::make_unique<Listener>(*encoder, features.embedding_size, device);
  }
  const MelDistance distance(device);
  const std::int64_t crop = batches.Frames() / 2;  // content frames

  Converter made(o.net, device, o.run.bf16), smooth(o.net, device, false);
  Critics critics(o.critic_channels, device);
  if (o.run.bf16) critics.backend.SetWork(torch::kBFloat16);
  {
    torch::NoGradGuard no_grad;  // layers come into being
    const Batch some = batches.Make(data.Draw(2, crop), false);
    for (Converter* net : {&made, &smooth}) {
      SynthInput<Tensor> input = some.input;
      input.content = net->Content(some.mels);
      input.embedding = net->Speaker(some.voice_mels);
      net->Speak(input);
    }
    critics(some.speech);
  }
  FlatParameters net(made.backend), average(smooth.backend), judge(critics.backend);
  average.AverageFrom(net, 0.0);
  RunClock clock(o.run);
  const CheckpointParts parts = {{"net", &net}, {"average", &average}, {"critics", &judge}};
  if (!o.run.resume.empty()) ReadCheckpoint(o.run.resume, clock, parts);

  TrainedAdain result;
  Sums sums(device);
  AdamOptions adam;
  adam.weight_decay = o.weight_decay;
  const Tensor none = torch::zeros({}, torch::TensorOptions(device));
  for (bool first = true;; first = false, clock.Next()) {
    const bool last = clock.Ended();
    if (first || last || clock.Step() % o.run.validate_every == 0) {
      average.Spread(false);
      AdainPoint point = HeldOutFigures(data, batches, smooth, distance, listener.get());
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
    const std::int64_t converted = judged ? o.converted : 0;
    adam.learning_rate = clock.LearningRate();
    Crops crops;
    Batch batch;
    SynthInput<Tensor> converting;
    std::optional<Targets> targets;
    {
      torch::NoGradGuard no_grad;
      crops = data.Draw(o.batch, crop);
      batch = batches.Make(crops, false);
      if (converted > 0) {
        targets.emplace(crops, converted, o.mixed);
        converting = batches.Converted(crops, *targets);
      }
    }
    net.Spread(true);
    SynthInput<Tensor> input = batch.input;
    const Tensor content = made.Content(batch.mels), voice = made.Speaker(batch.voice_mels);
    input.content = content + torch::randn_like(content) * o.content_noise;
    input.embedding = voice;
    if (converted > 0) {  // one pass for both; conversions teach the decoder alone
      converting.content = input.content.narrow(0, 0, converted).detach();
      converting.embedding = targets->Voices(voice).detach();
      input.content = torch::cat({input.content, converting.content});
      input.pitch = torch::cat({input.pitch, converting.pitch});
      input.harmonic = torch::cat({input.harmonic, converting.harmonic});
      input.noise = torch::cat({input.noise, converting.noise});
      input.embedding = torch::cat({input.embedding, converting.embedding});
    }
    const Tensor whole = made.Speak(input), inner = batches.Inner(whole);
    const Tensor mel = distance(inner.narrow(0, 0, o.batch), batch.speech);
    Tensor loss = o.mel_weight * mel + o.spread_weight * Crowding(voice);
    Tensor critic_loss = none, maker_loss = none, feature_loss = none;
    if (judged) {
      judge.Spread(true);
      const Critics::Verdicts real = critics(batch.speech);
      critic_loss = CriticLoss(real, critics(inner.detach()));
      critic_loss.backward();
      judge.Step(adam);
      judge.Spread(false);
      const Critics::Verdicts verdicts = critics(inner);
      maker_loss = MakerLoss(verdicts);
      feature_loss = FeatureLoss(real, verdicts, o.batch);
      loss = loss + o.critic_weight * maker_loss + o.feature_weight * feature_loss;
    }
    if (converted > 0) {
      average.Spread(false);
      const Tensor sound = whole.narrow(0, o.batch, converted), mels = batches.Mels(sound);
      const Tensor said = content.narrow(0, 0, converted).detach();
      loss = loss +
             o.speaker_weight * (1.0 - MeanCosine(smooth.Speaker(mels), converting.embedding)) +
             o.content_weight * torch::smooth_l1_loss(smooth.Content(mels), said);
      if (listener && o.encoder_weight > 0.0) {
        const Tensor who = targets->Voices(data.MeanEmbedding(crops));
        loss = loss + o.encoder_weight * (1.0 - MeanCosine((*listener)(sound), who));
      }
    }
    loss.backward();
    net.Step(adam);
    const auto t = static_cast<double>(clock.Step());
    average.AverageFrom(net, std::min(o.average, (1.0 + t) / (10.0 + t)));
    sums.Add(mel, critic_loss, maker_loss, feature_loss);
  }
  average.Spread(false);
  smooth.backend.Save(result.file);
  WriteAdainOptions(o.net, result.file);
  result.file.metadata["sotto.training"] = Record(o, data, encoder, result);
  return result;
}

}  // namespace sotto
