#include "assess/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assess/verification.h"
#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

struct Scored {
  std::vector<double> scores, weights;
  std::vector<std::uint8_t> is_target;
};

// Scores with many ties, weights 0 to 3.
Scored Draw(int n) {
  SeededRng rng(1);
  Scored all;
  for (int i = 0; i < n; ++i) {
    all.is_target.push_back(i % 3 == 0 ? 1 : 0);
    all.scores.push_back(static_cast<double>(rng.Below(20)) + 2.0 * all.is_target.back());
    all.weights.push_back(static_cast<double>(rng.Below(4)));
  }
  return all;
}

TEST(WeightedLevels, GiveTheShareOfPairsWon) {
  const Scored all = Draw(200);
  double won = 0.0, pairs = 0.0;
  for (std::size_t i = 0; i < all.scores.size(); ++i) {
    for (std::size_t j = 0; j < all.scores.size(); ++j) {
      if (all.is_target[i] == 0 || all.is_target[j] != 0) continue;
      const double weight = all.weights[i] * all.weights[j];
      won += weight * (all.scores[i] > all.scores[j]    ? 1.0
                       : all.scores[i] == all.scores[j] ? 0.5
                                                        : 0.0);
      pairs += weight;
    }
  }
  const WeightedLevels levels(all.scores, all.is_target);
  ScoreLevels scratch = levels.Levels();
  levels.Weigh(std::vector<double>(200, 1.0), scratch);
  EXPECT_EQ(Auc(scratch), Auc(MakeLevels(all.scores, all.is_target)));
  levels.Weigh(all.weights, scratch);
  EXPECT_NEAR(Auc(scratch), won / pairs, 1e-12);
}

TEST(WeightedLevels, AreThoseOfCopies) {
  const Scored all = Draw(200);
  std::vector<double> tar, non;
  for (std::size_t i = 0; i < all.scores.size(); ++i) {
    for (int copy = 0; copy < static_cast<int>(all.weights[i]); ++copy) {
      (all.is_target[i] != 0 ? tar : non).push_back(all.scores[i]);
    }
  }
  const WeightedLevels levels(all.scores, all.is_target);
  ScoreLevels scratch = levels.Levels();
  levels.Weigh(all.weights, scratch);
  EXPECT_EQ(EerInterpolated(scratch), EerInterpolated(MakeLevels(tar, non)));
}

// All pairs of the speakers' utterances; `order` says in which order they are listed.
Trials AllPairs(const std::vector<std::string>& speakers, const std::vector<std::size_t>& order,
                std::uint64_t seed) {
  Trials trials;
  trials.enrol_spk.names = trials.test_spk.names = {};
  for (const std::size_t s : order) trials.enrol_spk.names.push_back(speakers[s]);
  trials.test_spk.names = trials.enrol_spk.names;
  SeededRng rng(seed);
  std::vector<std::vector<double>> noise(speakers.size(), std::vector<double>(speakers.size()));
  for (auto& row : noise) {
    for (double& value : row) value = rng.Gaussian();
  }
  for (std::uint32_t e = 0; e < order.size(); ++e) {
    for (std::uint32_t t = 0; t < order.size(); ++t) {
      trials.enrol_spk.index.push_back(e);
      trials.test_spk.index.push_back(t);
      trials.is_target.push_back(e == t ? 1 : 0);
      trials.scores.push_back(noise[order[e]][order[t]] + (e == t ? 1.5 : 0.0));
    }
  }
  return trials;
}

const std::vector<std::string> kSpeakers = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

TEST(ResampleTrials, DrawsTheSameSpeakersHoweverTheTrialsAreListed) {
  std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Trials one = AllPairs(kSpeakers, order, 3);
  std::reverse(order.begin(), order.end());
  const Trials other = AllPairs(kSpeakers, order, 3);
  IntervalOptions options;
  options.resamples = 40;
  const auto values = ResampleTrials(one, kSpeakers, options, Auc);
  ASSERT_EQ(values.size(), 40U);
  options.jobs = 2;
  const auto again = ResampleTrials(other, kSpeakers, options, Auc);
  for (std::size_t r = 0; r < values.size(); ++r) EXPECT_NEAR(values[r], again[r], 1e-12);
  EXPECT_NE(values[0], values[1]);
}

TEST(ResampleTrials, RefusesSpeakersItWasNotGiven) {
  const Trials trials = AllPairs(kSpeakers, {0, 1, 2}, 1);
  EXPECT_THROW(ResampleTrials(trials, {"a", "b"}, {}, Auc), Error);
  EXPECT_THROW(ResampleTrials(trials, {"a"}, {}, Auc), Error);
  EXPECT_THROW(ResampleTrials(Trials{}, kSpeakers, {}, Auc), Error);
}

TEST(PairedInterval, LeavesOutWhatBothFiguresShare) {
  SeededRng rng(5);
  std::vector<double> a, b, twice;
  for (int r = 0; r < 2000; ++r) {
    const double shared = 10.0 + rng.Gaussian();
    a.push_back(shared);
    b.push_back(shared + 3.0 + 0.1 * rng.Gaussian());
    twice.push_back(2.0 * shared);
  }
  const auto difference = PairedInterval(PairedAs::kDifference, a, b, 0.95);
  EXPECT_NEAR(difference->low, 3.0 - 0.196, 0.02);  // of N(3, 0.1²)
  EXPECT_NEAR(difference->high, 3.0 + 0.196, 0.02);
  const auto ratio = PairedInterval(PairedAs::kRatio, a, twice, 0.95);
  EXPECT_DOUBLE_EQ(ratio->low, 2.0);
  EXPECT_DOUBLE_EQ(ratio->high, 2.0);
}

TEST(PairedInterval, LeavesOutResamplesWithoutAValue) {
  std::vector<double> a(20, 1.0), b(20, 2.0);
  a[0] = 0.0;
  b[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_DOUBLE_EQ(PairedInterval(PairedAs::kRatio, a, b, 0.95)->high, 2.0);
  EXPECT_TRUE(std::isnan(ComparePair(PairedAs::kRatio, 0.0, 1.0)));
  b.pop_back();
  EXPECT_THROW(PairedInterval(PairedAs::kRatio, a, b, 0.95), Error);
}

}  // namespace
}  // namespace sotto
