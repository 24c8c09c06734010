#include "assess/panels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"

namespace sotto {
namespace {

TEST(DrawUnits, DrawsAsManyAsThereAreAndDependsOnSeedAndNumberAlone) {
  SeededRng a = ResampleRng(3, 5);
  SeededRng b = ResampleRng(3, 5);
  SeededRng c = ResampleRng(3, 6);
  const auto weights = DrawUnits(a, 50);
  EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), 0.0), 50.0);
  EXPECT_EQ(weights, DrawUnits(b, 50));
  EXPECT_NE(weights, DrawUnits(c, 50));
}

TEST(AddIntervals, CoversTheMiddleShareOfTheResamples) {
  std::vector<Figure> figures(1);
  AddIntervals(figures, {101, 0.9, 1, 2},
               [](std::uint64_t r) { return std::vector<double>{static_cast<double>(r)}; });
  ASSERT_TRUE(figures[0].interval.has_value());
  EXPECT_DOUBLE_EQ(figures[0].interval->low, 5.0);
  EXPECT_DOUBLE_EQ(figures[0].interval->high, 95.0);
  EXPECT_THROW(AddIntervals(figures, {10, 1.5, 1, 1}, {}), Error);
}

WerResult ManyUtterances(std::size_t n) {
  Transcripts ref;
  Transcripts hyp;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string id = fmt::format("u{}", i);
    ref.emplace_back(id, U"a b c d");
    hyp.emplace_back(id, i % 4 == 0 ? U"x y z w" : U"a b c d");
  }
  return ComputeWer(ref, hyp, {});
}

TEST(WerPanel, SpeakersThatFailTogetherGiveAWiderIntervalThanUtterances) {
  const WerResult result = ManyUtterances(400);
  std::vector<std::size_t> speakers(400);
  // Four speakers, one of whom has all the errors.
  for (std::size_t i = 0; i < 400; ++i) speakers[i] = i % 4;
  const Panel utterances = WerPanel(result, {}, {200, 0.95, 1, 1});
  const Panel by_speaker = WerPanel(result, speakers, {200, 0.95, 1, 1});
  EXPECT_DOUBLE_EQ(utterances.figures[0].value, 0.25);
  const auto width = [](const Panel& panel) {
    return panel.figures[0].interval->high - panel.figures[0].interval->low;
  };
  EXPECT_GT(width(by_speaker), 2.0 * width(utterances));
  EXPECT_NE(by_speaker.bootstrap.find("speaker-level (4"), std::string::npos);
}

TEST(FairnessPanel, DrawsSpeakersWhereTheyAreNamedAndSaysSo) {
  std::string text = "label\tscore\tgroup\tenrol_spk\ttest_spk\n";
  SeededRng rng(9);
  for (int e = 0; e < 12; ++e) {
    for (int t = 0; t < 12; ++t) {
      text += fmt::format("{}\t{}\t{}\ts{}\ts{}\n", e == t ? "target" : "nontarget",
                          rng.Gaussian() + (e == t ? 2.0 : 0.0), e % 2 == 0 ? "f" : "m", e, t);
    }
  }
  const Trials trials = ParseTrialTsv(text, "t", {"group", true, false});
  const Grouping grouping = GroupTrials(trials, trials.extra, nullptr, nullptr, false);
  const FairnessMeter meter(grouping.trials, {{0.05, 0.1}, {0.5}});
  const Panel panel = FairnessPanel(meter, meter.Measure(), TrialResampler(trials), grouping.kept,
                                    {50, 0.95, 1, 2});
  EXPECT_NE(panel.bootstrap.find("speaker-level (12 speakers)"), std::string::npos);
  ASSERT_EQ(panel.figures.size(), 8U);
  ASSERT_TRUE(panel.figures[0].interval.has_value());
  EXPECT_LT(panel.figures[0].interval->low, panel.figures[0].interval->high);
}

TEST(TandemPanel, GivesEveryHeadlineFigureAnInterval) {
  SeededRng rng(4);
  const auto draw = [&](double mean) {
    std::vector<double> out(200);
    for (double& x : out) x = mean + rng.Gaussian();
    return out;
  };
  TandemScores scores;
  scores.asv_tar = draw(3);
  scores.asv_non = draw(-3);
  scores.cm_bona = draw(2);
  scores.attacks["A1"] = {draw(2), draw(-2)};
  scores.attacks["A2"] = {draw(1), draw(-1)};
  const Panel panel = TandemPanel(scores, MeasureTandem(scores, {}), {}, {60, 0.95, 1, 2});
  ASSERT_EQ(panel.figures.size(), 5U);
  for (const Figure& figure : panel.figures) {
    ASSERT_TRUE(figure.interval.has_value()) << figure.name;
    EXPECT_LE(figure.interval->low, figure.value * 1.2) << figure.name;
    EXPECT_GE(figure.interval->high, figure.value * 0.8) << figure.name;
    EXPECT_FALSE(figure.counts.empty());
  }
}

}  // namespace
}  // namespace sotto
