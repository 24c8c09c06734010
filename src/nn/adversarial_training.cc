// The training of the adversarial auto-encoder, and its checkpoints.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/random.h"
#include "nn/adam.h"
#include "nn/adversarial_autoencoder.h"
#include "nn/adversarial_net.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::MatrixXi;
using Eigen::VectorXf;

constexpr float kMomentum = 0.1F;  // of the batch norm's running statistics
constexpr double kCheckpointSeconds = 10.0;

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

// The draws of one epoch are nobody else's, so that a run that goes on needs to know its number
// only.
SeededRng RngOfEpoch(std::uint64_t seed, int epoch) {
  SeededRng first(seed);
  return SeededRng(first() + static_cast<std::uint64_t>(epoch) * 0xD1B54A32D192ED03ULL);
}

// Uniform on ±1/√(inputs), weights and biases alike.
void DrawLayer(MatrixXf& weight, VectorXf& bias, Index outputs, Index inputs, SeededRng& rng) {
  const double most = 1.0 / std::sqrt(static_cast<double>(inputs));
  weight.resize(outputs, inputs);
  bias.resize(outputs);
  for (float& v : Flat(weight)) v = static_cast<float>(most * (2.0 * rng.Uniform() - 1.0));
  for (float& v : bias) v = static_cast<float>(most * (2.0 * rng.Uniform() - 1.0));
}

// Adam of a net's arrays.
class Optimiser {
 public:
  template <typename Net>
  explicit Optimiser(Net& net) {
    for (const auto& array : net.Arrays()) moments_.emplace_back(array.size());
  }
  template <typename Net>
  void Step(Net& net, Net& gradient, double rate, int t) {
    auto arrays = net.Arrays();
    const auto slopes = gradient.Arrays();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      moments_[i].Step(arrays[i], slopes[i], rate, 0.0, t);
    }
  }
  std::vector<Adam>& Moments() { return moments_; }

 private:
  std::vector<Adam> moments_;
};

// Encoder and decoder with the running statistics of the batch norm.
struct Trained {
  Coder<float> coder;
  VectorXf mean, variance;

  std::vector<Eigen::Map<VectorXf>> Arrays() {
    auto all = coder.Arrays();
    all.push_back(Flat(mean));
    all.push_back(Flat(variance));
    return all;
  }
};

// All that the next epoch depends on.
struct State {
  Trained now, average, best;
  Coder<float> gradient;
  std::vector<Discriminator<float>> discriminators;
  std::vector<Optimiser> optimisers;  // of the coder and of each discriminator
  double bound = 0.0;
  int steps = 0, epoch = 0;  // done
  double best_score = std::numeric_limits<double>::infinity();
  int best_epoch = 0;
};

class Training {
 public:
  Training(const Eigen::Ref<const MatrixXf>& x, const MatrixXi& categories,
           const std::vector<int>& counts, const AutoencoderOptions& options)
      : x_(x), categories_(categories), counts_(counts), o_(options) {
    CheckData();
    Gather();
    First();
  }

  TrainedAutoencoder Run(const AutoencoderScore& score);

 private:
  void CheckData() const;
  void Gather();
  void First();
  double MedianNorm();
  std::vector<Index> DrawOrder(SeededRng& rng) const;
  MatrixXf Noise(SeededRng& rng) const;
  void Step(const Index* columns, SeededRng& rng);
  void Average();
  void Epoch();
  AdversarialAutoencoder Net(const Trained& trained) const;
  void Judge(const AutoencoderScore& score);
  std::map<std::string, Eigen::Map<VectorXf>> Arrays();
  std::string Identity() const;
  void WriteCheckpoint();
  void ReadCheckpoint();

  const Eigen::Ref<const MatrixXf>& x_;
  const MatrixXi& categories_;
  const std::vector<int>& counts_;
  const AutoencoderOptions& o_;
  Index batch_ = 0;
  std::vector<std::vector<Index>> groups_;  // columns of each joint category that there is
  State s_;
};

void Training::CheckData() const {
  o_.Validate();
  const auto attributes = std::ssize(counts_);
  if (x_.cols() < 2 || attributes == 0 || categories_.rows() != attributes ||
      categories_.cols() != x_.cols()) {
    throw Error(fmt::format("auto-encoder: {} voiceprints, categories of {} in {} attributes",
                            x_.cols(), categories_.cols(), attributes));
  }
  for (Index a = 0; a < attributes; ++a) {
    const int count = counts_[Size(a)];
    const auto row = categories_.row(a);
    if (row.minCoeff() < 0 || row.maxCoeff() >= count) {
      throw Error(fmt::format("auto-encoder: a category outside 0 to {}", count - 1));
    }
    if (count < 2 || row.minCoeff() == row.maxCoeff()) {
      throw Error("auto-encoder: all voiceprints are of one category: there is nothing to hide");
    }
  }
}

