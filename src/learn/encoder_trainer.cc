#include "learn/encoder_trainer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <set>

#include "base/error.h"
#include "learn/noise_bank.h"
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
  std::mt19937_64 random(o.seed);
  std::shuffle(candidates.begin(), candidates.end(), random);
  // Those asked for by name come first.
  for (const std::string& name : o.hold_out) {
    const auto found = std::find(candidates.begin(), candidates.end(), name);
    if (found == candidates.end()) {
      throw Error(
          fmt::format("speaker '{}' cannot be held out: not there or fewer than three "
                      "utterances",
                      name));
    }
    std::rotate(candidates.begin(), found, found + 1);
  }
  const auto held_out =
      static_cast<std::size_t>(std::max(o.held_out, static_cast<std::int64_t>(o.hold_out.size())));
  if (candidates.size() < held_out) {
    throw Error(fmt::format("{} speakers have three utterances, {} are to be held out",
                            candidates.size(), held_out));
  }
  candidates.resize(held_out);
  const std::set<std::string> chosen(candidates.begin(), candidates.end());
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

struct Batch {
  Tensor samples;  // two crops of each speaker: rows i and i + speakers
  Tensor labels;   // of the first half
};

class BatchMaker {
 public:
  BatchMaker(const Cropper& cropper, const std::vector<Speaker>& speakers, const EncoderTraining& o)
      : cropper_(cropper), speakers_(speakers), o_(o), random_(o.seed + 1) {
    // Speakers with more speech come more often, by the square root.
    std::vector<double> weights;
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

  Batch Next(std::int64_t frames) {
    const std::int64_t n = frames * kShift, p = o_.speakers_per_batch;
    const auto speeds = static_cast<std::int64_t>(o_.speeds.size());
    std::vector<Tensor> first, second;
    std::vector<std::int64_t> labels;
    for (std::int64_t v = 0; v < speeds; ++v) {
      const std::int64_t share = p / speeds + (v < p % speeds ? 1 : 0);
      if (share == 0) continue;
      std::vector<std::size_t> a, b;
      for (std::int64_t i = 0; i < share; ++i) {
        const std::size_t s = pick_(random_);
        const std::vector<std::size_t>& utterances = speakers_[s].utterances;
        const std::size_t k = random_() % utterances.size();
        const std::size_t other =
            utterances.size() == 1
                ? k
                : (k + 1 + random_() % (utterances.size() - 1)) % utterances.size();
        a.push_back(utterances[k]);
        b.push_back(utterances[other]);
        labels.push_back(static_cast<std::int64_t>(s) * speeds + v);
      }
      // Even, so that the transform there and back keeps lengths.
      const auto source =
          static_cast<std::int64_t>(
              std::llround(o_.speeds[static_cast<std::size_t>(v)] * static_cast<double>(n) / 2.0)) *
          2;
      first.push_back(ChangeSpeed(cropper_.Random(a, source, random_), n));
      second.push_back(ChangeSpeed(cropper_.Random(b, source, random_), n));
    }
    first.insert(first.end(), second.begin(), second.end());
    Batch batch;
    batch.samples = torch::cat(first, 0);
    batch.labels = torch::tensor(labels, torch::kInt64).to(batch.samples.device());
    return batch;
  }

 private:
  const Cropper& cropper_;
  const std::vector<Speaker>& speakers_;
  const EncoderTraining& o_;
  std::mt19937_64 random_;
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
  const std::int64_t rounds = 3 * centres.size(0) / o.speakers_per_batch + 1;
  for (std::int64_t i = 0; i < rounds; ++i) {
    const Batch batch = batches.Next(o.frames);
    const Tensor e = torch::nn::functional::normalize(encoder(mel(batch.samples)));
    sums.index_add_(0, torch::cat({batch.labels, batch.labels}), e);
  }
  const Tensor seen = (sums.square().sum(1, true) > 0).to(torch::kFloat32);
  centres.copy_(seen * torch::nn::functional::normalize(sums) * 0.7 + (1.0 - seen) * centres);
}

double LearningRate(const EncoderTraining& o, std::int64_t step) {
  if (step < o.warm_up) {
    return o.learning_rate * static_cast<double>(step + 1) / static_cast<double>(o.warm_up);
  }
  const double t = static_cast<double>(step - o.warm_up) /
                   static_cast<double>(std::max<std::int64_t>(1, o.steps - o.warm_up));
  return o.final_learning_rate +
         0.5 * (o.learning_rate - o.final_learning_rate) * (1.0 + std::cos(std::numbers::pi * t));
}

std::string TrainingRecord(const EncoderTraining& o, const SpeechPack& pack, const Split& split,
                           const TrainedEncoder& result) {
  nlohmann::ordered_json json = {{"speakers", split.training.size()},
                                 {"held_out_speakers", split.held_out.size()},
                                 {"hours", static_cast<double>(pack.samples.size()) / 16000 / 3600},
                                 {"speeds", o.speeds},
                                 {"batch", 2 * o.speakers_per_batch},
                                 {"frames", o.frames},
                                 {"least_frames", o.least_frames},
                                 {"steps", o.steps},
                                 {"best_step", result.best_step},
                                 {"learning_rate", o.learning_rate},
                                 {"weight_decay", o.weight_decay},
                                 {"margin", o.margin},
                                 {"prototype_weight", o.prototype_weight},
                                 {"augmented", o.augmented},
                                 {"seed", o.seed}};
  auto& curve = json["curve"] = nlohmann::ordered_json::array();
  for (const TrainingPoint& p : result.curve) {
    curve.push_back({{"step", p.step}, {"loss", p.loss}, {"held_out_eer", p.held_out_eer}});
  }
  return json.dump();
}

}  // namespace

