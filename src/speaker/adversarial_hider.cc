#include "speaker/adversarial_hider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "base/random.h"
#include "nn/adam.h"
#include "speaker/adversarial_loss.h"
#include "speaker/hider_data.h"
#include "speaker/hiders.h"
#include "speaker/lda.h"
#include "speaker/linear_algebra.h"
#include "speaker/linear_hiders.h"
#include "speaker/speaker_batches.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

// An EER below it, which a handful of pairs decides about, counts as that.
constexpr double kLeastEer = 0.005;
// Of the mean variance of y's directions: a map squeezes what tells into small ones, where
// attackers still find it, and they are left out.
constexpr double kLeastVariance = 0.1;

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

// One of the ensemble, of one attribute.
class Attacker {
 public:
  Attacker(Index attribute, Index inputs, Index categories, int hidden) : attribute_(attribute) {
    net_.first.resize(hidden, inputs);
    net_.second.resize(categories, hidden);
  }

  void Renew(SeededRng& rng) {
    const auto draw = [&rng](MatrixXf& to) {
      const double deviation = std::sqrt(2.0 / static_cast<double>(to.cols()));
      for (float& value : Flat(to)) value = static_cast<float>(deviation * rng.Gaussian());
    };
    draw(net_.first);
    draw(net_.second);
    net_.first_bias = VectorXf::Zero(net_.first.rows());
    net_.second_bias = VectorXf::Zero(net_.second.rows());
    adam_.clear();
    for (const auto& array : net_.Arrays()) adam_.emplace_back(array.size());
    t_ = 0;
  }

  void Learn(const MatrixXf& input, const std::vector<int>& truth, const VectorXf& weights,
             double rate) {
    Discriminator<float> gradient;
    AttackerLoss<float>(net_, input, truth, weights, &gradient);
    ++t_;
    auto arrays = net_.Arrays(), gradients = gradient.Arrays();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      adam_[i].Step(arrays[i], gradients[i], rate, 0.0, t_);
    }
  }

  const Discriminator<float>& Net() const { return net_; }
  Index Attribute() const { return attribute_; }

 private:
  Index attribute_;
  Discriminator<float> net_;
  std::vector<Adam> adam_;
  int t_ = 0;
};

// What attackers of one attribute are asked about a batch. Within a corpus its categories weigh the
// same; a corpus in which one is missing tells nothing.
struct Question {
  std::vector<int> truth;
  VectorXf weights;

  Question(const HiderData& data, Index attribute, const SpeakerBatch& batch) {
    const std::size_t n = data.header.attributes[Size(attribute)].categories.size();
    std::map<int, std::map<int, int>> counts;  // of each corpus and category
    for (std::size_t k = 0; k < batch.places.size(); ++k) {
      truth.push_back(data.categories(attribute, batch.places[k]));
      ++counts[data.domain[Size(batch.places[k])]][truth.back()];
    }
    weights = VectorXf::Zero(std::ssize(truth));
    for (Index k = 0; k < weights.size(); ++k) {
      const auto& corpus = counts[data.domain[Size(batch.places[Size(k)])]];
      if (corpus.size() == n) weights[k] = 1.0F / static_cast<float>(corpus.at(truth[Size(k)]));
    }
    const float sum = weights.sum();
    if (sum > 0.0F) weights /= sum;
  }
};

class Tuner {
 public:
  Tuner(const std::vector<AffineMap>& maps, const HiderData& data, const std::vector<Index>& left,
        const FineTuneOptions& options)
      : start_(maps),
        data_(data),
        o_(options),
        rng_(options.seed),
        batches_(data, left, options.speakers, options.voiceprints),
        k_(maps.front().matrix.rows()) {
    SetInputs();
    domains_ = 1 + *std::max_element(data.domain.begin(), data.domain.end());
    for (std::size_t g = 0; g < maps.size(); ++g) {
      turns_.push_back(MatrixXf::Identity(k_, k_ + 1));
      adam_.emplace_back(turns_.back().size());
    }
    const Index n_attributes = data.categories.rows();
    for (Index i = 0; i < std::max<Index>(o_.attackers, n_attributes); ++i) {
      const Index attribute = i % n_attributes;
      attackers_.emplace_back(attribute, k_ + domains_,
                              std::ssize(data.header.attributes[Size(attribute)].categories),
                              o_.hidden);
      attackers_.back().Renew(rng_);
    }
  }

  void WarmUp() {
    for (int i = 0; i < o_.warm_up; ++i) {
      const SpeakerBatch batch = batches_.Next(rng_);
      Teach(batch, Seen(batch, ToUnit<float>(Through(batch)).y));
    }
  }

