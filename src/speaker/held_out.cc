#include "speaker/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "base/random.h"
#include "nn/logistic.h"
#include "speaker/hider_data.h"
#include "speaker/linear_algebra.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr std::size_t kHeldOut = 5;  // one speaker of so many
// Voiceprints of a speaker that count: more say little more and cost as much.
constexpr int kMostTrained = 4, kMostHeld = 6;
constexpr int kFolds = 5;
constexpr double kPenalty = 1e-3;                 // of the logistic attacker
constexpr double kToCommon = 0.2, kRound = 0.02;  // shrinkage of the quadratic one

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

// Examples of a question "this category or another one?".
struct Examples {
  MatrixXd x;
  std::vector<std::uint8_t> side;
  std::vector<int> speaker, domain;

  Examples Of(const std::vector<Index>& places) const {
    Examples part{x(Eigen::all, places), {}, {}, {}};
    for (const Index i : places) {
      part.side.push_back(side[Size(i)]);
      part.speaker.push_back(speaker[Size(i)]);
      part.domain.push_back(domain[Size(i)]);
    }
    return part;
  }
};

// ½ for each side, shared among its speakers, and theirs among their voiceprints.
VectorXd Weights(const Examples& examples) {
  std::map<int, int> count[2];
  for (std::size_t i = 0; i < examples.side.size(); ++i) {
    ++count[examples.side[i]][examples.speaker[i]];
  }
  VectorXd weights(examples.x.cols());
  for (std::size_t i = 0; i < examples.side.size(); ++i) {
    const auto& own = count[examples.side[i]];
    weights[static_cast<Index>(i)] =
        0.5 / static_cast<double>(own.size()) / own.at(examples.speaker[i]);
  }
  return weights;
}

// Both by the covariance of the first: what a map squeezes into small variances, an attacker finds.
void Whiten(MatrixXd& train, MatrixXd& test) {
  const VectorXd mean = train.rowwise().mean();
  train.colwise() -= mean;
  const SymmetricEigen e =
      DecomposeSymmetric(train * train.transpose() / static_cast<double>(train.cols()));
  const VectorXd scale = e.values.cwiseMax(1e-8 * e.values.maxCoeff()).cwiseSqrt().cwiseInverse();
  const MatrixXd white = scale.asDiagonal() * e.vectors.transpose();
  train = white * train;
  test = white * (test.colwise() - mean);
}

VectorXd Quadratic(const Examples& train, const MatrixXd& test) {
  const VectorXd weights = Weights(train);
  VectorXd means[2];
  MatrixXd covariances[2];
  for (int side = 0; side < 2; ++side) {
    VectorXd own = weights;
    for (Index i = 0; i < own.size(); ++i) own[i] *= train.side[Size(i)] == side ? 2.0 : 0.0;
    means[side] = train.x * own;
    const MatrixXd off = (train.x.colwise() - means[side]) * own.cwiseSqrt().asDiagonal();
    covariances[side] = off * off.transpose();
  }
  const MatrixXd common = 0.5 * (covariances[0] + covariances[1]);
  const double round = kRound * common.trace() / static_cast<double>(common.rows());
  VectorXd scores = VectorXd::Zero(test.cols());
  for (int side = 0; side < 2; ++side) {
    MatrixXd shrunk = (1.0 - kRound) * ((1.0 - kToCommon) * covariances[side] + kToCommon * common);
    shrunk.diagonal().array() += round + 1e-12;
    const Inverted inverted = Invert(shrunk);
    const MatrixXd off = test.colwise() - means[side];
    const VectorXd distance = off.cwiseProduct(inverted.inverse * off).colwise().sum().transpose();
    scores += (side == 0 ? 0.5 : -0.5) * VectorXd(distance.array() + inverted.log_abs_determinant);
  }
  return scores;
}

VectorXd Linear(const Examples& train, const MatrixXd& test) {
  return TrainLogistic(train.x, train.side, Weights(train), kPenalty).Logits(test);
}

constexpr VectorXd (*kAttackers[])(const Examples&, const MatrixXd&) = {Linear, Quadratic};

// P(a score of side 1 is above one of side 0), a tie being half; NaN without both.
double Auc(const VectorXd& scores, const Examples& examples, const std::vector<Index>& places) {
  std::vector<Index> order = places;
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return scores[i] < scores[j]; });
  const VectorXd weights = Weights(examples);
  double below = 0.0, auc = 0.0, total[2] = {0.0, 0.0};
  for (std::size_t begin = 0; begin < order.size();) {
    double here[2] = {0.0, 0.0};
    const double score = scores[order[begin]];
    for (; begin < order.size() && scores[order[begin]] == score; ++begin) {
      here[examples.side[Size(order[begin])]] += weights[order[begin]];
    }
    auc += here[1] * (below + 0.5 * here[0]);
    below += here[0];
    for (int side = 0; side < 2; ++side) total[side] += here[side];
  }
  return auc / (total[0] * total[1]);
}