void Training::Gather() {
  batch_ = std::min<Index>(o_.batch, x_.cols());
  std::map<std::vector<int>, std::vector<Index>> groups;
  for (Index i = 0; i < x_.cols(); ++i) {
    const auto column = categories_.col(i);
    groups[{column.begin(), column.end()}].push_back(i);
  }
  for (auto& [joint, columns] : groups) groups_.push_back(std::move(columns));
}

void Training::First() {
  SeededRng rng = RngOfEpoch(o_.seed, 0);
  Coder<float>& coder = s_.now.coder;
  DrawLayer(coder.encoder, coder.encoder_bias, o_.latent, x_.rows(), rng);
  coder.gain = VectorXf::Ones(o_.latent);
  coder.shift = VectorXf::Zero(o_.latent);
  DrawLayer(coder.decoder, coder.decoder_bias, x_.rows(), o_.latent, rng);
  s_.gradient = coder;
  s_.optimisers.emplace_back(coder);
  for (const int count : counts_) {
    Discriminator<float> net;
    DrawLayer(net.first, net.first_bias, o_.hidden, o_.latent, rng);
    DrawLayer(net.second, net.second_bias, count == 2 ? 1 : count, o_.hidden, rng);
    s_.optimisers.emplace_back(net);
    s_.discriminators.push_back(std::move(net));
  }
  s_.now.mean = VectorXf::Zero(o_.latent);
  s_.now.variance = VectorXf::Ones(o_.latent);
  s_.average = s_.now;
  s_.bound = MedianNorm();
}

// Of ‖z‖₁, over the voiceprints that an epoch draws, with the first weights.
double Training::MedianNorm() {
  SeededRng rng = RngOfEpoch(o_.seed, -1);
  const std::vector<Index> order = DrawOrder(rng);
  std::vector<float> norms;
  for (std::size_t at = 0; at + Size(batch_) <= order.size(); at += Size(batch_)) {
    const std::vector<Index> columns(order.begin() + static_cast<Index>(at),
                                     order.begin() + static_cast<Index>(at) + batch_);
    const MatrixXf x = x_(Eigen::all, columns);
    const auto latent =
        EncodeBatch<float>(s_.now.coder, x, std::numeric_limits<float>::infinity(), {});
    norms.insert(norms.end(), latent.norms.begin(), latent.norms.end());
  }
  const auto middle = norms.begin() + std::ssize(norms) / 2;
  std::nth_element(norms.begin(), middle, norms.end());
  if (!(*middle > 0.0F)) throw Error("auto-encoder: the voiceprints are all alike");
  return static_cast<double>(*middle);
}

// As many columns as there are, of each joint category the same number: each in an order of chance,
// and again from the beginning where it has fewer.
std::vector<Index> Training::DrawOrder(SeededRng& rng) const {
  const auto shuffle = [&rng](std::vector<Index>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[rng.Below(i)]);
  };
  const std::size_t each =
      std::max(Size(x_.cols()), Size(batch_)) / groups_.size() + 1;  // at least a batch in all
  std::vector<Index> order;
  order.reserve(each * groups_.size());
  for (std::vector<Index> columns : groups_) {
    shuffle(columns);
    for (std::size_t i = 0; i < each; ++i) order.push_back(columns[i % columns.size()]);
  }
  shuffle(order);
  return order;
}

MatrixXf Training::Noise(SeededRng& rng) const {
  if (std::isinf(o_.eps)) return {};
  return TrainingNoise(o_.latent, batch_, rng) * static_cast<float>(2.0 * s_.bound / o_.eps);
}