  void Step() {
    ++t_;
    if (t_ % o_.renew_every == 0) {
      attackers_[Size(t_ / o_.renew_every) % attackers_.size()].Renew(rng_);
    }
    const SpeakerBatch batch = batches_.Next(rng_);
    const UnitColumns<float> unit = ToUnit<float>(Through(batch));
    const MatrixXf seen = Seen(batch, unit.y);
    const std::vector<Question> questions = Teach(batch, seen);
    MatrixXf slope;
    SpeakerLoss<float>(unit.y, batch.speaker, batch.enrols, static_cast<float>(o_.cosine_scale),
                       slope);
    const auto weight =
        static_cast<float>(o_.confusion_weight * Scale() / static_cast<double>(attackers_.size()));
    for (const Attacker& attacker : attackers_) {
      MatrixXf own;
      ConfusionLoss<float>(attacker.Net(), seen, questions[Size(attacker.Attribute())].weights,
                           own);
      slope += weight * own.topRows(k_);
    }
    Move(batch, BackThroughUnit<float>(unit, slope));
  }

  std::vector<AffineMap> Maps() {
    const MatrixXd y = ToUnit<float>(Through(batches_.Next(rng_))).y.cast<double>();
    const MatrixXd off = y.colwise() - y.rowwise().mean();
    const SymmetricEigen e =
        DecomposeSymmetric(off * off.transpose() / static_cast<double>(off.cols()));
    const Index kept = (e.values.array() >= kLeastVariance * e.values.mean()).count();
    const MatrixXf axes = e.vectors.rightCols(kept).transpose().cast<float>();
    std::vector<AffineMap> maps;
    for (std::size_t g = 0; g < start_.size(); ++g) {
      const MatrixXf turn = axes * turns_[g].leftCols(k_);
      maps.push_back(
          {turn * start_[g].matrix, turn * start_[g].offset + axes * turns_[g].col(k_) / scale_});
    }
    return maps;
  }

 private:
  double Scale() const { return std::sqrt(static_cast<double>(k_)); }

  // What the start makes of all voiceprints, of mean square 1, and a row of ones.
  void SetInputs() {
    const std::vector<int> joint = JointCategories(data_.categories, data_.header.attributes);
    inputs_.resize(k_ + 1, data_.x.cols());
    for (Index i = 0; i < inputs_.cols(); ++i) {
      const AffineMap& map = start_.size() == 1 ? start_[0] : start_[Size(joint[Size(i)])];
      inputs_.col(i).head(k_) = map.matrix * data_.x.col(i) + map.offset;
    }
    scale_ = 1.0F / std::sqrt(inputs_.topRows(k_).cwiseAbs2().mean());
    if (!std::isfinite(scale_)) throw Error("adversarial: the map makes all voiceprints zero");
    inputs_.topRows(k_) *= scale_;
    inputs_.row(k_).setOnes();
  }

  // First column and how many, of each map.
  std::vector<std::pair<Index, Index>> Blocks(const SpeakerBatch& batch) const {
    if (turns_.size() == 1) return {{0, std::ssize(batch.places)}};
    std::vector<std::pair<Index, Index>> blocks;
    Index at = 0;
    for (const Index n : batch.of_group) {
      blocks.emplace_back(at, n);
      at += n;
    }
    return blocks;
  }

  MatrixXf Through(const SpeakerBatch& batch) const {
    const MatrixXf u = inputs_(Eigen::all, batch.places);
    MatrixXf raw(k_, u.cols());
    const auto blocks = Blocks(batch);
    for (std::size_t g = 0; g < blocks.size(); ++g) {
      const auto [first, n] = blocks[g];
      raw.middleCols(first, n).noalias() = turns_[g] * u.middleCols(first, n);
    }
    return raw;
  }

  // What attackers see: y, of variance 1 about, and which corpus.
  MatrixXf Seen(const SpeakerBatch& batch, const MatrixXf& y) const {
    MatrixXf seen = MatrixXf::Zero(k_ + domains_, y.cols());
    seen.topRows(k_) = static_cast<float>(Scale()) * y;
    for (Index i = 0; i < y.cols(); ++i) {
      seen(k_ + data_.domain[Size(batch.places[Size(i)])], i) = 1.0F;
    }
    return seen;
  }

  // A step of all attackers; returns what they are asked, attribute by attribute.
  std::vector<Question> Teach(const SpeakerBatch& batch, const MatrixXf& seen) {
    std::vector<Question> questions;
    for (Index a = 0; a < data_.categories.rows(); ++a) questions.emplace_back(data_, a, batch);
    for (Attacker& attacker : attackers_) {
      const Question& own = questions[Size(attacker.Attribute())];
      attacker.Learn(seen, own.truth, own.weights, o_.attacker_rate);
    }
    return questions;
  }

