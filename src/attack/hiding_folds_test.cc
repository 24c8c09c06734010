#include "attack/hiding_folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "speaker/hider_testing.h"

namespace sotto {
namespace {

struct Voices {
  EmbeddingSet set;
  AttributeLabels labels{"gender", {"F", "M"}, {}};
};

Voices Planted(int speakers) {
  const HiderData data = testing::AttributeVoices(speakers, 10, 3, 0.7F);
  Voices voices;
  voices.set.vectors = data.x;
  for (std::size_t i = 0; i < data.speaker.size(); ++i) {
    const std::string speaker = "s" + std::to_string(data.speaker[i]);
    voices.set.ids.push_back(speaker + "-" + std::to_string(i));
    voices.set.speakers.push_back(speaker);
    voices.labels.of_speaker[speaker] = data.categories(0, static_cast<Eigen::Index>(i));
  }
  return voices;
}

double Best(const std::vector<double>& aucs) { return *std::max_element(aucs.begin(), aucs.end()); }

TEST(HidingFolds, DefencesOfOtherFoldsHideAPlantedDirectionFromStrangers) {
  const Voices voices = Planted(200);
  FoldOptions options;
  options.defences = {"transport:dimension=6,erased=0,erased-shifts=0"};
  options.classifier.trees = 50;
  options.classifier.epochs = 20;
  const FoldStudy study = StudyFolds(voices.set, voices.labels, options);
  ASSERT_EQ(study.rows.size(), 2U);
  EXPECT_EQ(study.speakers, 200U);
  EXPECT_GT(Best(study.rows[0].informed), 0.85);
  EXPECT_GT(Best(study.rows[0].uninformed), 0.85);
  EXPECT_LT(Best(study.rows[1].informed), 0.75);
  EXPECT_TRUE(study.rows[1].uninformed.empty());  // another dimension
  for (const FoldRow& row : study.rows) EXPECT_LT(row.eer, 0.3) << row.name;
}

TEST(HidingFolds, OneVoiceprintEachHasNoErrorRate) {
  Voices voices = Planted(40);
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < voices.set.size(); i += 3) first.push_back(i);
  FoldOptions options;
  options.classifier.trees = 20;
  options.classifier.epochs = 5;
  const FoldStudy study = StudyFolds(voices.set.Select(first), voices.labels, options);
  EXPECT_TRUE(std::isnan(study.rows[0].eer));
  EXPECT_GT(Best(study.rows[0].informed), 0.9);
}

TEST(HidingFolds, RefusesWhatCannotBeFolded) {
  const Voices voices = Planted(6);
  EXPECT_THROW(StudyFolds(voices.set, voices.labels, {}), Error);  // three of each for five folds
  FoldOptions options;
  options.folds = 3;
  options.defences = {"nothing"};
  EXPECT_THROW(StudyFolds(voices.set, voices.labels, options), Error);
  options.defences = {"leace:dimension=3"};
  EXPECT_THROW(StudyFolds(voices.set, voices.labels, options), Error);
  options.defences = {"transport:dimension"};
  EXPECT_THROW(StudyFolds(voices.set, voices.labels, options), Error);
}

}  // namespace
}  // namespace sotto
