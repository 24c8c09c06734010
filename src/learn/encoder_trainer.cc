#include "learn/encoder_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <random>
#include <set>

#include "base/error.h"
#include "learn/torch_backend.h"
#include "learn/torch_mel.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kShift = 160;
constexpr std::int64_t kMaxValidationSamples = 8 * 16000;

struct Speaker {
  std::vector<std::size_t> utterances;
  double emphasis = 1.0;
};

// Utterances of the training and of the held-out speakers.
struct Split {
  std::vector<Speaker> training, held_out;
};

Split SplitSpeakers(const SpeechPack& pack, const EncoderTraining& o) {
  std::map<std::string, Speaker> speakers;
  for (std::size_t i = 0; i < pack.utterances.size(); ++i) {
    if (pack.utterances[i].count >= 8000) {
      speakers[pack.utterances[i].speaker].utterances.push_back(i);
    }
  }
  std::vector<std::string> candidates;
  for (const auto& [name, speaker] : speakers) {
    if (speaker.utterances.size() >= 3 && name.find(kAlteredMark) == std::string::npos) {
      candidates.push_back(name);
    }
  }
  const std::set<std::string> chosen =
      ChooseHeldOut(std::move(candidates), o.hold_out, 3, o.run.seed);
  Split split;
  for (auto& [name, speaker] : speakers) {
    const std::string original = name.substr(0, name.find(kAlteredMark));
    if (!chosen.contains(original)) {
      const auto emphasis = o.emphasis.find(original);
      if (emphasis != o.emphasis.end()) speaker.emphasis = emphasis->second;
      split.training.push_back(std::move(speaker));
    } else if (chosen.contains(name)) {
      if (speaker.utterances.size() > 12) speaker.utterances.resize(12);
      split.held_out.push_back(std::move(speaker));
    }
  }
  if (split.training.size() < 2) throw Error("fewer than 2 speakers to train on");
  return split;
}

// Crops from the samples on the device.
class Cropper {
 public:
  Cropper(const SpeechPack& pack, torch::Device device)
      : pack_(pack),
        samples_(torch::from_blob(const_cast<std::int16_t*>(pack.samples.data()),
                                  {static_cast<std::int64_t>(pack.samples.size())}, torch::kInt16)
                     .to(device)) {}

  // `n` samples of each utterance from a random place; short ones go round.
  Tensor Random(const std::vector<std::size_t>& utterances, std::int64_t n,
                std::mt19937_64& random) const {
    std::vector<std::int64_t> begin, start, count;
    for (const std::size_t u : utterances) {
      const auto length = static_cast<std::int64_t>(pack_.utterances[u].count);
      begin.push_back(static_cast<std::int64_t>(pack_.utterances[u].begin));
      count.push_back(length);
      start.push_back(std::uniform_int_distribution<std::int64_t>(
          0, length > n ? length - n : length - 1)(random));
    }
    const auto column = [&](const std::vector<std::int64_t>& values) {
      return torch::tensor(values, torch::kInt64).to(samples_.device()).unsqueeze(1);
    };
    const Tensor at = torch::arange(n, samples_.options().dtype(torch::kInt64)).unsqueeze(0);
    const Tensor index = column(begin) + torch::remainder(column(start) + at, column(count));
    return samples_.index_select(0, index.reshape({-1})).view(index.sizes()).to(torch::kFloat32) /
           32768.0;
  }

  // The beginning of one utterance, as a batch of one.
  Tensor Whole(std::size_t u, std::int64_t most) const {
    const PackedUtterance& utterance = pack_.utterances[u];
    const auto n = std::min(static_cast<std::int64_t>(utterance.count), most);
    return samples_.narrow(0, static_cast<std::int64_t>(utterance.begin), n)
               .to(torch::kFloat32)
               .unsqueeze(0) /
           32768.0;
  }

 private:
  const SpeechPack& pack_;
  Tensor samples_;
};

class Encoder {
 public:
  Encoder(const EncoderNetOptions& options, torch::Device device)
      : backend(device), options_(options) {}

