#include "assess/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assess/bootstrap.h"
#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

// `speakers` speakers with `per_speaker` test recordings each, all enrolments against all
// recordings; each speaker has an own voice quality, so trials of a speaker depend on each other.
Trials MakeTrials(std::size_t speakers, std::size_t per_speaker, std::uint64_t seed) {
  SeededRng rng(seed);
  std::vector<double> quality;
  for (std::size_t s = 0; s < speakers; ++s) quality.push_back(rng.Gaussian());
  std::string text = "enrol\ttest\tlabel\tscore\tenrol_spk\ttest_spk\n";
  for (std::size_t e = 0; e < speakers; ++e) {
    for (std::size_t t = 0; t < speakers; ++t) {
      for (std::size_t u = 0; u < per_speaker; ++u) {
        const double score = (e == t ? 2.0 + quality[e] : -1.0) + rng.Gaussian();
        text += fmt::format("e{0}\tt{1}-{2}\t{3}\t{4:.17g}\ts{0}\ts{1}\n", e, t, u,
                            e == t ? "target" : "nontarget", score);
      }
    }
  }
  return ParseTrialTsv(text, "made");
}

VerifyOptions Quick(int jobs) {
  VerifyOptions options;
  options.resamples = 200;
  options.jobs = jobs;
  return options;
}

TEST(Bootstrap, IntervalsDependOnTheSeedAndNotOnTheThreads) {
  const Trials trials = MakeTrials(12, 5, 1);
  const ScoreLevels data = MakeLevels(trials);
  const ScoreLevels other = MakeLevels(MakeTrials(12, 5, 2));
  const VerifyResult one = Verify(trials, data, Quick(1), &other);
  const VerifyResult four = Verify(trials, data, Quick(4), &other);
  VerifyOptions another = Quick(1);
  another.seed = 2;
  const VerifyResult other_seed = Verify(trials, data, another, &other);
  ASSERT_EQ(one.figures.size(), four.figures.size());
  bool differs = false;
  for (std::size_t i = 0; i < one.figures.size(); ++i) {
    const Figure& figure = one.figures[i];
    ASSERT_TRUE(figure.interval.has_value()) << figure.name;
    EXPECT_EQ(figure.interval->low, four.figures[i].interval->low) << figure.name;
    EXPECT_EQ(figure.interval->high, four.figures[i].interval->high) << figure.name;
    EXPECT_LE(figure.interval->low, figure.interval->high) << figure.name;
    differs = differs || figure.interval->low != other_seed.figures[i].interval->low;
  }
  EXPECT_TRUE(differs);
  EXPECT_NE(one.bootstrap.find("speaker-level (12 speakers)"), std::string::npos);
}

TEST(Bootstrap, WeighsATrialByTheProductOfItsSpeakersWeights) {
  const Trials trials = MakeTrials(6, 2, 3);
  const TrialResampler resampler(trials);
  ASSERT_TRUE(resampler.SpeakerLevel());
  TrialResampler::Draw draw;
  for (std::uint64_t r = 0; r < 20; ++r) {
    resampler.Make(7, r, draw);
    double speakers = 0.0;
    for (const double w : draw.speaker) speakers += w;
    EXPECT_EQ(speakers, 6.0);
    // Speakers are numbered as they first appear: s0 … s5.
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const auto number = [](const std::string& name) { return std::stoul(name.substr(1)); };
      EXPECT_EQ(draw.trial[i], draw.speaker[number(trials.enrol_spk.At(i))] *
                                   draw.speaker[number(trials.test_spk.At(i))]);
    }
  }
}

