#include "text/crf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

struct Chain {
  std::vector<LabelScores> scores;
  TransitionScores transitions{};
};

Chain RandomChain(std::size_t n, std::uint64_t seed, double size = 1.5) {
  SeededRng rng(seed);
  Chain chain;
  chain.scores.resize(n);
  for (auto& row : chain.scores) {
    for (double& score : row) score = size * rng.Gaussian();
  }
  for (auto& row : chain.transitions) {
    for (double& score : row) score = size * rng.Gaussian();
  }
  return chain;
}

struct Enumerated {
  double log_partition = 0.0;
  std::vector<LabelScores> marginals;
  TransitionScores transitions{};
  std::vector<BioLabel> best;
};

// Every labelling one after the other.
Enumerated Enumerate(const Chain& chain, const std::vector<LabelSet>& allowed) {
  const std::size_t n = chain.scores.size();
  Enumerated sums;
  sums.marginals.resize(n);
  double total = 0.0, most = -std::numeric_limits<double>::infinity();
  std::vector<BioLabel> labels(n, 0);
  while (true) {
    double score = 0.0;
    bool possible = true;
    BioLabel before = kOutside;
    for (std::size_t i = 0; i < n; ++i) {
      possible &= MayFollow(before, labels[i]) && (allowed[i] >> labels[i] & 1U) != 0;
      score += chain.transitions[before][labels[i]] + chain.scores[i][labels[i]];
      before = labels[i];
    }
    if (possible) {
      const double weight = std::exp(score);
      total += weight;
      before = kOutside;
      for (std::size_t i = 0; i < n; ++i) {
        sums.marginals[i][labels[i]] += weight;
        sums.transitions[before][labels[i]] += weight;
        before = labels[i];
      }
      if (score > most) {
        most = score;
        sums.best = labels;
      }
    }
    std::size_t at = 0;
    while (at < n && ++labels[at] == kBioLabels) labels[at++] = 0;
    if (at == n) break;
  }
  sums.log_partition = std::log(total);
  for (auto& row : sums.marginals) {
    for (double& value : row) value /= total;
  }
  for (auto& row : sums.transitions) {
    for (double& value : row) value /= total;
  }
  return sums;
}

TEST(Crf, SumsAndTheBestLabellingAreThoseOfAllLabellingsOneByOne) {
  for (std::size_t n = 1; n <= 4; ++n) {
    const Chain chain = RandomChain(n, 10 + n);
    const Enumerated exact = Enumerate(chain, std::vector<LabelSet>(n, kAnyLabel));
    const CrfSums sums = SumLabellings(chain.scores, chain.transitions);
    EXPECT_NEAR(sums.log_partition, exact.log_partition, 1e-10);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t b = 0; b < kBioLabels; ++b) {
        EXPECT_NEAR(sums.marginals[i][b], exact.marginals[i][b], 1e-10);
      }
    }
    for (std::size_t a = 0; a < kBioLabels; ++a) {
      for (std::size_t b = 0; b < kBioLabels; ++b) {
        EXPECT_NEAR(sums.transitions[a][b], exact.transitions[a][b], 1e-10);
      }
    }
    EXPECT_EQ(BestLabels(chain.scores, chain.transitions), exact.best);
  }
}

TEST(Crf, WhatIsKnownInPartIsTheSumOverAllThatAgrees) {
  const Chain chain = RandomChain(4, 3);
  const std::vector<LabelSet> allowed = {Only(kOutside),
                                         static_cast<LabelSet>(Only(kOutside) | Only(7) | Only(8)),
                                         Only(1), kAnyLabel};
  const Enumerated exact = Enumerate(chain, allowed);
  const CrfSums sums = SumLabellings(chain.scores, chain.transitions, allowed);
  EXPECT_NEAR(sums.log_partition, exact.log_partition, 1e-10);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      EXPECT_NEAR(sums.marginals[i][b], exact.marginals[i][b], 1e-10);
    }
  }
}

TEST(Crf, DerivativesAreThoseOfSmallDifferences) {
  Chain chain = RandomChain(5, 8);
  const std::vector<LabelSet> allowed = {Only(1), Only(2), kAnyLabel,
                                         static_cast<LabelSet>(Only(0) | Only(9)), Only(0)};
  const CrfLoss loss = LossOf(chain.scores, chain.transitions, allowed);
  const double h = 1e-5;
  const auto by = [&](double& x) {
    const double kept = x;
    x = kept + h;
    const double above = LossOf(chain.scores, chain.transitions, allowed).loss;
    x = kept - h;
    const double below = LossOf(chain.scores, chain.transitions, allowed).loss;
    x = kept;
    return (above - below) / (2 * h);
  };
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      EXPECT_NEAR(loss.by_scores[i][b], by(chain.scores[i][b]), 1e-8);
    }
  }
  for (std::size_t a = 0; a < kBioLabels; ++a) {
    for (std::size_t b = 0; b < kBioLabels; ++b) {
      EXPECT_NEAR(loss.by_transitions[a][b], by(chain.transitions[a][b]), 1e-8);
    }
  }
}

TEST(Crf, LongSentencesNeitherOverflowNorUnderflow) {
  const Chain chain = RandomChain(20000, 5, 30.0);
  const CrfSums sums = SumLabellings(chain.scores, chain.transitions);
  EXPECT_TRUE(std::isfinite(sums.log_partition));
  for (const auto& row : sums.marginals) {
    double sum = 0.0;
    for (const double value : row) sum += value;
    ASSERT_NEAR(sum, 1.0, 1e-9);
  }
}

TEST(Crf, AnInsideNeverFollowsWhatItCannotContinue) {
  Chain chain = RandomChain(300, 6, 4.0);
  const auto labels = BestLabels(chain.scores, chain.transitions);
  BioLabel before = kOutside;
  for (const auto label : labels) {
    ASSERT_TRUE(MayFollow(before, label));
    before = label;
  }
}

TEST(Crf, LabelsThatCannotBeAreRefused) {
  const Chain chain = RandomChain(2, 1);
  const std::vector<LabelSet> allowed = {Only(0), Only(2)};  // an inside at the beginning
  EXPECT_THROW(SumLabellings(chain.scores, chain.transitions, allowed), Error);
}

}  // namespace
}  // namespace sotto