  // batch × mels × frames to batch × dimension.
  Tensor operator()(const Tensor& mels) {
    const Tensor y = std::visit(
        [&](const auto& o) {
          if constexpr (std::is_same_v<std::decay_t<decltype(o)>, EcapaOptions>) {
            return Ecapa<TorchBackend>(o, backend).Forward(mels);
          } else {
            return Xvector<TorchBackend>(o, backend).Forward(mels);
          }
        },
        options_);
    return y.squeeze(2);
  }

  TorchBackend backend;

 private:
  EncoderNetOptions options_;
};

// Equal error rate of scores, by the crossing of the two step functions.
double EqualErrorRate(std::vector<std::pair<float, bool>> scores) {
  std::sort(scores.begin(), scores.end());
  double targets = 0.0;
  for (const auto& [score, target] : scores) targets += target;
  const double others = static_cast<double>(scores.size()) - targets;
  if (targets == 0.0 || others == 0.0) return 0.5;
  double missed = 0.0, passed = others;
  for (const auto& [score, target] : scores) {
    (target ? missed : passed) += target ? 1.0 : -1.0;
    if (missed / targets >= passed / others) {
      return 0.5 * (missed / targets + passed / others);
    }
  }
  return 0.5;
}

double HeldOutEer(Encoder& encoder, const Cropper& cropper, const TorchMel& mel,
                  const std::vector<Speaker>& speakers) {
  torch::NoGradGuard no_grad;
  encoder.backend.SetTraining(false);
  std::vector<Tensor> embeddings;
  std::vector<std::size_t> owner;
  for (std::size_t s = 0; s < speakers.size(); ++s) {
    for (const std::size_t u : speakers[s].utterances) {
      const Tensor e = encoder(mel(cropper.Whole(u, kMaxValidationSamples)));
      embeddings.push_back(torch::nn::functional::normalize(e));
      owner.push_back(s);
    }
  }
  // Centred, as a finished net is (CentreEmbeddings): the mean of unseen voices is not that of
  // known ones, and cosines around the wrong mean hide what the net can tell apart.
  const Tensor raw = torch::cat(embeddings, 0);
  const Tensor all = torch::nn::functional::normalize(raw - raw.mean(0, true));
  const Tensor matrix = torch::matmul(all, all.t()).to(torch::kCPU).contiguous();
  const auto cosine = matrix.accessor<float, 2>();
  std::vector<std::pair<float, bool>> scores;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      scores.emplace_back(cosine[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)],
                          owner[i] == owner[j]);
    }
  }
  return EqualErrorRate(std::move(scores));
}

struct SpeakerCrops {
  Tensor samples;  // two crops of each speaker: rows i and i + speakers
  Tensor labels;   // of the first half
};

class BatchMaker {
 public:
  BatchMaker(const Cropper& cropper, const std::vector<Speaker>& speakers, const EncoderTraining& o,
             std::mt19937_64& random)
      : cropper_(cropper), speakers_(speakers), o_(o), random_(random) {
    // Speakers with more speech come more often, by the square root.
    std::vector<double> weights;
    weights.reserve(speakers.size());
    for (const Speaker& s : speakers) {
      weights.push_back(s.emphasis * std::sqrt(static_cast<double>(s.utterances.size())));
    }
    pick_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
  }

  // Short crops as often as long ones: what a net learns from long ones alone says little about
  // short utterances.
  std::int64_t DrawLength() {
    if (o_.least_frames == 0) return o_.frames;
    return std::uniform_int_distribution<std::int64_t>(o_.least_frames, o_.frames)(random_);
  }