  void Move(const SpeakerBatch& batch, const MatrixXf& slope) {
    const MatrixXf u = inputs_(Eigen::all, batch.places);
    const auto blocks = Blocks(batch);
    const auto pull = static_cast<float>(2.0 * o_.anchor / static_cast<double>(k_));
    for (std::size_t g = 0; g < blocks.size(); ++g) {
      const auto [first, n] = blocks[g];
      MatrixXf gradient = pull * (turns_[g] - MatrixXf::Identity(k_, k_ + 1));
      gradient.noalias() += slope.middleCols(first, n) * u.middleCols(first, n).transpose();
      adam_[g].Step(Flat(turns_[g]), Flat(gradient), o_.learning_rate, 0.0, t_);
    }
  }

  const std::vector<AffineMap>& start_;
  const HiderData& data_;
  const FineTuneOptions& o_;
  SeededRng rng_;
  SpeakerBatches batches_;
  Index k_, domains_ = 1;
  MatrixXf inputs_;
  float scale_ = 1.0F;
  std::vector<MatrixXf> turns_;  // [T t] of each map
  std::vector<Adam> adam_;
  std::vector<Attacker> attackers_;
  int t_ = 0;
};

bool Finite(const std::vector<AffineMap>& maps) {
  return std::all_of(maps.begin(), maps.end(), [](const AffineMap& map) {
    return map.matrix.allFinite() && map.offset.allFinite();
  });
}

double Judged(const HeldOutFigures& figures, const FineTuneOptions& options) {
  return figures.BestAuc() + options.eer_price * std::log2(std::max(figures.eer, kLeastEer));
}

// LDA of what erasure leaves, coordinates of variance 1 weighted by √(b/(1 + b)), b between
// speakers in units of within.
AffineMap SpeakerSpace(const HiderData& data, const AffineMap& erased, int dimension) {
  const MatrixXd x = ((erased.matrix * data.x).colwise() + erased.offset).cast<double>();
  std::vector<std::string> names;
  for (const int speaker : data.speaker) names.push_back(std::to_string(speaker));
  LdaOptions options;
  options.dimension = dimension;
  const AffineTransform lda = TrainLda(x, names, options);
  const VectorXd variance = lda.Apply(x).cwiseAbs2().rowwise().mean().cwiseMax(1.0 + 1e-6);
  const VectorXd weights = (variance.array() - 1.0).sqrt() / variance.array();
  const MatrixXd matrix = weights.asDiagonal() * lda.matrix;
  return {(matrix * erased.matrix.cast<double>()).cast<float>(),
          (matrix * erased.offset.cast<double>() + weights.cwiseProduct(lda.offset)).cast<float>()};
}

class Adversarial : public HiderMethod {
 public:
  Adversarial()
      : HiderMethod("adversarial",
                    "one map against an ensemble of attackers renewed during training",
                    {{.name = "train-steps",
                      .kind = Parameter::Kind::kCount,
                      .unit = "N",
                      .preset = fmt::format("{}", AdversarialOptions{}.training.steps),
                      .help = "Steps of training, of which the best on held-out speakers is kept"},
                     {.name = "confusion",
                      .kind = Parameter::Kind::kNumber,
                      .unit = "X",
                      .preset = fmt::format("{}", AdversarialOptions{}.training.confusion_weight),
                      .help = "Weight of misleading the attackers beside telling speakers apart"},
                     {.name = "seed",
                      .kind = Parameter::Kind::kCount,
                      .unit = "N",
                      .preset = fmt::format("{}", AdversarialOptions{}.training.seed),
                      .help = "Of what is drawn in training"}}) {}

  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const override {
    AdversarialOptions options;
    FineTuneOptions& training = options.training;
    training.steps = static_cast<int>(values.Number("train-steps").value_or(training.steps));
    training.confusion_weight = values.Number("confusion").value_or(training.confusion_weight);
    training.seed = static_cast<std::uint64_t>(
        values.Number("seed").value_or(static_cast<double>(training.seed)));
    return std::make_unique<AffineHider>(FitAdversarial(data, options));
  }
  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return AffineHider::Parse(file, std::move(header), false);
  }
};

}  // namespace

