#include "attack/attributes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

// Speakers around ±`shift` on the first axis by gender, every second one a woman.
EmbeddingSet Voices(std::uint64_t seed, int speakers, float shift, const std::string& prefix) {
  SeededRng rng(seed);
  EmbeddingSet set;
  constexpr int kUtterances = 6, kDimension = 8;
  set.vectors.resize(kDimension, speakers * kUtterances);
  for (int s = 0; s < speakers; ++s) {
    const std::string name = prefix + std::to_string(100 + s);
    set.genders[name] = s % 2 == 0 ? Gender::kFemale : Gender::kMale;
    for (int u = 0; u < kUtterances; ++u) {
      const auto column = static_cast<Eigen::Index>(set.ids.size());
      for (int k = 0; k < kDimension; ++k) {
        set.vectors(k, column) = static_cast<float>(rng.Gaussian());
      }
      set.vectors(0, column) += s % 2 == 0 ? shift : -shift;
      set.ids.push_back(name + "-" + std::to_string(u));
      set.speakers.push_back(name);
    }
  }
  return set;
}

TEST(Attributes, FindGenderWhereItIsAndChanceWhereItIsNot) {
  for (const auto classifier : kAttributeClassifiers) {
    for (const bool other_speakers : {true, false}) {
      GenderTest data;
      data.intervals.resamples = 50;
      data.test = Voices(1, 20, 6.0F, "t");
      data.train = other_speakers ? Voices(2, 20, 6.0F, "b") : Voices(3, 20, 6.0F, "t");
      const LadderRow plain = AttackGender(Attacker::kGenderOriginal, classifier, data);
      EXPECT_TRUE(plain.ran);
      EXPECT_FALSE(plain.LinksSpeakers());
      EXPECT_GT(plain.Value("gender_balanced_accuracy"), 0.97);
      EXPECT_LT(plain.Value("gender_eer"), 0.03);
      EXPECT_GT(plain.Value("gender_auc"), 0.98);
      data.test = Voices(1, 20, 0.0F, "t");
      const LadderRow hidden = AttackGender(Attacker::kGenderOriginal, classifier, data);
      EXPECT_NEAR(hidden.Value("gender_balanced_accuracy"), 0.5, 0.15);
      EXPECT_NEAR(hidden.Value("gender_auc"), 0.5, 0.2);
      ASSERT_TRUE(hidden.Find("gender_accuracy")->interval.has_value());
      ASSERT_TRUE(hidden.Find("gender_auc")->interval.has_value());
    }
  }
}

// Labels that belong to speakers alone cannot be learned from others: every classifier would know
// all of them had it seen the speakers it is tested on.
TEST(Attributes, AreNotLearnedFromTheSpeakersTested) {
  EmbeddingSet set = Voices(4, 40, 0.0F, "s");
  SeededRng rng(5);
  for (int s = 0; s < 40; ++s) {
    for (int k = 0; k < 8; ++k) {
      const auto shift = static_cast<float>(6.0 * rng.Gaussian());
      for (int u = 0; u < 6; ++u) set.vectors(k, s * 6 + u) += shift;
    }
  }
  AttributeAttackOptions options;
  options.intervals.resamples = 0;
  for (const auto classifier : kAttributeClassifiers) {
    const AttributeAttack attack =
        AttackAttribute(classifier, set, set, GenderLabels(set, "test"), options);
    EXPECT_TRUE(attack.cross_validated);
    EXPECT_NEAR(attack.Value("auc"), 0.5, 0.22) << Name(classifier);
    EXPECT_NEAR(attack.Value("accuracy"), 0.5, 0.2) << Name(classifier);
    EXPECT_EQ(attack.bootstrap, "none");
  }
}

