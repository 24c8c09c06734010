#include "attack/word_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

TEST(WordStudy, RatesAreThoseOfAConfusionDoneByHand) {
  WordAnswers sum;
  sum.counts = {{{60.0, 15.0}, {5.0, 20.0}}};
  const WordRates rates = RatesOf(sum);
  EXPECT_NEAR(rates.accuracy, 0.8, 1e-12);
  EXPECT_NEAR(rates.balanced, 0.5 * (0.8 + 0.8), 1e-12);
  // Precision 20/35, recall 20/25; of the other class 60/65 and 60/75.
  EXPECT_NEAR(rates.f1_positive, 2 * (20.0 / 35) * 0.8 / (20.0 / 35 + 0.8), 1e-12);
  EXPECT_NEAR(rates.f1_macro, 0.5 * (rates.f1_positive + 120.0 / 140.0), 1e-12);
  EXPECT_NEAR(rates.larger, 0.75, 1e-12);
  EXPECT_TRUE(std::isnan(RatesOf({}).accuracy));
  // Who always guesses the larger class has an F1 of 0 for the other.
  sum.counts = {{{75.0, 0.0}, {25.0, 0.0}}};
  EXPECT_EQ(RatesOf(sum).f1_positive, 0.0);
  EXPECT_EQ(RatesOf(sum).balanced, 0.5);
}

WordStudyOptions Quick(int jobs = 1) {
  WordStudyOptions options;
  options.repeats = 1;
  options.vectors.epochs = 4;
  options.cnn_steps = 600;
  options.intervals.resamples = 100;
  options.jobs = jobs;
  return options;
}

const WordRow& Find(const WordStudy& study, std::size_t corpus, WordClassifier classifier,
                    const WordProtocol& protocol) {
  for (const WordRow& row : study.rows) {
    if (row.corpus == corpus && row.attribute == 0 && row.classifier == classifier &&
        row.protocol == protocol) {
      return row;
    }
  }
  throw Error("no such row");
}

constexpr WordProtocol kHonest{WordUnit::kSpeaker, WordSplitBy::kSpeaker, Upsampling::kAfter};
constexpr WordProtocol kCopies{WordUnit::kSpeaker, WordSplitBy::kSpeaker, Upsampling::kBefore};

TEST(WordStudy, ReachesTheBestAccuracyAndStaysAtChanceWhereNothingIsTold) {
  PlantedWords planted;
  planted.speakers = 240;
  planted.share = {0.4, 0.5};
  planted.strength = 0.6;
  std::vector<WordCorpus> corpora = PlantedCorpora(planted);
  corpora.erase(corpora.begin() + 1, corpora.begin() + 3);
  for (WordCorpus& corpus : corpora) {
    corpus.whole_speakers = true;
    corpus.attributes.resize(1);
  }
  const WordStudy study = StudyWords(std::move(corpora), Quick(2));
  constexpr std::size_t kReplaced = 1, kNothing = 2;
  for (const WordClassifier classifier : kWordClassifiers) {
    const WordRow& told = Find(study, 0, classifier, kHonest);
    // The net hears of each filter only where it is loudest: counts reach it poorly.
    const double near = classifier == WordClassifier::kCnn ? 0.25 : 0.1;
    EXPECT_NEAR(told.Value("balanced_accuracy"), told.best, near) << Name(classifier);
    EXPECT_TRUE(told.AboveChance()) << Name(classifier);
    for (const std::size_t corpus : {kReplaced, kNothing}) {
      const WordRow& untold = Find(study, corpus, classifier, kHonest);
      EXPECT_NEAR(untold.best, 0.5, 1e-9);
      EXPECT_NEAR(untold.Value("balanced_accuracy"), 0.5, 0.15) << Name(classifier);
    }
  }
  // Copies in the test are recognised where there is nothing to learn.
  const WordRow& copied = Find(study, kNothing, WordClassifier::kCnn, kCopies);
  EXPECT_GT(copied.Value("balanced_accuracy"), 0.6);
  EXPECT_TRUE(copied.AboveChance());
  EXPECT_NEAR(copied.larger, 0.5, 0.01);
}

TEST(WordStudy, FiguresDoNotDependOnTheNumberOfJobs) {
  PlantedWords planted;
  planted.speakers = 40;
  planted.sentences = 3;
  planted.share = {0.4, 0.5};
  const auto figures = [&](int jobs) {
    WordStudyOptions options = Quick(jobs);
    options.cnn_steps = 0;
    std::vector<double> values;
    for (const WordRow& row : StudyWords({PlantWords(planted)}, options).rows) {
      EXPECT_EQ(row.reason, "");
      for (const Figure& figure : row.figures) values.push_back(figure.value);
    }
    return values;
  };
  const std::vector<double> one = figures(1);
  EXPECT_EQ(one.size(), 2U * 8U * 3U * 4U);
  EXPECT_EQ(one, figures(3));
}

TEST(WordStudy, RowsThatCannotRunSayWhy) {
  PlantedWords planted;
  planted.speakers = 12;
  planted.share = {0.1, 0.5};  // one of class 1
  const WordStudy study = StudyWords({PlantWords(planted)}, Quick());
  const WordRow& row = Find(study, 0, WordClassifier::kCnn, kHonest);
  EXPECT_NE(row.reason.find("too few"), std::string::npos);
  EXPECT_TRUE(row.figures.empty());
  WordStudyOptions none = Quick();
  none.repeats = 0;
  EXPECT_THROW(StudyWords({}, none), Error);
}

}  // namespace
}  // namespace sotto
