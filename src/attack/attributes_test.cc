#include "attack/attributes.h"

#include <gtest/gtest.h>

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
  for (const auto classifier : {AttributeClassifier::kNearest, AttributeClassifier::kNet}) {
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
      data.test = Voices(1, 20, 0.0F, "t");
      const LadderRow hidden = AttackGender(Attacker::kGenderOriginal, classifier, data);
      EXPECT_NEAR(hidden.Value("gender_balanced_accuracy"), 0.5, 0.15);
      ASSERT_TRUE(hidden.Find("gender_accuracy")->interval.has_value());
    }
  }
}

// Speakers tested are not trained on: labels that belong to speakers alone cannot be learned.
TEST(Attributes, AreNotLearnedFromTheSpeakersTested) {
  GenderTest data;
  data.intervals.resamples = 0;
  EmbeddingSet set = Voices(4, 40, 0.0F, "s");
  SeededRng rng(5);
  for (int s = 0; s < 40; ++s) {
    for (int k = 0; k < 8; ++k) {
      const auto shift = static_cast<float>(6.0 * rng.Gaussian());
      for (int u = 0; u < 6; ++u) set.vectors(k, s * 6 + u) += shift;
    }
  }
  data.train = data.test = set;
  const LadderRow row =
      AttackGender(Attacker::kGenderOriginal, AttributeClassifier::kNearest, data);
  EXPECT_NEAR(row.Value("gender_accuracy"), 0.5, 0.2);
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
  EXPECT_THROW(AttackGender(Attacker::kGenderOriginal, AttributeClassifier::kNearest, data), Error);
  EXPECT_THROW(AttackGender(Attacker::kGenderOriginal, AttributeClassifier::kNet, data), Error);
}

}  // namespace
}  // namespace sotto