  SpeakerCrops Next(std::int64_t frames) {
    const std::int64_t n = frames * kShift;
    const std::vector<std::int64_t> shares = EvenShares(o_.batch_speakers, o_.speeds.size());
    std::vector<Tensor> first, second;
    std::vector<std::int64_t> labels;
    for (std::size_t v = 0; v < shares.size(); ++v) {
      if (shares[v] == 0) continue;
      std::vector<std::size_t> a, b;
      for (std::int64_t i = 0; i < shares[v]; ++i) {
        const std::size_t s = pick_(random_);
        const std::vector<std::size_t>& utterances = speakers_[s].utterances;
        const std::size_t k = random_() % utterances.size();
        const std::size_t other =
            utterances.size() == 1
                ? k
                : (k + 1 + random_() % (utterances.size() - 1)) % utterances.size();
        a.push_back(utterances[k]);
        b.push_back(utterances[other]);
        labels.push_back(static_cast<std::int64_t>(s * shares.size() + v));
      }
      const std::int64_t source = SamplesAtSpeed(n, o_.speeds[v]);
      first.push_back(ChangeSpeed(cropper_.Random(a, source, random_), n));
      second.push_back(ChangeSpeed(cropper_.Random(b, source, random_), n));
    }
    first.insert(first.end(), second.begin(), second.end());
    SpeakerCrops batch;
    batch.samples = torch::cat(first, 0);
    batch.labels = torch::tensor(labels, torch::kInt64).to(batch.samples.device());
    return batch;
  }

 private:
  const Cropper& cropper_;
  const std::vector<Speaker>& speakers_;
  const EncoderTraining& o_;
  std::mt19937_64& random_;
  std::discrete_distribution<std::size_t> pick_;
};

// cos(θ + m)·s for the right class, cos θ·s for the others.
Tensor MarginLogits(const Tensor& cosine, const Tensor& labels, double margin, double scale) {
  const Tensor c = cosine.clamp(-1.0 + 1e-6, 1.0 - 1e-6);
  const Tensor moved = c * std::cos(margin) - (1.0 - c.square()).sqrt() * std::sin(margin);
  // Beyond π − m the cosine would turn back: go on linearly (Deng et al. 2019, implementation
  // note).
  const Tensor safe =
      torch::where(c > std::cos(std::numbers::pi - margin), moved, c - std::sin(margin) * margin);
  const Tensor hot = torch::zeros_like(c).scatter_(1, labels.unsqueeze(1), 1.0);
  return scale * (hot * safe + (1.0 - hot) * c);
}

// The base's own idea of each class: the mean embedding of some crops, so that fine-tuning does not
// begin with noise.
void MeetCentres(Encoder& encoder, BatchMaker& batches, const TorchMel& mel, Tensor& centres,
                 const EncoderTraining& o) {
  torch::NoGradGuard no_grad;
  encoder.backend.SetTraining(false);
  Tensor sums = torch::zeros_like(centres);
  const std::int64_t rounds = 3 * centres.size(0) / o.batch_speakers + 1;
  for (std::int64_t i = 0; i < rounds; ++i) {
    const SpeakerCrops batch = batches.Next(o.frames);
    const Tensor e = torch::nn::functional::normalize(encoder(mel(batch.samples)));
    sums.index_add_(0, torch::cat({batch.labels, batch.labels}), e);
  }
  const Tensor seen = (sums.square().sum(1, true) > 0).to(torch::kFloat32);
  centres.copy_(seen * torch::nn::functional::normalize(sums) * 0.7 + (1.0 - seen) * centres);
}

std::string TrainingRecord(const EncoderTraining& o, const SpeechPack& pack, const Split& split,
                           const TrainedEncoder& result) {
  nlohmann::ordered_json json = {{"speakers", split.training.size()},
                                 {"held_out_speakers", split.held_out.size()},
                                 {"hours", static_cast<double>(pack.samples.size()) / 16000 / 3600},
                                 {"batch", 2 * o.batch_speakers},
                                 {"steps", o.run.steps},
                                 {"best_step", result.best_step},
                                 {"learning_rate", o.run.learning_rate},
                                 {"weight_decay", o.run.weight_decay},
                                 {"seed", o.run.seed}};
  sotto::Record(EncoderTraining::Table(), o, json);
  json["curve"] = CurveRecord(result.curve, /*with_seconds=*/false);
  return json.dump();
}