TEST(Bootstrap, IsTrialLevelWithinClassesWithoutSpeakersAndSaysSo) {
  Trials trials = MakeTrials(6, 4, 3);
  trials.enrol_spk = trials.test_spk = IdColumn();
  const TrialResampler resampler(trials);
  EXPECT_FALSE(resampler.SpeakerLevel());
  TrialResampler::Draw draw;
  resampler.Make(1, 0, draw);
  double sum[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < trials.size(); ++i) sum[trials.is_target[i]] += draw.trial[i];
  EXPECT_EQ(sum[1], 24.0);
  EXPECT_EQ(sum[0], 120.0);
  const VerifyResult result = Verify(trials, MakeLevels(trials), Quick(1));
  EXPECT_NE(result.bootstrap.find("trial-level"), std::string::npos);
}

TEST(Bootstrap, OfSpeakersIsWiderThanOfTrialsWhenVoicesDiffer) {
  const Trials trials = MakeTrials(15, 20, 4);
  Trials without = trials;
  without.enrol_spk = without.test_spk = IdColumn();
  const auto width = [](const Trials& t) {
    const VerifyResult result = Verify(t, MakeLevels(t), Quick(2));
    return result.figures[0].interval->high - result.figures[0].interval->low;
  };
  EXPECT_GT(width(trials), 1.5 * width(without));
}

TEST(Bootstrap, OneSpeakerFallsBackToTrials) {
  Trials trials = MakeTrials(4, 5, 5);
  for (auto* column : {&trials.enrol_spk, &trials.test_spk}) {
    column->names = {"only"};
    column->index.assign(trials.size(), 0);
  }
  const VerifyResult result = Verify(trials, MakeLevels(trials), Quick(1));
  EXPECT_NE(result.bootstrap.find("trial-level (one speaker alone)"), std::string::npos);
  EXPECT_TRUE(result.figures[0].interval.has_value());
}

TEST(Bootstrap, TrialLevelIntervalsCoverTheTruthAboutAsOftenAsTheySay) {
  // Two Gaussians at distance 2: AUC is Phi(sqrt 2).
  const double truth = std::erfc(-1.0) / 2.0;
  int covered = 0;
  constexpr int kRuns = 100;
  for (int run = 0; run < kRuns; ++run) {
    SeededRng rng(1000 + static_cast<std::uint64_t>(run));
    Trials trials;
    for (int i = 0; i < 300; ++i) {
      trials.is_target.push_back(i % 3 == 0 ? 1 : 0);
      trials.scores.push_back(rng.Gaussian() + 2.0 * trials.is_target.back());
    }
    const VerifyResult result = Verify(trials, MakeLevels(trials), Quick(1));
    for (const Figure& figure : result.figures) {
      if (figure.name != "auc") continue;
      covered += figure.interval->low <= truth && truth <= figure.interval->high ? 1 : 0;
    }
  }
  EXPECT_GE(covered, 86);  // 95 expected; below 86 has probability 1e-4
}

TEST(Verify, EveryHeadlineFigureHasUnitCountsAndADirection) {
  const Trials trials = MakeTrials(5, 3, 6);
  const ScoreLevels data = MakeLevels(trials);
  const VerifyResult result = Verify(trials, data, Quick(1), &data);
  for (const Figure& figure : result.figures) {
    EXPECT_FALSE(figure.unit.empty()) << figure.name;
    EXPECT_FALSE(figure.counts.empty()) << figure.name;
    EXPECT_NE(figure.direction, Direction::kNeither) << figure.name;
  }
}

TEST(Verify, OptionsOutsideTheirRangesAreRefused) {
  const Trials trials = MakeTrials(3, 2, 6);
  const ScoreLevels data = MakeLevels(trials);
  VerifyOptions options;
  options.priors = {1.0};
  EXPECT_THROW(Verify(trials, data, options), Error);
  options = VerifyOptions();
  options.cost_miss = 0.0;
  EXPECT_THROW(Verify(trials, data, options), Error);
  options = VerifyOptions();
  options.linkability.omega = -1.0;
  EXPECT_THROW(Verify(trials, data, options), Error);
  options = VerifyOptions();
  options.top_k = {0};
  EXPECT_THROW(Verify(trials, data, options), Error);
}

