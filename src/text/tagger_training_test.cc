#include "text/tagger_training.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/tagger_testing.h"

namespace sotto {
namespace {

using enum EntityType;
using testing::SmallCorpus;
using testing::SmallLists;
using testing::SmallOptions;

const std::vector<EntityType> kTypes = {kPerson, kLocation, kDate};

TEST(TaggerTraining, LearnsAWorldWithAndWithoutCapitals) {
  const std::vector<LabelledCorpus> corpora = {SmallCorpus()};
  const Tagger tagger(TrainTagger(corpora, SmallLists(), SmallOptions()));
  for (const bool transcripts : {false, true}) {
    const auto scores = ScoreTagger(tagger, corpora[0], CorpusPart::kReport, transcripts);
    EXPECT_GT(scores.Total(kTypes).F1(), 0.97) << transcripts;
    EXPECT_GT(scores.tokens.Recall(), 0.97) << transcripts;
  }
}

TEST(TaggerTraining, TheSameSeedGivesTheSameModelAndAnotherAnother) {
  const std::vector<LabelledCorpus> corpora = {SmallCorpus()};
  auto options = SmallOptions();
  const auto first = TrainTagger(corpora, SmallLists(), options).Serialise();
  EXPECT_EQ(TrainTagger(corpora, SmallLists(), options).Serialise(), first);
  options.seed = 2;
  EXPECT_NE(TrainTagger(corpora, SmallLists(), options).Serialise(), first);
}

TEST(TaggerTraining, DatesThatACorpusDoesNotMarkAreNotLearnedToBeNone) {
  // Half of the corpora mark dates, the other half has the same sentences without.
  std::vector<LabelledCorpus> corpora = {SmallCorpus(), SmallCorpus(true), SmallCorpus(true)};
  const Tagger open(TrainTagger(corpora, SmallLists(), SmallOptions()));
  EXPECT_GT(ScoreTagger(open, corpora[0], CorpusPart::kReport, true).types[3].Recall(), 0.95);
  for (std::size_t i = 1; i < 3; ++i) {
    for (auto& sentence : corpora[i].sentences) sentence.annotated.fill(true);
  }
  const Tagger closed(TrainTagger(corpora, SmallLists(), SmallOptions()));
  EXPECT_LT(ScoreTagger(closed, corpora[0], CorpusPart::kReport, true).types[3].Recall(), 0.5);
}

TEST(TaggerTraining, TheTableOfRecallsHoldsOnSentencesForReports) {
  const std::vector<LabelledCorpus> corpora = {SmallCorpus()};
  const Tagger tagger(TrainTagger(corpora, SmallLists(), SmallOptions()));
  const auto& table = tagger.Model().recalls;
  ASSERT_FALSE(table.empty());
  for (std::size_t i = 1; i < table.size(); ++i) {
    EXPECT_LE(table[i].threshold, table[i - 1].threshold);
    EXPECT_GE(table[i].masked, table[i - 1].masked);
  }
  const auto scores =
      ScoreTagger(tagger, corpora[0], CorpusPart::kReport, true, tagger.ThresholdOf(0.99));
  EXPECT_GE(scores.tokens.Recall(), 0.97);
  EXPECT_LE(scores.tokens.Masked(), 0.15);
}

TEST(TaggerTraining, OptionsThatMakeNoSenseAreRefused) {
  const auto refused = [](auto change) {
    TaggerTrainingOptions options;
    change(options);
    EXPECT_THROW(options.Validate(), Error);
  };
  refused([](auto& options) { options.epochs = 0; });
  refused([](auto& options) { options.rate = 0.0; });
  refused([](auto& options) { options.l1 = -1.0; });
  refused([](auto& options) { options.features = 0; });
  refused([](auto& options) { options.augmentation.replaced = 1.5; });
}

}  // namespace
}  // namespace sotto