// Within each corpus, the mean weighted as n₀·n₁/(n₀ + n₁) by speakers; over all of them where none
// has both sides.
double AucWithinCorpora(const VectorXd& scores, const Examples& examples) {
  std::map<int, std::vector<Index>> corpora;
  std::map<int, std::set<int>> speakers[2];
  std::vector<Index> all(examples.side.size());
  std::iota(all.begin(), all.end(), Index{0});
  for (const Index i : all) {
    const int domain = examples.domain[Size(i)];
    corpora[domain].push_back(i);
    speakers[examples.side[Size(i)]][domain].insert(examples.speaker[Size(i)]);
  }
  double sum = 0.0, weights = 0.0;
  for (const auto& [domain, places] : corpora) {
    const auto a = static_cast<double>(speakers[0][domain].size());
    const auto b = static_cast<double>(speakers[1][domain].size());
    if (a * b == 0.0) continue;
    sum += a * b / (a + b) * Auc(scores, examples, places);
    weights += a * b / (a + b);
  }
  return weights > 0.0 ? sum / weights : Auc(scores, examples, all);
}

// Each speaker's scores by an attacker trained on the other folds. Folds take the speakers of each
// side in turn.
VectorXd CrossValidated(const Examples& examples,
                        VectorXd (*attacker)(const Examples&, const MatrixXd&)) {
  std::map<int, int> fold;
  int next[2] = {0, 0};
  for (std::size_t i = 0; i < examples.side.size(); ++i) {
    const auto [place, fresh] = fold.try_emplace(examples.speaker[i], 0);
    if (fresh) place->second = next[examples.side[i]]++ % kFolds;
  }
  const int folds = std::min({kFolds, next[0], next[1]});
  for (auto& [speaker, f] : fold) f %= folds;
  VectorXd scores = VectorXd::Zero(examples.x.cols());
  for (int f = 0; f < folds; ++f) {
    std::vector<Index> train, test;
    for (Index i = 0; i < examples.x.cols(); ++i) {
      (fold[examples.speaker[Size(i)]] == f ? test : train).push_back(i);
    }
    const MatrixXd tested = examples.x(Eigen::all, test);
    scores(test) = attacker(examples.Of(train), tested);
  }
  return scores;
}

// Where the rates of rejected pairs of one speaker and accepted pairs of two meet.
double EqualErrorRate(const MatrixXd& y, const std::vector<int>& speaker,
                      const std::vector<int>& domain) {
  constexpr int kBins = 4000;
  std::vector<double> tar(kBins, 0.0), non(kBins, 0.0);
  double n_tar = 0.0, n_non = 0.0;
  for (Index i = 1; i < y.cols(); ++i) {
    const VectorXd cosines = y.leftCols(i).transpose() * y.col(i);
    for (Index j = 0; j < i; ++j) {
      if (domain[Size(i)] != domain[Size(j)]) continue;
      const int bin = std::clamp(static_cast<int>((cosines[j] + 1.0) * 0.5 * kBins), 0, kBins - 1);
      const bool same = speaker[Size(i)] == speaker[Size(j)];
      (same ? tar : non)[Size(bin)] += 1.0;
      (same ? n_tar : n_non) += 1.0;
    }
  }
  if (n_tar == 0.0 || n_non == 0.0) return 0.5;
  double missed = 0.0, accepted = 1.0;
  for (int bin = 0; bin < kBins; ++bin) {
    const double rise = tar[Size(bin)] / n_tar, fall = non[Size(bin)] / n_non;
    if (missed + rise >= accepted - fall) {
      const double step = rise + fall;
      return missed + (step > 0.0 ? rise * (accepted - missed) / step : 0.0);
    }
    missed += rise;
    accepted -= fall;
  }
  return 0.5;
}

std::set<int> Choose(const HiderData& data, std::uint64_t seed) {
  CheckHiderData(data);
  const std::vector<int> joint = JointCategories(data.categories, data.header.attributes);
  std::map<std::pair<int, int>, std::set<int>> cells;
  for (std::size_t i = 0; i < joint.size(); ++i) {
    cells[{data.domain[i], joint[i]}].insert(data.speaker[i]);
  }
  SeededRng rng(seed);
  std::set<int> chosen;
  for (const auto& [cell, all] : cells) {
    std::vector<int> own(all.begin(), all.end());
    const std::size_t n = own.size() < 2 ? 0 : std::max<std::size_t>(1, own.size() / kHeldOut);
    for (std::size_t i = 0; i < n; ++i) {
      std::swap(own[i], own[i + rng.Below(own.size() - i)]);
      chosen.insert(own[i]);
    }
  }
  return chosen;
}

}  // namespace

HiderData PartOf(const HiderData& data, const std::vector<Index>& places) {
  HiderData part{
      data.x(Eigen::all, places), data.categories(Eigen::all, places), {}, {}, data.header};
  for (const Index i : places) {
    part.speaker.push_back(data.speaker[Size(i)]);
    part.domain.push_back(data.domain[Size(i)]);
  }
  return part;
}

