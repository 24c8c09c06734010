#include "speaker/linear_hiders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/progress.h"
#include "nn/logistic.h"
#include "speaker/hider_data.h"
#include "speaker/hiders.h"
#include "speaker/linear_algebra.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAbsent = 1e-12;    // of the largest variance
constexpr double kRounding = 1e-24;  // of the mean square of x: no variance at all

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

// --- iterative null-space projection ------------------------------------------------------------

// A category against the rest of its attribute, among those trained on and those held out.
struct Question {
  std::vector<std::uint8_t> train, held;  // whether it is the category
  VectorXd train_weights, held_weights;   // halves for both sides
  double chance = 0.5;                    // an AUC of held-out speakers up to this is chance
};

struct Parts {
  std::vector<Index> train, held;
};

// A fifth of the speakers of each joint category is held out, one at least where there are two.
Parts HoldOut(const HiderData& data) {
  const std::vector<int> joint = JointCategories(data.categories, data.header.attributes);
  std::map<int, std::map<int, bool>> speakers;  // of each joint category: held out?
  for (std::size_t i = 0; i < joint.size(); ++i) speakers[joint[i]][data.speaker[i]] = false;
  for (auto& [category, own] : speakers) {
    std::size_t at = 0;
    const std::size_t n = own.size(), first = n < 5 ? n - 1 : 4;
    for (auto& [speaker, held] : own) {
      held = n > 1 && at >= first && (at - first) % 5 == 0;
      ++at;
    }
  }
  Parts parts;
  for (std::size_t i = 0; i < joint.size(); ++i) {
    const bool held = speakers[joint[i]][data.speaker[i]];
    (held ? parts.held : parts.train).push_back(static_cast<Index>(i));
  }
  return parts;
}

// The side of each of `places`, and weights of ½ for both sides, shared among their speakers.
// Returns how many speakers there are of the rest and of the category.
std::pair<std::size_t, std::size_t> Balance(const HiderData& data, Index attribute, int category,
                                            const std::vector<Index>& places,
                                            std::vector<std::uint8_t>& side, VectorXd& weights) {
  std::map<int, int> vectors[2];
  for (const Index i : places) {
    side.push_back(data.categories(attribute, i) == category ? 1 : 0);
    ++vectors[side.back()][data.speaker[Size(i)]];
  }
  weights.resize(std::ssize(places));
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto& own = vectors[side[k]];
    weights[static_cast<Index>(k)] =
        0.5 / static_cast<double>(own.size()) / own.at(data.speaker[Size(places[k])]);
  }
  return {vectors[0].size(), vectors[1].size()};
}

std::vector<Question> Questions(const HiderData& data, const Parts& parts) {
  std::vector<Question> all;
  for (Index a = 0; a < data.categories.rows(); ++a) {
    const HiddenAttribute& attribute = data.header.attributes[Size(a)];
    const std::size_t n = attribute.categories.size();
    for (std::size_t k = n == 2 ? 1 : 0; k < n; ++k) {
      Question one;
      const int category = static_cast<int>(k);
      const auto learnt = Balance(data, a, category, parts.train, one.train, one.train_weights);
      const auto held = Balance(data, a, category, parts.held, one.held, one.held_weights);
      if (std::min({learnt.first, learnt.second, held.first, held.second}) == 0) {
        throw Error(fmt::format("inlp: two speakers and more are needed of {} '{}' and of the rest",
                                attribute.name, attribute.categories[k]));
      }
      const auto rest = static_cast<double>(held.first), own = static_cast<double>(held.second);
      one.chance = 0.5 + std::sqrt((rest + own + 1.0) / (12.0 * rest * own));
      all.push_back(std::move(one));
    }
  }
  return all;
}

// P(a score of side 1 is above one of side 0), a tie being half; each side's weights add up to ½.
double WeightedAuc(const VectorXd& scores, const std::vector<std::uint8_t>& side,
                   const VectorXd& weights) {
  std::vector<Index> order(Size(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return scores[i] < scores[j]; });
  double below = 0.0, auc = 0.0;
  for (std::size_t begin = 0; begin < order.size();) {
    double here[2] = {0.0, 0.0};
    const double score = scores[order[begin]];
    for (; begin < order.size() && scores[order[begin]] == score; ++begin) {
      here[side[Size(order[begin])]] += weights[order[begin]];
    }
    auc += here[1] * (below + 0.5 * here[0]);
    below += here[0];
  }
  return 4.0 * auc;
}

// --- the table's entries ------------------------------------------------------------------------

class Leace : public HiderMethod {
 public:
  Leace() : HiderMethod("leace", "least-squares concept erasure (Belrose et al. 2023)") {}

  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues&) const override {
    const VectorXd weights = HiderWeights(data);
    return std::make_unique<AffineHider>(
        HeaderOf(data, Name(), "closed form"),
        std::vector{FitLeace(data.x.cast<double>(), OneHot(data.categories, data.header.attributes),
                             weights)});
  }

  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return AffineHider::Parse(file, std::move(header), false);
  }
};