// One step of the auto-encoder, then one of each discriminator on the voiceprints as the
// auto-encoder says them now, with other noise.
void Training::Step(const Index* columns, SeededRng& rng) {
  MatrixXf x(x_.rows(), batch_);
  MatrixXi categories(categories_.rows(), batch_);
  for (Index i = 0; i < batch_; ++i) {
    x.col(i) = x_.col(columns[i]);
    categories.col(i) = categories_.col(columns[i]);
  }
  const auto bound = static_cast<float>(s_.bound);
  const auto latent = EncodeBatch<float>(s_.now.coder, x, bound, Noise(rng));
  LossOfCoder<float>(s_.now.coder, s_.discriminators, x, categories, bound, latent, o_.adversary,
                     &s_.gradient);
  ++s_.steps;
  s_.optimisers[0].Step(s_.now.coder, s_.gradient, o_.learning_rate, s_.steps);
  const auto n = static_cast<float>(batch_);
  s_.now.mean += kMomentum * (latent.mean - s_.now.mean);
  s_.now.variance += kMomentum * (n / (n - 1.0F) * latent.variance - s_.now.variance);

  const auto again = EncodeBatch<float>(s_.now.coder, x, bound, Noise(rng));
  for (std::size_t a = 0; a < s_.discriminators.size(); ++a) {
    Discriminator<float> gradient = s_.discriminators[a];
    LossOfDiscriminator<float>(s_.discriminators[a], again.noisy,
                               categories.row(static_cast<Index>(a)).transpose(), &gradient);
    s_.optimisers[a + 1].Step(s_.discriminators[a], gradient, o_.learning_rate, s_.steps);
  }
}

// Faster at the beginning, so that the first weights are forgotten.
void Training::Average() {
  const double t = s_.steps;
  const auto share = static_cast<float>(1.0 - std::min(o_.average, (1.0 + t) / (10.0 + t)));
  auto to = s_.average.Arrays();
  const auto from = s_.now.Arrays();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += share * (from[i] - to[i]);
}

void Training::Epoch() {
  SeededRng rng = RngOfEpoch(o_.seed, ++s_.epoch);
  const std::vector<Index> order = DrawOrder(rng);
  for (std::size_t at = 0; at + Size(batch_) <= order.size(); at += Size(batch_)) {
    Step(order.data() + at, rng);
    Average();
  }
}

AdversarialAutoencoder Training::Net(const Trained& trained) const {
  const Coder<float>& coder = trained.coder;
  AutoencoderWeights w;
  w.encoder = coder.encoder;
  w.encoder_bias = coder.encoder_bias;
  w.scale = coder.gain.array() /
            (trained.variance.array() + static_cast<float>(kBatchNormEpsilon)).sqrt();
  w.shift = coder.shift - w.scale.cwiseProduct(trained.mean);
  w.decoder = coder.decoder;
  w.decoder_bias = coder.decoder_bias;
  w.bound = s_.bound;
  return AdversarialAutoencoder(std::move(w));
}

void Training::Judge(const AutoencoderScore& score) {
  const double now = score ? score(Net(s_.average)) : 0.0;
  if (score && s_.best_epoch > 0 && !(now < s_.best_score)) return;
  s_.best_score = now;
  s_.best_epoch = s_.epoch;
  s_.best = s_.average;
}

TrainedAutoencoder Training::Run(const AutoencoderScore& score) {
  using Clock = std::chrono::steady_clock;
  if (!o_.resume.empty()) ReadCheckpoint();
  auto written = Clock::now();
  const auto patient = [this] {
    return o_.patience == 0 || s_.epoch - s_.best_epoch < o_.patience;
  };
  const int left = std::max(0, o_.epochs - s_.epoch);
  Progress progress("train", Size(left), left);
  while (s_.epoch < o_.epochs && patient()) {
    ThrowIfCancelled();
    Epoch();
    Judge(score);
    progress.Done(1.0, 0.0);
    if (std::chrono::duration<double>(Clock::now() - written).count() < kCheckpointSeconds)
      continue;
    WriteCheckpoint();
    written = Clock::now();
  }
  WriteCheckpoint();
  return {Net(s_.best), s_.epoch, s_.best_epoch, s_.best_score};
}

// Everything of the state that is an array, by its name in a checkpoint.
std::map<std::string, Eigen::Map<VectorXf>> Training::Arrays() {
  std::map<std::string, Eigen::Map<VectorXf>> all;
  const auto add = [&all](const std::string& name, auto&& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      all.emplace(fmt::format("{}.{}", name, i), arrays[i]);
    }
  };
  add("net", s_.now.Arrays());
  add("average", s_.average.Arrays());
  if (s_.best_epoch > 0) add("best", s_.best.Arrays());
  for (std::size_t a = 0; a < s_.discriminators.size(); ++a) {
    add(fmt::format("discriminator.{}", a), s_.discriminators[a].Arrays());
  }
  for (std::size_t i = 0; i < s_.optimisers.size(); ++i) {
    std::vector<Eigen::Map<VectorXf>> moments;
    for (Adam& adam : s_.optimisers[i].Moments()) {
      moments.push_back(Flat(adam.Mean()));
      moments.push_back(Flat(adam.Square()));
    }
    add(fmt::format("adam.{}", i), moments);
  }
  return all;
}