void FineTuneOptions::Validate() const {
  if (steps < 1 || check_every < 1 || attackers < 1 || hidden < 1 || warm_up < 0 ||
      renew_every < 1 || speakers < 2 || voiceprints < 2) {
    throw Error(fmt::format(
        "fine-tuning: {} steps with a check every {}, {} attackers of {} units, one "
        "renewed every {}: at least 1 each; {} steps of warming up: at least 0; "
        "batches of {} speakers, {} voiceprints each: at least 2",
        steps, check_every, attackers, hidden, renew_every, warm_up, speakers, voiceprints));
  }
  if (!(learning_rate > 0.0) || !(attacker_rate > 0.0) || !(cosine_scale > 0.0) ||
      !(confusion_weight >= 0.0) || !(anchor >= 0.0) || !(eer_price >= 0.0)) {
    throw Error(
        "fine-tuning: rates and the scale of cosines must be above 0; the weight of confusion, the "
        "anchor and the price of EER at least 0");
  }
}

std::string FineTuned::Text() const {
  const std::string outcome =
      step == 0 ? fmt::format("step 0 of {}: fine-tuning found nothing better", steps)
                : fmt::format("step {} of {}", step, steps);
  return fmt::format("{}; on speakers held out best AUC {:.3f} to {:.3f}, EER {:.2f} to {:.2f} %",
                     outcome, start.BestAuc(), kept.BestAuc(), 100.0 * start.eer, 100.0 * kept.eer);
}

FineTuned FineTune(const std::vector<AffineMap>& maps, const HiderData& data,
                   const FineTuneOptions& options) {
  options.Validate();
  const std::size_t joint = CountJointCategories(data.header.attributes);
  if (maps.empty() || (maps.size() != 1 && maps.size() != joint)) {
    throw Error(fmt::format("fine-tuning: {} maps for {} joint categories", maps.size(), joint));
  }
  const HeldOut held(data, options.seed);
  FineTuned out;
  out.maps = maps;
  out.steps = options.steps;
  out.start = out.kept = held.Measure(maps);
  double best = Judged(out.start, options);
  Tuner tuner(maps, data, held.Left(), options);
  tuner.WarmUp();
  Progress progress("train", Size(options.steps), options.steps);
  for (int step = 1; step <= options.steps; ++step) {
    ThrowIfCancelled();
    tuner.Step();
    progress.Done(1.0, 0.0);
    if (step % options.check_every != 0 && step != options.steps) continue;
    std::vector<AffineMap> now = tuner.Maps();
    if (!Finite(now)) break;  // too fast
    const HeldOutFigures figures = held.Measure(now);
    const double judged = Judged(figures, options);
    if (!(judged < best)) continue;
    best = judged;
    out.maps = std::move(now);
    out.kept = figures;
    out.step = step;
  }
  return out;
}

AffineHider FineTuneHider(const HiderData& data,
                          const std::function<AffineHider(const HiderData&)>& fit,
                          const FineTuneOptions& options) {
  options.Validate();
  const HeldOut held(data, options.seed);
  const FineTuned tuned = FineTune(fit(PartOf(data, held.Left())).Maps(), data, options);
  const AffineHider whole = fit(data);
  HiderHeader header = whole.Header();
  header.training += fmt::format("; fine-tuned, {}", tuned.Text());
  return {std::move(header), tuned.step == 0 ? whole.Maps() : tuned.maps};
}

void AdversarialOptions::Validate() const {
  if (dimension < 1) throw Error(fmt::format("adversarial: dimension {}: 1 and more", dimension));
  training.Validate();
}

AffineHider FitAdversarial(const HiderData& data, const AdversarialOptions& options) {
  options.Validate();
  const HeldOut held(data, options.training.seed);
  const HiderData left = PartOf(data, held.Left());
  const AffineMap erased = FitLeace(
      left.x.cast<double>(), OneHot(left.categories, left.header.attributes), HiderWeights(left));
  const FineTuneOptions& o = options.training;
  const AffineMap space = SpeakerSpace(left, erased, options.dimension);
  FineTuned best = FineTune({erased}, data, o);
  FineTuned other = FineTune({space}, data, o);
  const bool in_space = Judged(other.kept, o) < Judged(best.kept, o);
  if (in_space) best = std::move(other);
  const std::string settings = fmt::format(
      "from {}, {} coordinates kept, confusion {:g}, anchor {:g}, rate {:g}, {} attackers, seed "
      "{}; {}",
      in_space ? fmt::format("{} coordinates of LDA after LEACE", space.matrix.rows()) : "LEACE",
      best.maps[0].matrix.rows(), o.confusion_weight, o.anchor, o.learning_rate, o.attackers,
      o.seed, best.Text());
  return {HeaderOf(data, "adversarial", settings), std::move(best.maps)};
}

std::shared_ptr<const HiderMethod> AdversarialMethod() { return std::make_shared<Adversarial>(); }

}  // namespace sotto
