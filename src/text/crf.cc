#include "text/crf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool Allows(LabelSet set, std::size_t label) { return (set >> label & 1U) != 0; }

// exp of the transitions, 0 where one may not be.
TransitionScores Exponentials(const TransitionScores& transitions) {
  TransitionScores factors{};
  for (std::size_t a = 0; a < kBioLabels; ++a) {
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      if (MayFollow(static_cast<BioLabel>(a), static_cast<BioLabel>(b))) {
        factors[a][b] = std::exp(transitions[a][b]);
      }
    }
  }
  return factors;
}

// exp of the scores over the greatest one among those allowed, whose logarithm is added to `log`.
LabelScores Exponentials(const LabelScores& scores, LabelSet allowed, double& log) {
  double most = kNever;
  for (std::size_t label = 0; label < kBioLabels; ++label) {
    if (Allows(allowed, label)) most = std::max(most, scores[label]);
  }
  log += most;
  LabelScores factors{};
  for (std::size_t label = 0; label < kBioLabels; ++label) {
    if (Allows(allowed, label)) factors[label] = std::exp(scores[label] - most);
  }
  return factors;
}

double ScaleToOne(LabelScores& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  if (!(sum > 0.0)) throw Error("CRF: no labelling is possible");
  for (double& value : values) value /= sum;
  return sum;
}

}  // namespace

std::vector<BioLabel> BestLabels(std::span<const LabelScores> scores,
                                 const TransitionScores& transitions) {
  if (scores.empty()) return {};
  std::vector<std::array<BioLabel, kBioLabels>> from(scores.size());
  LabelScores best{};
  best.fill(kNever);
  best[kOutside] = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    LabelScores next{};
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      double most = kNever;
      BioLabel before = kOutside;
      for (std::size_t a = 0; a < kBioLabels; ++a) {
        if (!MayFollow(static_cast<BioLabel>(a), static_cast<BioLabel>(b))) continue;
        const double score = best[a] + transitions[a][b];
        if (score > most) {
          most = score;
          before = static_cast<BioLabel>(a);
        }
      }
      next[b] = most + scores[i][b];
      from[i][b] = before;
    }
    best = next;
  }
  std::vector<BioLabel> labels(scores.size());
  auto label = static_cast<BioLabel>(std::max_element(best.begin(), best.end()) - best.begin());
  for (std::size_t i = scores.size(); i-- > 0;) {
    labels[i] = label;
    label = from[i][label];
  }
  return labels;
}

CrfSums SumLabellings(std::span<const LabelScores> scores, const TransitionScores& transitions,
                      std::span<const LabelSet> allowed) {
  const std::size_t n = scores.size();
  CrfSums sums;
  if (n == 0) return sums;
  const TransitionScores factors = Exponentials(transitions);
  // forward[i][b]: all beginnings that end in b at token i, scaled to the sum 1 at each token.
  std::vector<LabelScores> token(n), forward(n);
  std::vector<double> scale(n);
  LabelScores before{};
  before[kOutside] = 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    token[i] =
        Exponentials(scores[i], allowed.empty() ? kAnyLabel : allowed[i], sums.log_partition);
    LabelScores now{};
    for (std::size_t a = 0; a < kBioLabels; ++a) {
      if (before[a] == 0.0) continue;
      for (std::size_t b = 0; b < kBioLabels; ++b) now[b] += before[a] * factors[a][b];
    }
    for (std::size_t b = 0; b < kBioLabels; ++b) now[b] *= token[i][b];
    scale[i] = ScaleToOne(now);
    sums.log_partition += std::log(scale[i]);
    before = forward[i] = now;
  }
  // backward[a]: all that can follow a at token i, by the same scales.
  sums.marginals.resize(n);
  LabelScores backward{};
  backward.fill(1.0);
  for (std::size_t i = n; i-- > 0;) {
    LabelScores after{};
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      sums.marginals[i][b] = forward[i][b] * backward[b];
      after[b] = token[i][b] * backward[b] / scale[i];
    }
    LabelScores start{};
    start[kOutside] = 1.0;
    const LabelScores& left = i > 0 ? forward[i - 1] : start;
    LabelScores earlier{};
    for (std::size_t a = 0; a < kBioLabels; ++a) {
      for (std::size_t b = 0; b < kBioLabels; ++b) {
        const double path = factors[a][b] * after[b];
        earlier[a] += path;
        sums.transitions[a][b] += left[a] * path;
      }
    }
    backward = earlier;
  }
  return sums;
}

CrfLoss LossOf(std::span<const LabelScores> scores, const TransitionScores& transitions,
               std::span<const LabelSet> allowed) {
  const CrfSums all = SumLabellings(scores, transitions);
  const CrfSums known = SumLabellings(scores, transitions, allowed);
  CrfLoss loss;
  loss.loss = all.log_partition - known.log_partition;
  loss.by_scores = all.marginals;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t b = 0; b < kBioLabels; ++b) loss.by_scores[i][b] -= known.marginals[i][b];
  }
  for (std::size_t a = 0; a < kBioLabels; ++a) {
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      loss.by_transitions[a][b] = all.transitions[a][b] - known.transitions[a][b];
    }
  }
  return loss;
}

}  // namespace sotto