TEST(CalibratedDisclosure, OnTheSameScoresIsAtMostTheOracles) {
  const Trials trials = MakeTrials(10, 5, 7);
  const ScoreLevels data = MakeLevels(trials);
  const CalibratedDisclosure same = MeasureCalibrated(trials, data, 0.5);
  const double oracle = MeasureZebra(data).d_ece_bits;
  EXPECT_LE(same.c_ece_linear, oracle);
  EXPECT_LE(same.c_ece_isotonic, oracle);
  EXPECT_GT(same.c_ece_isotonic, 0.9 * oracle);
  EXPECT_GE(same.cllr_linear, CllrMin(FitPav(data)));
}

TEST(CalibratedDisclosure, WithACalibrationOfReversedScoresIsNegative) {
  const Trials trials = MakeTrials(10, 5, 8);
  Trials reversed = trials;
  for (double& score : reversed.scores) score = -score;
  const CalibratedDisclosure wrong = MeasureCalibrated(trials, MakeLevels(reversed), 0.5);
  EXPECT_LT(wrong.c_ece_linear, 0.0);
}

TEST(CalibratedDisclosure, SaysWhyALinearFitFailed) {
  const Trials trials = MakeTrials(4, 2, 9);
  const std::vector<double> low{0.0};
  const std::vector<double> high{1.0};
  const CalibratedDisclosure result = MeasureCalibrated(trials, MakeLevels(high, low), 0.5);
  EXPECT_TRUE(std::isnan(result.c_ece_linear));
  EXPECT_FALSE(result.remark.empty());
  EXPECT_TRUE(std::isfinite(result.c_ece_isotonic));
}

TEST(Identification, RankAndPrecisionOfOneRecordingByHand) {
  const Trials trials = ParseTrialTsv(
      "enrol\ttest\tlabel\tscore\n"
      "a\tq\ttarget\t3\nb\tq\tnontarget\t5\nc\tq\tnontarget\t3\nd\tq\tnontarget\t1\n"
      "a\tr\tnontarget\t3\nb\tr\ttarget\t5\nc\tr\ttarget\t4\nd\tr\tnontarget\t1\n"
      "a\tx\tnontarget\t3\n",
      "f");
  const std::vector<std::size_t> k{1, 2, 4, 5};
  const Identification found = MeasureIdentification(trials, k);
  ASSERT_EQ(found.queries.size(), 2U);  // x has no target
  EXPECT_EQ(found.queries[0].rank, 2.5);
  EXPECT_EQ(found.queries[1].rank, 1.0);
  EXPECT_EQ(found.queries[0].precision[0], 0.0);
  EXPECT_EQ(found.queries[0].precision[1], 0.25);  // one of two tied at the border
  EXPECT_EQ(found.queries[1].precision[1], 1.0);
  EXPECT_EQ(found.top_k[2], (0.25 + 0.5) / 2.0);
  EXPECT_TRUE(std::isnan(found.top_k[3]));
  EXPECT_EQ(found.top_k_n[3], 0U);
  EXPECT_EQ(found.mean_rank, 1.75);
}

TEST(Zoo, MeansAreThoseOfTheClaimedSpeakersTrials) {
  const Trials trials = ParseTrialTsv(
      "label\tscore\tenrol_spk\ttest_spk\n"
      "target\t4\ta\ta\ntarget\t2\ta\ta\nnontarget\t1\ta\tb\nnontarget\t0\tb\ta\n"
      "target\t1\tb\tb\n",
      "f");
  const auto zoo = MeasureZoo(trials, FitPav(MakeLevels(trials), PavRule::kLaplace));
  ASSERT_EQ(zoo.size(), 2U);
  EXPECT_EQ(zoo[0].name, "a");  // most exposed first
  EXPECT_EQ(zoo[0].mean_tar, 3.0);
  EXPECT_EQ(zoo[0].mean_non, 1.0);
  EXPECT_EQ(zoo[1].mean_tar, 1.0);
  EXPECT_EQ(zoo[1].n_non, 1U);
}

}  // namespace
}  // namespace sotto