void EncoderTraining::Validate() const {
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(fmt::format("encoder training: {}", what));
  };
  need(!speeds.empty(), "no speed");
  for (const double s : speeds) need(s >= 0.5 && s <= 2.0, "speeds lie from 0.5 to 2");
  need(speakers_per_batch >= 2, "a batch needs at least 2 speakers");
  need(frames >= 20 && frames <= 3000, "crops have 20 to 3000 frames");
  need(least_frames == 0 || (least_frames >= 20 && least_frames <= frames),
       "the shortest crops have 20 frames up to as many as the longest");
  need(steps >= 1 && validate_every >= 1, "steps and validations must be positive");
  need(learning_rate > 0.0 && final_learning_rate >= 0.0, "the learning rate must be positive");
  need(margin >= 0.0 && margin < 1.0, "the margin lies from 0 to 1 radian");
  need(average >= 0.0 && average < 1.0, "the average's decay lies in [0, 1)");
  need(held_out >= 2, "at least 2 speakers must be held out");
}

TrainedEncoder TrainEncoder(const SpeechPack& pack, const EncoderTraining& o,
                            const TensorFile* base) {
  o.Validate();
  if (pack.rate_hz != 16000) throw Error("speech packs for encoders are at 16000 Hz");
  const torch::Device device(o.device);
  torch::manual_seed(o.seed);
  if (device.is_cuda()) {
    at::globalContext().setAllowTF32CuBLAS(true);
    at::globalContext().setAllowTF32CuDNN(true);
  }
  const Split split = SplitSpeakers(pack, o);
  if (split.training.size() < 2) throw Error("fewer than 2 speakers to train on");
  const Cropper cropper(pack, device);
  const NoiseBank noises = QuietStretches(pack, device);
  const auto mels = static_cast<int>(std::visit([](const auto& n) { return n.mels; }, o.net));
  const TorchMel mel({16000, mels, 20.0, 7600.0}, device);
  BatchMaker batches(cropper, split.training, o);

  Encoder encoder(o.net, device), average(o.net, device);
  if (base != nullptr) encoder.backend.Load(*base);
  {
    torch::NoGradGuard no_grad;  // layers come into being
    encoder(torch::zeros({2, mels, 50}, torch::TensorOptions(device)));
  }
  average.backend.AverageFrom(encoder.backend, 0.0);
  const auto dimension = std::visit([](const auto& n) { return n.embedding; }, o.net);
  const auto classes = static_cast<std::int64_t>(split.training.size() * o.speeds.size());
  Tensor centres = torch::randn({classes, dimension}, torch::TensorOptions(device)) * 0.05;
  if (base != nullptr) MeetCentres(encoder, batches, mel, centres, o);
  centres.requires_grad_(true);
  Tensor proto = torch::tensor({10.0f, -5.0f}).to(device).requires_grad_(true);
  std::vector<Tensor> parameters = encoder.backend.Parameters();
  parameters.push_back(centres);
  parameters.push_back(proto);
  torch::optim::AdamW optimiser(
      parameters, torch::optim::AdamWOptions(o.learning_rate).weight_decay(o.weight_decay));

  TrainedEncoder result;
  double best = 2.0;
  std::int64_t since_best = 0;
  Tensor loss_sum = torch::zeros({1}, torch::TensorOptions(device)), right_sum = loss_sum.clone();
  std::int64_t counted = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t step = 0; step <= o.steps; ++step) {
    if (step % o.validate_every == 0 || step == o.steps) {
      TrainingPoint point;
      point.step = step;
      const double n = static_cast<double>(std::max<std::int64_t>(1, counted));
      point.loss = loss_sum.item<double>() / n;
      point.accuracy = right_sum.item<double>() / n;
      loss_sum.zero_();
      right_sum.zero_();
      counted = 0;
      point.held_out_eer = HeldOutEer(average, cropper, mel, split.held_out);
      point.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      result.curve.push_back(point);
      fmt::print(
          stderr, "step {:6d}  loss {:7.4f}  right {:5.1f} %  held-out EER {:5.2f} %  {:.0f} s\n",
          point.step, point.loss, 100 * point.accuracy, 100 * point.held_out_eer, point.seconds);
      ++since_best;
      if (o.keep_last || point.held_out_eer < best) {
        best = point.held_out_eer;
        since_best = 0;
        result.best_step = step;
        result.file.tensors.clear();
        average.backend.Save(result.file);
      }
      if (step == o.steps || (o.patience > 0 && since_best >= o.patience)) break;
    }
    encoder.backend.SetTraining(true);
    Batch batch = batches.Next(batches.DrawLength());
    Tensor x;
    {
      torch::NoGradGuard no_grad;
      const Tensor noisy = Augment(batch.samples, noises, o.augment);
      const Tensor chosen =
          (torch::rand({noisy.size(0), 1}, noisy.options()) < o.augmented).to(torch::kFloat32);
      x = MaskFeatures(mel(chosen * noisy + (1.0 - chosen) * batch.samples), 20, 8);
      if (o.bf16) x = (x - x.mean(2, true)).to(torch::kBFloat16);
    }
    const Tensor e = torch::nn::functional::normalize(encoder(x).to(torch::kFloat32));
    const Tensor labels = torch::cat({batch.labels, batch.labels});
    const Tensor cosine = torch::matmul(e, torch::nn::functional::normalize(centres).t());
    const double ramp =
        std::min(1.0, 3.0 * static_cast<double>(step) / static_cast<double>(o.steps));
    const double margin = base != nullptr ? o.margin : o.margin * ramp;
    Tensor loss = torch::cross_entropy_loss(MarginLogits(cosine, labels, margin, o.scale), labels);
    {
      torch::NoGradGuard no_grad;
      right_sum += (cosine.argmax(1) == labels).to(torch::kFloat32).mean();
    }
    if (o.prototype_weight > 0.0) {
      const std::int64_t p = o.speakers_per_batch;
      Tensor similarity = torch::matmul(e.narrow(0, 0, p), e.narrow(0, p, p).t());
      // The same class drawn twice in one batch is no impostor.
      const Tensor same = batch.labels.unsqueeze(0) == batch.labels.unsqueeze(1);
      const Tensor eye = torch::eye(p, torch::TensorOptions(device).dtype(torch::kBool));
      similarity = (similarity * proto[0].clamp_min(1e-3) + proto[1])
                       .masked_fill(same & eye.logical_not(), -1e4);
      const Tensor order = torch::arange(p, torch::TensorOptions(device).dtype(torch::kInt64));
      loss = loss + o.prototype_weight * torch::cross_entropy_loss(similarity, order);
    }
    for (auto& group : optimiser.param_groups()) {
      static_cast<torch::optim::AdamWOptions&>(group.options()).lr(LearningRate(o, step));
    }
    optimiser.zero_grad();
    loss.backward();
    optimiser.step();
    average.backend.AverageFrom(encoder.backend, std::min(o.average, (1.0 + step) / (10.0 + step)));
    loss_sum += loss.detach();
    ++counted;
  }
  WriteEncoderNetOptions(o.net, result.file);
  result.file.metadata["sotto.features"] = nlohmann::ordered_json{
      {"kind", "kaldi_log_mel"},
      {"rate_hz", 16000},
      {"mels", mels},
      {"low_hz", 20},
      {"high_hz", 7600}}.dump();
  result.file.metadata["sotto.training"] = TrainingRecord(o, pack, split, result);
  return result;
}

}  // namespace sotto