// How like a prototype the first crop of each speaker is to the second one, and to no other's.
Tensor PrototypeLoss(const Tensor& e, const Tensor& labels, const Tensor& scale_and_offset) {
  const std::int64_t p = labels.size(0);
  Tensor similarity = torch::matmul(e.narrow(0, 0, p), e.narrow(0, p, p).t());
  // The same class drawn twice in one batch is no impostor.
  const Tensor same = labels.unsqueeze(0) == labels.unsqueeze(1);
  const Tensor eye = torch::eye(p, same.options());
  similarity = (similarity * scale_and_offset[0].clamp_min(1e-3) + scale_and_offset[1])
                   .masked_fill(same & eye.logical_not(), -1e4);
  return torch::cross_entropy_loss(similarity, torch::arange(p, labels.options()));
}

int Mels(const EncoderNetOptions& net) {
  return static_cast<int>(std::visit([](const auto& n) { return n.mels; }, net));
}

// The classes' centres and the prototypes' scale and offset learn along as parameters of the net;
// they are not saved with it.
constexpr char kCentres[] = "training.centres", kPrototype[] = "training.prototype";

class EncoderLesson : public Lesson {
 public:
  EncoderLesson(Trainer& trainer, const SpeechPack& pack, const EncoderTraining& options,
                const TensorFile* base)
      : o_(options),
        tuned_(base != nullptr),
        pack_(pack),
        split_(SplitSpeakers(pack, o_)),
        cropper_(pack, trainer.Device()),
        noises_(QuietStretches(pack, trainer.Device())),
        mel_({16000, Mels(o_.net), 20.0, 7600.0}, trainer.Device()),
        batches_(cropper_, split_.training, o_, trainer.Random(1)),
        encoder_(Begun(o_.net, base, trainer.Device())),
        average_(encoder_) {
    const auto dimension = std::visit([](const auto& n) { return n.embedding; }, o_.net);
    const auto classes = static_cast<std::int64_t>(split_.training.size() * o_.speeds.size());
    const torch::TensorOptions options_here(trainer.Device());
    Tensor centres = torch::randn({classes, dimension}, options_here) * 0.05;
    if (tuned_) MeetCentres(encoder_, batches_, mel_, centres, o_);
    for (Encoder* net : {&encoder_, &average_}) {
      net->backend.ParameterMap()[kCentres] = centres;
      net->backend.ParameterMap()[kPrototype] = torch::tensor({10.0f, -5.0f}, options_here);
    }
    weights_.emplace(encoder_.backend);
    smooth_.emplace(average_.backend);
  }

  std::vector<Learner> Learners() override { return {{"net", &*weights_, &*smooth_}}; }
  AdamOptions Adam() const override {
    AdamOptions adam;
    adam.beta1 = 0.9;
    adam.beta2 = 0.999;
    adam.as_torch = true;
    return adam;
  }
  Losses Batch(const Moment& now) override;
  std::vector<ValidationFigure> Validate(const std::vector<double>& means) override;
  std::string_view Best() const override { return "held_out_eer"; }
  TrainedEncoder Result(const Trainer& trainer);

 private:
  static Encoder Begun(const EncoderNetOptions& net, const TensorFile* base, torch::Device device) {
    torch::NoGradGuard no_grad;  // layers come into being
    Encoder encoder(net, device);
    if (base != nullptr) encoder.backend.Load(*base);
    encoder(torch::zeros({2, Mels(net), 50}, torch::TensorOptions(device)));
    return encoder;
  }
  // Mel frames of the crops, some of them augmented.
  Tensor Heard(const Tensor& samples) const;

  const EncoderTraining& o_;
  const bool tuned_;
  const SpeechPack& pack_;
  const Split split_;
  const Cropper cropper_;
  const NoiseBank noises_;
  const TorchMel mel_;
  BatchMaker batches_;
  Encoder encoder_, average_;
  std::optional<FlatParameters> weights_, smooth_;
};

Tensor EncoderLesson::Heard(const Tensor& samples) const {
  torch::NoGradGuard no_grad;
  const Tensor noisy = Augment(samples, noises_, o_.augment);
  const Tensor chosen =
      (torch::rand({noisy.size(0), 1}, noisy.options()) < o_.augmented).to(torch::kFloat32);
  const Tensor x = MaskFeatures(mel_(chosen * noisy + (1.0 - chosen) * samples), 20, 8);
  return o_.run.bf16 ? (x - x.mean(2, true)).to(torch::kBFloat16) : x;
}