class InlpMethodEntry : public HiderMethod {
 public:
  InlpMethodEntry()
      : HiderMethod("inlp", "iterative null-space projection (Ravfogel et al. 2020)",
                    {{.name = "rounds",
                      .kind = Parameter::Kind::kCount,
                      .unit = "N",
                      .preset = fmt::format("{}", InlpOptions{}.rounds),
                      .help = "Rounds of training and projection, at most"},
                     {.name = "penalty",
                      .kind = Parameter::Kind::kNumber,
                      .unit = "X",
                      .preset = fmt::format("{}", InlpOptions{}.penalty),
                      .help = "L2 penalty of the classifiers"}}) {}

  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const override {
    InlpOptions options;
    options.rounds = static_cast<int>(values.Number("rounds").value_or(options.rounds));
    options.penalty = values.Number("penalty").value_or(options.penalty);
    const Inlp fitted = FitInlp(data, options);
    const std::string settings = fmt::format(
        "penalty {}, {} directions in {} rounds, AUC of speakers held out {:.3f} at "
        "first, {:.3f} at last",
        options.penalty, fitted.directions.cols(), fitted.auc.size(), fitted.auc.front(),
        fitted.auc.back());
    const Index d = data.x.rows();
    const MatrixXd projection =
        MatrixXd::Identity(d, d) - fitted.directions * fitted.directions.transpose();
    return std::make_unique<AffineHider>(
        HeaderOf(data, Name(), settings),
        std::vector{AffineMap::About(projection, VectorXd::Zero(d), VectorXd::Zero(d))});
  }

  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return AffineHider::Parse(file, std::move(header), false);
  }
};

}  // namespace

AffineMap FitLeace(const Eigen::Ref<const MatrixXd>& x, const Eigen::Ref<const MatrixXd>& z,
                   const VectorXd& weights) {
  const VectorXd mean = x * weights;
  const MatrixXd centred = x.colwise() - mean;
  MatrixXd concepts = z.colwise() - z * weights;
  // One that is rare, or weakly tied to x, is not lost beside the others.
  const VectorXd variance = concepts.cwiseAbs2() * weights;
  for (Index k = 0; k < concepts.rows(); ++k) {
    if (variance[k] > 0.0) concepts.row(k) /= std::sqrt(variance[k]);
  }
  const MatrixXd weighted = centred * weights.asDiagonal();
  const SymmetricEigen sigma = DecomposeSymmetric(weighted * centred.transpose());
  const double largest = sigma.values.maxCoeff();
  if (!(largest > kRounding * x.cwiseAbs2().maxCoeff()))
    throw Error("leace: all voiceprints are the same");
  const Index kept = (sigma.values.array() > kAbsent * largest).count();
  const MatrixXd axes = sigma.vectors.rightCols(kept);
  const VectorXd deviation = sigma.values.tail(kept).cwiseSqrt();

  // In the coordinates of these axes W is diagonal.
  const MatrixXd tied =
      deviation.cwiseInverse().asDiagonal() * (axes.transpose() * weighted * concepts.transpose());
  const SymmetricEigen gram = DecomposeSymmetric(tied.transpose() * tied);
  const Index d = x.rows();
  MatrixXd map = MatrixXd::Identity(d, d);
  const Index rank =
      (gram.values.array() > std::max(kAbsent, kAbsent * gram.values.maxCoeff())).count();
  if (rank > 0) {
    const MatrixXd span = tied * gram.vectors.rightCols(rank) *
                          gram.values.tail(rank).cwiseSqrt().cwiseInverse().asDiagonal();
    map -= axes * deviation.asDiagonal() * span *
           (span.transpose() * deviation.cwiseInverse().asDiagonal() * axes.transpose());
  }
  return AffineMap::About(map, mean, mean);
}

void InlpOptions::Validate() const {
  if (rounds < 1 || !(penalty > 0.0)) {
    throw Error(fmt::format("inlp: {} rounds and a penalty of {}: at least 1 and above 0", rounds,
                            penalty));
  }
}

Inlp FitInlp(const HiderData& data, const InlpOptions& options) {
  options.Validate();
  const VectorXd weights = HiderWeights(data);
  const Parts parts = HoldOut(data);
  const std::vector<Question> questions = Questions(data, parts);
  const Index d = data.x.rows();
  const MatrixXd all = data.x.cast<double>();
  const VectorXd mean = all * weights;
  const double variance =
      ((all.colwise() - mean).cwiseAbs2() * weights).sum() / static_cast<double>(d);
  if (!(variance > kRounding * all.cwiseAbs2().maxCoeff()))
    throw Error("inlp: all voiceprints are the same");
  MatrixXd train = all(Eigen::all, parts.train) / std::sqrt(variance);
  MatrixXd held = all(Eigen::all, parts.held) / std::sqrt(variance);

  Inlp out{MatrixXd(d, 0), {}};
  for (int round = 0; round < options.rounds; ++round) {
    ThrowIfCancelled();
    bool chance = true;
    double best = 0.0;
    const Index before = out.directions.cols();
    MatrixXd fresh = out.directions;
    for (const Question& question : questions) {
      const Logistic model =
          TrainLogistic(train, question.train, question.train_weights, options.penalty);
      const double auc = WeightedAuc(model.Logits(held), question.held, question.held_weights);
      best = std::max(best, auc);
      chance = chance && auc <= question.chance;
      // Twice, as rounding leaves a little of the others in it the first time.
      VectorXd direction = model.weights;
      for (int i = 0; i < 2; ++i) direction -= fresh * (fresh.transpose() * direction);
      const double length = direction.norm();
      if (!(length > 1e-6 * model.weights.norm())) continue;
      fresh.conservativeResize(d, fresh.cols() + 1);
      fresh.rightCols(1) = direction / length;
    }
    out.auc.push_back(best);
    if (chance || fresh.cols() == before || fresh.cols() == d) break;
    out.directions = std::move(fresh);
    const MatrixXd taken = out.directions.rightCols(out.directions.cols() - before);
    train -= taken * (taken.transpose() * train);
    held -= taken * (taken.transpose() * held);
  }
  return out;
}

std::shared_ptr<const HiderMethod> LeaceMethod() { return std::make_shared<Leace>(); }
std::shared_ptr<const HiderMethod> InlpMethod() { return std::make_shared<InlpMethodEntry>(); }

}  // namespace sotto