// Three accents in three directions; the last one is rare.
TEST(Attributes, OfMoreThanTwoCategoriesAreFound) {
  AttributeLabels labels{"accent", {"east", "north", "west"}, {}};
  const auto draw = [&labels](std::uint64_t seed, const std::string& prefix) {
    EmbeddingSet set = Voices(seed, 30, 0.0F, prefix);
    for (int s = 0; s < 30; ++s) {
      const int category = s % 5 == 0 ? 2 : s % 2;
      labels.of_speaker[prefix + std::to_string(100 + s)] = category;
      for (int u = 0; u < 6; ++u) set.vectors(category, s * 6 + u) += 8.0F;
    }
    return set;
  };
  const EmbeddingSet train = draw(1, "b"), test = draw(2, "t");
  AttributeAttackOptions options;
  options.attacker = "informed";
  options.intervals.resamples = 50;
  for (const auto classifier : kAttributeClassifiers) {
    for (const bool in_domain : {false, true}) {
      const AttributeAttack attack =
          AttackAttribute(classifier, in_domain ? test : train, test, labels, options);
      EXPECT_EQ(attack.cross_validated, in_domain);
      EXPECT_GT(attack.Value("auc"), 0.98) << Name(classifier);
      EXPECT_GT(attack.Value("balanced_accuracy"), 0.93) << Name(classifier);
      EXPECT_LT(attack.Value("eer"), 0.05) << Name(classifier);
      EXPECT_EQ(attack.figures[3].name, "accent_auc");
      EXPECT_EQ(attack.figures[3].attacker, "informed");
      ASSERT_TRUE(attack.figures[3].interval.has_value());
    }
  }
}

// Directions without a trace, women a tenth longer than men.
TEST(Attributes, AreReadOffTheLengthToo) {
  EmbeddingSet train = Voices(1, 20, 0.0F, "b"), test = Voices(2, 20, 0.0F, "t");
  for (EmbeddingSet* set : {&train, &test}) {
    set->vectors.colwise().normalize();
    for (Eigen::Index i = 0; i < set->vectors.cols(); i += 12)
      set->vectors.middleCols(i, 6) *= 1.1F;
  }
  AttributeLabels labels = GenderLabels(train, "b");
  labels.of_speaker.merge(GenderLabels(test, "t").of_speaker);
  for (const auto classifier : {AttributeClassifier::kLogistic, AttributeClassifier::kForest,
                                AttributeClassifier::kQuadratic}) {
    EXPECT_GT(AttackAttribute(classifier, train, test, labels).Value("auc"), 0.98)
        << Name(classifier);
  }
}

// Threads, the other tests, and the assignments: the first of them is that of the ladder.
TEST(Attributes, DependOnTheDataAlone) {
  const EmbeddingSet set = Voices(6, 20, 0.7F, "s");
  const AttributeLabels labels = GenderLabels(set, "test");
  AttributeAttackOptions options;
  options.intervals.resamples = 30;
  for (const auto classifier : kAttributeClassifiers) {
    options.classifier.jobs = options.intervals.jobs = 1;
    const AttributeAttack one = AttackAttribute(classifier, set, set, labels, options);
    options.classifier.jobs = options.intervals.jobs = 3;
    const AttributeAttack other = AttackAttribute(classifier, set, set, labels, options);
    EXPECT_EQ(one.Value("auc"), other.Value("auc"));
    EXPECT_EQ(one.auc_resamples, other.auc_resamples);
    ASSERT_EQ(one.auc_resamples.size(), 30U);
  }
  options.assignments = 1;
  options.classifier.hidden = 64;
  const AttributeAttack once =
      AttackAttribute(AttributeClassifier::kNet, set, set, labels, options);
  const LadderRow row = AttackGender(Attacker::kGenderOriginal, AttributeClassifier::kNet,
                                     {set, set, options.intervals});
  EXPECT_EQ(once.Value("auc"), row.Value("gender_auc"));
  options.assignments = 2;
  EXPECT_NE(once.Value("auc"),
            AttackAttribute(AttributeClassifier::kNet, set, set, labels, options).Value("auc"));
}

TEST(Attributes, ClassifiersAreNamed) {
  for (const auto classifier : kAttributeClassifiers) {
    EXPECT_EQ(ParseAttributeClassifier(Name(classifier)), classifier);
  }
  EXPECT_THROW(ParseAttributeClassifier("svm"), Error);
}

TEST(Attributes, NeedLabels) {
  GenderTest data;
  data.test = Voices(1, 4, 1.0F, "t");
  data.train = Voices(2, 4, 1.0F, "b");
  data.train.genders.erase("b101");
  EXPECT_THROW(AttackGender(Attacker::kGenderOriginal, AttributeClassifier::kNearest, data), Error);
  data.train.genders = {{"b100", Gender::kFemale},
                        {"b101", Gender::kFemale},
                        {"b102", Gender::kFemale},
                        {"b103", Gender::kFemale}};
  for (const auto classifier : kAttributeClassifiers) {
    EXPECT_THROW(AttackGender(Attacker::kGenderOriginal, classifier, data), Error);
  }
}

}  // namespace
}  // namespace sotto
