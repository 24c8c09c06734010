#include "speaker/gender_aae.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/tsv.h"
#include "nn/mlp.h"
#include "speaker/hider_data.h"
#include "speaker/hiders.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr std::size_t kHeldOut = 5;   // one speaker of so many
constexpr int kAttackerHidden = 100;  // as published
constexpr int kAttackerEpochs = 20;

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

struct Parts {
  std::vector<Index> train, held;
};

// Whole speakers; of each joint category the same share, drawn by the seed.
Parts HoldOut(const HiderData& data, std::uint64_t seed) {
  const std::vector<int> joint = JointCategories(data.categories, data.header.attributes);
  std::map<int, std::set<int>> speakers;
  for (std::size_t i = 0; i < joint.size(); ++i) speakers[joint[i]].insert(data.speaker[i]);
  SeededRng rng(seed);
  std::set<int> chosen;
  for (const auto& [category, all] : speakers) {
    std::vector<int> own(all.begin(), all.end());
    for (std::size_t i = 0; i < own.size() / kHeldOut; ++i) {
      std::swap(own[i], own[i + rng.Below(own.size() - i)]);
      chosen.insert(own[i]);
    }
  }
  Parts parts;
  for (std::size_t i = 0; i < joint.size(); ++i) {
    (chosen.contains(data.speaker[i]) ? parts.held : parts.train).push_back(static_cast<Index>(i));
  }
  return parts;
}

// P(the mean score of a speaker of the category is above that of another).
double AucOfSpeakers(const VectorXf& scores, const std::vector<std::uint8_t>& is,
                     const std::vector<int>& speaker) {
  std::map<int, std::pair<double, int>> sums[2];
  for (std::size_t i = 0; i < is.size(); ++i) {
    auto& [sum, count] = sums[is[i]][speaker[i]];
    sum += static_cast<double>(scores[static_cast<Index>(i)]);
    ++count;
  }
  double above = 0.0;
  for (const auto& [with, a] : sums[1]) {
    for (const auto& [without, b] : sums[0]) {
      const double one = a.first / a.second, other = b.first / b.second;
      above += one > other ? 1.0 : one == other ? 0.5 : 0.0;
    }
  }
  return above / static_cast<double>(sums[0].size() * sums[1].size());
}

// What held-out speakers say of an epoch.
class HeldOut {
 public:
  HeldOut(const HiderData& data, const Parts& parts, const AutoencoderOptions& options)
      : eps_(options.eps) {
    const MatrixXf train = data.x(Eigen::all, parts.train);
    x_ = data.x(Eigen::all, parts.held);
    SeededRng rng(options.seed);
    noise_ = TrainingNoise(options.latent, x_.cols(), rng);
    for (const Index i : parts.held) speaker_.push_back(data.speaker[Size(i)]);
    for (Index a = 0; a < data.categories.rows(); ++a) {
      const std::size_t n = data.header.attributes[Size(a)].categories.size();
      for (std::size_t k = n == 2 ? 1 : 0; k < n; ++k) {
        const auto is = [&](const std::vector<Index>& places) {
          std::vector<std::uint8_t> labels;
          labels.reserve(places.size());
          for (const Index i : places) {
            labels.push_back(data.categories(a, i) == static_cast<int>(k) ? 1 : 0);
          }
          return labels;
        };
        const auto learnt = is(parts.train), held = is(parts.held);
        if (!HasBoth(learnt) || !HasBoth(held)) continue;
        MlpOptions attacker;
        attacker.hidden = kAttackerHidden;
        attacker.epochs = kAttackerEpochs;
        attacker.seed = options.seed;
        questions_.push_back({Mlp::Train(train, learnt, attacker), held});
      }
    }
  }

  bool CanTell() const { return !questions_.empty(); }
  std::size_t Speakers() const { return std::set<int>(speaker_.begin(), speaker_.end()).size(); }

  struct Answer {
    double cosine = 0.0, noisy = 0.0;  // of original and protected, and under noise
    double off_chance = 0.0;           // mean of |2·AUC − 1|
  };
  Answer Ask(const AdversarialAutoencoder& net) const {
    Answer answer;
    MatrixXf y = net.Encode(x_);
    const MatrixXf out = UnitLength(net.Decode(y));
    const auto cosine = [this](const MatrixXf& to) {
      return static_cast<double>(to.cwiseProduct(x_).sum()) / static_cast<double>(x_.cols());
    };
    answer.cosine = cosine(out);
    y += static_cast<float>(2.0 * net.Bound() / eps_) * noise_;
    answer.noisy = cosine(UnitLength(net.Decode(y)));
    for (const Question& one : questions_) {
      const double auc = AucOfSpeakers(one.attacker.Logits(out), one.is, speaker_);
      answer.off_chance += std::abs(2.0 * auc - 1.0) / static_cast<double>(questions_.size());
    }
    return answer;
  }

 private:
  struct Question {
    Mlp attacker;
    std::vector<std::uint8_t> is;
  };
  static bool HasBoth(const std::vector<std::uint8_t>& labels) {
    return std::set<std::uint8_t>(labels.begin(), labels.end()).size() == 2;
  }

  double eps_;
  MatrixXf x_, noise_;
  std::vector<int> speaker_;
  std::vector<Question> questions_;
};

// "inf", or a number above 0.
double ParseEps(const std::string& text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  const double eps = ParseNumber(text, "eps-train");
  if (eps > 0.0) return eps;
  throw Error(fmt::format("eps-train '{}': above 0 is allowed, or inf: no noise", text));
}

Parameter Count(const char* name, int preset, const char* help) {
  return {.name = name,
          .kind = Parameter::Kind::kCount,
          .unit = "N",
          .preset = preset > 0 ? fmt::format("{}", preset) : "",
          .help = help};
}

