#include "attack/hiding_attackers.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

using Eigen::Index;
using testing::Voices;

AttackedVoices All(const EmbeddingSet& set, const AttributeLabels& labels) {
  std::vector<std::size_t> places(set.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return AttackedVoices(set, labels, places, "test");
}

// Women are shifted.
EmbeddingSet Shifted(const std::string& prefix, std::uint64_t seed) {
  EmbeddingSet set = Voices(prefix, 20, 3, seed, 6);
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.genders.at(set.speakers[i]) != Gender::kFemale) continue;
    set.vectors(0, static_cast<Index>(i)) += 3.0F;
  }
  return set;
}

// One mechanism: a classifier trained once and tried on many releases finds what AttackAttribute
// finds on each.
TEST(HidingAttackers, ScoresSayWhatTheAttackSays) {
  const EmbeddingSet train = Shifted("b", 1), test = Shifted("t", 2);
  EmbeddingSet both = train;
  both.genders.insert(test.genders.begin(), test.genders.end());
  const AttributeLabels labels = GenderLabels(both, "test");
  AttributeAttackOptions options;
  options.intervals.resamples = 100;
  AttributeExamples examples;
  examples.vectors = train.vectors;
  examples.labels = labels.Of(train, "train");
  for (std::size_t i = 0; i < train.size(); ++i)
    examples.speakers.push_back(static_cast<int>(i / 3));
  for (const auto classifier : {AttributeClassifier::kLogistic, AttributeClassifier::kQuadratic}) {
    const AttributeAttack attack = AttackAttribute(classifier, train, test, labels, options);
    const Resampled auc = ScoreAuc(ClassifyAttribute(classifier, examples, test.vectors),
                                   All(test, labels), options.intervals);
    EXPECT_NEAR(auc.value, attack.Value("auc"), 1e-12);
    ASSERT_EQ(auc.resamples.size(), attack.auc_resamples.size());
    for (std::size_t r = 0; r < auc.resamples.size(); ++r) {
      EXPECT_NEAR(auc.resamples[r], attack.auc_resamples[r], 1e-12);
    }
    EXPECT_NEAR(auc.interval->low, attack.figures.back().interval->low, 1e-12);
    EXPECT_GT(auc.value, 0.6);
  }
  const Resampled in_domain = InDomainAuc(AttributeClassifier::kLogistic, test, labels, options);
  EXPECT_GT(in_domain.value, 0.55);
  EXPECT_LE(in_domain.interval->low, in_domain.value);
}

TEST(HidingAttackers, TheBestMayTurnTheSign) {
  const auto attacker = [](AttributeClassifier classifier, double auc) {
    return AttackerAuc{classifier, {auc, Interval{auc - 0.1, auc + 0.05, 0.95}, {}}};
  };
  const BestAttacker turned = BestOf({attacker(AttributeClassifier::kNearest, 0.6),
                                      attacker(AttributeClassifier::kForest, 0.3),
                                      attacker(AttributeClassifier::kNet, 0.65)});
  EXPECT_EQ(turned.classifier, AttributeClassifier::kForest);
  EXPECT_TRUE(turned.turned);
  EXPECT_DOUBLE_EQ(turned.auc, 0.7);
  EXPECT_DOUBLE_EQ(turned.interval->low, 0.65);
  EXPECT_DOUBLE_EQ(turned.interval->high, 0.8);
  const BestAttacker plain = BestOf({attacker(AttributeClassifier::kNearest, 0.8)});
  EXPECT_FALSE(plain.turned);
  EXPECT_DOUBLE_EQ(plain.interval->high, 0.85);
  EXPECT_TRUE(std::isnan(BestOf({}).auc));
}

TEST(HidingAttackers, NeedTwoSpeakersOfEachCategory) {
  const EmbeddingSet set = Voices("s", 4, 2, 1);  // F M F M
  const AttributeLabels labels = GenderLabels(set, "test");
  EXPECT_EQ(All(set, labels).n_speakers, 4U);
  EXPECT_THROW(AttackedVoices(set, labels, {0, 2, 4}, "test"), Error);  // one man
}

}  // namespace
}  // namespace sotto