// Of all that decides what comes out, but for the number of epochs.
std::string Training::Identity() const {
  const MatrixXf x = x_;
  const auto bytes = [](const void* data, Index size, std::size_t each) {
    return std::string_view(static_cast<const char*>(data), Size(size) * each);
  };
  std::string text = fmt::format("{} {} {} {} {:.17g} {:.17g} {:.17g} {:.17g} {} {}", x.rows(),
                                 x.cols(), o_.latent, o_.hidden, o_.eps, o_.learning_rate,
                                 o_.adversary, o_.average, o_.batch, o_.seed);
  for (const int count : counts_) text += fmt::format(" {}", count);
  text += ContentDigest(bytes(x.data(), x.size(), sizeof(float)));
  text += ContentDigest(bytes(categories_.data(), categories_.size(), sizeof(int)));
  return ContentDigest(text);
}

void Training::WriteCheckpoint() {
  if (o_.checkpoint.empty()) return;
  TensorFile file;
  for (const auto& [name, array] : Arrays()) {
    file.tensors[name] = {{array.size()}, {array.begin(), array.end()}};
  }
  file.metadata["sotto.kind"] = "auto-encoder checkpoint";
  file.metadata["sotto.run"] = Identity();
  file.metadata["sotto.epoch"] = fmt::format("{} {}", s_.epoch, s_.steps);
  file.metadata["sotto.bound"] = fmt::format("{:.17g}", s_.bound);
  file.metadata["sotto.best"] = fmt::format("{:.17g} {}", s_.best_score, s_.best_epoch);
  WriteTensorFile(o_.checkpoint, file, StoredAs::kFloat32);
}

void Training::ReadCheckpoint() {
  const TensorFile file = ReadTensorFile(o_.resume);
  if (file.Meta("sotto.kind") != "auto-encoder checkpoint") {
    throw Error(fmt::format("{}: no checkpoint of an auto-encoder", file.where));
  }
  if (file.Meta("sotto.run") != Identity()) {
    throw Error(fmt::format("{}: a checkpoint of other data or settings", file.where));
  }
  std::istringstream numbers(file.Meta("sotto.epoch") + " " + file.Meta("sotto.bound") + " " +
                             file.Meta("sotto.best"));
  if (!(numbers >> s_.epoch >> s_.steps >> s_.bound >> s_.best_score >> s_.best_epoch) ||
      s_.epoch < 1 || s_.best_epoch < 1 || s_.steps < s_.epoch || !(s_.bound > 0.0)) {
    throw Error(fmt::format("{}: a number in it is none", file.where));
  }
  s_.best = s_.now;
  for (auto& [name, array] : Arrays()) {
    const NamedTensor& stored = file.Get(name, {array.size()});
    array = Eigen::Map<const VectorXf>(stored.values.data(), array.size());
  }
}

}  // namespace

MatrixXf TrainingNoise(Index rows, Index columns, SeededRng& rng) {
  MatrixXf noise(rows, columns), sign(rows, columns);
  for (Index i = 0; i < noise.size(); ++i) {
    const std::uint64_t bits = rng();
    noise.data()[i] = static_cast<float>((bits >> 40) + 1) * 0x1p-24F;
    sign.data()[i] = (bits & 1) != 0 ? -1.0F : 1.0F;
  }
  return noise.array().log() * sign.array();
}

void AutoencoderOptions::Validate() const {
  if (!(eps > 0.0)) {
    throw Error(
        fmt::format("auto-encoder: eps {} in training; above 0 is allowed, inf: no noise", eps));
  }
  if (latent < 1 || hidden < 1 || epochs < 1 || batch < 2) {
    throw Error(
        fmt::format("auto-encoder: {} latent numbers, {} hidden units, {} epochs, batches "
                    "of {}: at least 1 each and batches of 2",
                    latent, hidden, epochs, batch));
  }
  if (!(average >= 0.0 && average < 1.0)) {
    throw Error(fmt::format("auto-encoder: a moving average of {}; from 0 to below 1", average));
  }
  if (!(learning_rate > 0.0) || !(adversary >= 0.0) || !std::isfinite(adversary) || patience < 0) {
    throw Error(
        "auto-encoder: the learning rate must be above 0, the adversary's weight and the "
        "patience at least 0");
  }
}

TrainedAutoencoder TrainAutoencoder(const Eigen::Ref<const MatrixXf>& x, const MatrixXi& categories,
                                    const std::vector<int>& category_counts,
                                    const AutoencoderOptions& options,
                                    const AutoencoderScore& score) {
  return Training(x, categories, category_counts, options).Run(score);
}

}  // namespace sotto