std::vector<Parameter> AllParameters() {
  const AutoencoderOptions o;
  return {{.name = "eps-train",
           .unit = "EPS",
           .help = "Epsilon of the noise in training, inf: none; the source takes 15 and 20. It is "
                   "needed, has no default and is no guarantee: that is epsilon at use",
           .check = ParseEps},
          Count("epochs", o.epochs, "Epochs, each of as many voiceprints as there are"),
          Count("patience", 0,
                "Stop after so many epochs without a better one on held-out speakers; default: "
                "never"),
          Count("latent", o.latent, "Numbers between encoder and decoder"),
          {.name = "adversary-weight",
           .kind = Parameter::Kind::kNumber,
           .unit = "X",
           .preset = fmt::format("{}", o.adversary),
           .help = "Weight of hiding beside that of reconstruction",
           .check =
               [](const std::string& value) {
                 if (ParseNumber(value, "adversary-weight") < 0.0) {
                   throw Error(fmt::format("adversary-weight '{}': 0 or more is allowed", value));
                 }
               }},
          {.name = "average",
           .kind = Parameter::Kind::kNumber,
           .unit = "X",
           .preset = fmt::format("{}", o.average),
           .help = "Decay of the moving average of the weights over the steps, which is what is "
                   "kept; 0, as published: the weights themselves"},
          {.name = "keep",
           .preset = "best",
           .choices = {"best", "last"},
           .help = "Which epoch: the best on held-out speakers, or the last one"},
          Count("seed", static_cast<int>(o.seed),
                "Seed of all that the training draws; it repeats exactly"),
          {.name = "checkpoint",
           .kind = Parameter::Kind::kPath,
           .unit = "FILE",
           .help = "Write the state of the training here every few seconds"},
          {.name = "resume",
           .kind = Parameter::Kind::kPath,
           .unit = "FILE",
           .help = "Go on from this checkpoint, to the result of a training that was not cut off"}};
}

AutoencoderOptions Options(const ParameterValues& values) {
  if (values.Value("eps-train").empty()) {
    throw Error("method gender-aae needs --eps-train, which has no default (inf: no noise)");
  }
  AutoencoderOptions options;
  options.eps = ParseEps(values.Value("eps-train"));
  const auto count = [&values](const char* name, int otherwise) {
    return static_cast<int>(values.Number(name).value_or(otherwise));
  };
  options.epochs = count("epochs", options.epochs);
  options.patience = count("patience", 0);
  options.latent = count("latent", options.latent);
  options.adversary = values.Number("adversary-weight").value_or(options.adversary);
  options.average = values.Number("average").value_or(options.average);
  options.seed = static_cast<std::uint64_t>(count("seed", 1));
  options.checkpoint = values.File("checkpoint");
  options.resume = values.File("resume");
  options.Validate();
  return options;
}

class GenderAae : public HiderMethod {
 public:
  GenderAae()
      : HiderMethod("gender-aae",
                    "auto-encoder against a discriminator, with Laplace noise between (Chouchane "
                    "et al. 2023)",
                    AllParameters()) {}

  HiderNoise Noise() const override { return HiderNoise::kOptional; }

  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const override {
    const AutoencoderOptions options = Options(values);
    CheckHiderData(data);
    const Parts parts = HoldOut(data, options.seed);
    const HeldOut held_out(data, parts, options);
    AutoencoderScore score;
    if (held_out.CanTell() && values.Value("keep") != "last") {
      score = [&held_out](const AdversarialAutoencoder& net) {
        const HeldOut::Answer answer = held_out.Ask(net);
        return 1.0 - answer.noisy + answer.off_chance;
      };
    }
    std::vector<int> counts;
    for (const HiddenAttribute& attribute : data.header.attributes) {
      counts.push_back(static_cast<int>(attribute.categories.size()));
    }
    const MatrixXf x = data.x(Eigen::all, parts.train);
    const Categories categories = data.categories(Eigen::all, parts.train);
    TrainedAutoencoder trained = TrainAutoencoder(x, categories, counts, options, score);
    HiderHeader header = HeaderOf(data, Name(), Settings(options, trained, held_out));
    return std::make_unique<AutoencoderHider>(std::move(header), std::move(trained.net));
  }

  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return std::make_unique<AutoencoderHider>(std::move(header),
                                              AdversarialAutoencoder::Parse(file));
  }

 private:
  static std::string Settings(const AutoencoderOptions& options, const TrainedAutoencoder& trained,
                              const HeldOut& held_out) {
    std::string text = fmt::format(
        "eps-train {}, adversary {}, latent {}, average {}, seed {}; epoch {} of {}, C {:.6g}",
        options.eps, options.adversary, options.latent, options.average, options.seed, trained.best,
        trained.epochs, trained.net.Bound());
    if (!held_out.CanTell()) return text;
    const HeldOut::Answer answer = held_out.Ask(trained.net);
    return text +
           fmt::format(
               "; on {} speakers held out: cos {:.3f}, with noise {:.3f}, |2 AUC - 1| {:.3f}",
               held_out.Speakers(), answer.cosine, answer.noisy, answer.off_chance);
  }
};

}  // namespace

AutoencoderHider::AutoencoderHider(HiderHeader header, AdversarialAutoencoder net)
    : Hider(std::move(header), net.Dimension()), net_(std::move(net)) {}

MatrixXf AutoencoderHider::Latent(const Eigen::Ref<const MatrixXf>& x, const Categories&) const {
  return net_.Encode(x);
}

MatrixXf AutoencoderHider::FromLatent(const Eigen::Ref<const MatrixXf>& z) const {
  return net_.Decode(z);
}

std::shared_ptr<const HiderMethod> GenderAaeMethod() { return std::make_shared<GenderAae>(); }

}  // namespace sotto