Losses EncoderLesson::Batch(const Moment& now) {
  encoder_.backend.SetTraining(true);
  const SpeakerCrops batch = batches_.Next(batches_.DrawLength());
  const Tensor e =
      torch::nn::functional::normalize(encoder_(Heard(batch.samples)).to(torch::kFloat32));
  const Tensor labels = torch::cat({batch.labels, batch.labels});
  auto& parameters = encoder_.backend.ParameterMap();
  const Tensor cosine =
      torch::matmul(e, torch::nn::functional::normalize(parameters[kCentres]).t());
  const double margin = tuned_ ? o_.margin : o_.margin * std::min(1.0, 3.0 * now.progress);
  Tensor loss = torch::cross_entropy_loss(MarginLogits(cosine, labels, margin, o_.scale), labels);
  const Tensor right = (cosine.argmax(1) == labels).to(torch::kFloat32).mean();
  if (o_.prototype_weight > 0.0) {
    loss = loss + o_.prototype_weight * PrototypeLoss(e, batch.labels, parameters[kPrototype]);
  }
  return {loss, {loss, right}};
}

std::vector<ValidationFigure> EncoderLesson::Validate(const std::vector<double>& means) {
  const double eer = HeldOutEer(average_, cropper_, mel_, split_.held_out);
  return {{"loss", "  loss {:7.4f}", means[0]},
          {"accuracy", "  right {:5.1f} %", means[1], 100.0},
          {"held_out_eer", "  held-out EER {:5.2f} %", eer, 100.0}};
}

TrainedEncoder EncoderLesson::Result(const Trainer& trainer) {
  TrainedEncoder result{{}, trainer.Curve(), trainer.BestStep()};
  average_.backend.Save(result.file);
  result.file.tensors.erase(kCentres);
  result.file.tensors.erase(kPrototype);
  WriteEncoderNetOptions(o_.net, result.file);
  result.file.metadata["sotto.features"] = nlohmann::ordered_json{
      {"kind", "kaldi_log_mel"},
      {"rate_hz", 16000},
      {"mels", Mels(o_.net)},
      {"low_hz", 20},
      {"high_hz", 7600}}.dump();
  result.file.metadata["sotto.training"] = TrainingRecord(o_, pack_, split_, result);
  return result;
}

}  // namespace

const OptionTable<EncoderTraining>& EncoderTraining::Table() {
  using E = EncoderTraining;
  static const OptionTable<E> table = {
      {"speeds", &E::speeds, "Play speech at these speeds, each of which makes another speaker",
       0.5, 2},
      {"batch_speakers", &E::batch_speakers, "Speakers of a batch, with two crops of each", 2},
      {"frames", &E::frames, "Frames of 10 ms in a crop", 20, 3000},
      {"least_frames", &E::least_frames,
       "Draw the frames of each batch from these to --frames (0: never)"},
      {"margin", &E::margin,
       "Angle in radians by which the right speaker has to be nearer than the others", 0,
       kBelowOne},
      {"scale", &E::scale, "Factor of the cosines before the softmax"},
      {"prototype_weight", &E::prototype_weight,
       "Weight of the loss that compares two crops of each speaker"},
      {"augmented", &E::augmented, "Share of crops that are heard with noise, room and channel"},
  };
  return table;
}

void EncoderTraining::Validate() const {
  run.Validate();
  RequireRanges(Table(), *this);
  if (least_frames != 0 && (least_frames < 20 || least_frames > frames)) {
    throw Error("the shortest crops have 20 frames up to as many as the longest");
  }
  if (hold_out.count < 2) throw Error("at least 2 speakers must be held out");
}

TrainedEncoder TrainEncoder(const SpeechPack& pack, const EncoderTraining& o,
                            const TensorFile* base) {
  o.Validate();
  if (pack.rate_hz != 16000) throw Error("speech packs for encoders are at 16000 Hz");
  Trainer trainer(o.run);
  EncoderLesson lesson(trainer, pack, o, base);
  trainer.Run(lesson);
  return lesson.Result(trainer);
}

}  // namespace sotto