MatrixXf ProtectedColumns(const std::vector<AffineMap>& maps, const Eigen::Ref<const MatrixXf>& x,
                          const std::vector<int>& joint) {
  MatrixXf y(maps.front().matrix.rows(), x.cols());
  for (std::size_t g = 0; g < maps.size(); ++g) {
    std::vector<Index> own;
    for (Index i = 0; i < x.cols(); ++i) {
      if (maps.size() == 1 || Size(joint[Size(i)]) == g) own.push_back(i);
    }
    const MatrixXf columns = x(Eigen::all, own);
    y(Eigen::all, own) = (maps[g].matrix * columns).colwise() + maps[g].offset;
  }
  y.colwise().normalize();
  return y;
}

HeldOut::HeldOut(const HiderData& data, std::uint64_t seed)
    : HeldOut(data, Choose(data, seed), seed) {}

HeldOut::HeldOut(const HiderData& data, const std::set<int>& held, std::uint64_t seed)
    : data_(data) {
  CheckHiderData(data);
  std::vector<Index> places;
  for (Index i = 0; i < data.x.cols(); ++i) {
    (held.contains(data.speaker[Size(i)]) ? places : left_).push_back(i);
  }
  attacked_with_ = Take(left_, kMostTrained, seed);
  held_ = Take(places, kMostHeld, seed);
  CheckCategories();
}

HeldOut::Voices HeldOut::Take(const std::vector<Index>& places, int most_of_speaker,
                              std::uint64_t seed) const {
  std::vector<Index> order = places;
  SeededRng rng(seed + 1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  std::map<int, int> taken;
  Voices voices;
  for (const Index i : order) {
    if (taken[data_.speaker[Size(i)]]++ < most_of_speaker) voices.places.push_back(i);
  }
  std::sort(voices.places.begin(), voices.places.end());
  for (const Index i : voices.places) {
    voices.speaker.push_back(data_.speaker[Size(i)]);
    voices.domain.push_back(data_.domain[Size(i)]);
  }
  voices.categories = data_.categories(Eigen::all, voices.places);
  voices.joint = JointCategories(voices.categories, data_.header.attributes);
  return voices;
}

void HeldOut::CheckCategories() const {
  for (const Voices* voices : {&attacked_with_, &held_}) {
    for (Index a = 0; a < data_.categories.rows(); ++a) {
      const HiddenAttribute& attribute = data_.header.attributes[Size(a)];
      std::vector<std::set<int>> speakers(attribute.categories.size());
      for (std::size_t i = 0; i < voices->places.size(); ++i) {
        speakers[Size(voices->categories(a, static_cast<Index>(i)))].insert(voices->speaker[i]);
      }
      for (std::size_t k = 0; k < speakers.size(); ++k) {
        if (speakers[k].size() >= 2) continue;
        throw Error(
            fmt::format("adversarial: ten speakers and more are needed of {} '{}', a fifth of "
                        "whom is held out",
                        attribute.name, attribute.categories[k]));
      }
    }
  }
  const std::set<int> speakers(held_.speaker.begin(), held_.speaker.end());
  if (speakers.size() == held_.speaker.size()) {
    throw Error("adversarial: no speaker held out has two voiceprints");
  }
}

MatrixXd HeldOut::Protect(const std::vector<AffineMap>& maps, const Voices& voices) const {
  const MatrixXf x = data_.x(Eigen::all, voices.places);
  return ProtectedColumns(maps, x, voices.joint).cast<double>();
}

HeldOutFigures HeldOut::Measure(const std::vector<AffineMap>& maps) const {
  Examples train{Protect(maps, attacked_with_), {}, attacked_with_.speaker, attacked_with_.domain};
  Examples held{Protect(maps, held_), {}, held_.speaker, held_.domain};
  HeldOutFigures figures;
  figures.eer = EqualErrorRate(held.x, held.speaker, held.domain);
  Whiten(train.x, held.x);
  for (Index a = 0; a < data_.categories.rows(); ++a) {
    const std::size_t n = data_.header.attributes[Size(a)].categories.size();
    const std::size_t questions = n == 2 ? 1 : n;
    for (const auto attacker : kAttackers) {
      double informed = 0.0, in_domain = 0.0;
      for (std::size_t k = 0; k < questions; ++k) {
        ThrowIfCancelled();
        for (auto [examples, voices] :
             {std::pair{&train, &attacked_with_}, std::pair{&held, &held_}}) {
          examples->side.clear();
          for (const int category : voices->categories.row(a)) {
            examples->side.push_back(category == static_cast<int>(k) ? 1 : 0);
          }
        }
        informed += AucWithinCorpora(attacker(train, held.x), held);
        in_domain += AucWithinCorpora(CrossValidated(held, attacker), held);
      }
      informed /= static_cast<double>(questions);
      in_domain /= static_cast<double>(questions);
      figures.informed = std::max({figures.informed, informed, 1.0 - informed});
      figures.in_domain = std::max({figures.in_domain, in_domain, 1.0 - in_domain});
    }
  }
  return figures;
}

}  // namespace sotto
