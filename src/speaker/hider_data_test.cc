#include "speaker/hider_data.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "speaker/hider_testing.h"

namespace sotto {
namespace {

using Eigen::VectorXd;
using testing::AttributeVoices;

TEST(HiderData, AttributesCategoriesSpeakersAndVoiceprintsWeighTheSame) {
  const HiderData data = AttributeVoices(25, 5, 7, 0.5F, true);
  const VectorXd weights = HiderWeights(data);
  EXPECT_NEAR(weights.sum(), 1.0, 1e-12);
  EXPECT_NEAR(weights[0], 0.0125831, 1e-7);  // (1/13/2 + 1/9/3)/2/3
  EXPECT_NEAR(weights[3], 0.01311728, 1e-7);
  const VectorXd each =
      OneHot(data.categories, data.header.attributes) * HiderWeights(AttributeVoices(25, 5, 7));
  EXPECT_NEAR(each[0], 0.5, 1e-12);
  HiderData without = data;
  without.categories.row(1).setConstant(2);
  EXPECT_THROW(HiderWeights(without), Error);
  without.categories.row(1).setConstant(3);
  EXPECT_THROW(HiderWeights(without), Error);
  without = data;
  without.speaker.pop_back();
  EXPECT_THROW(HiderWeights(without), Error);
}

TEST(HiderData, ASpeakerOfOneVoiceprintCountsAsMuchAsOneOfMany) {
  HiderData data = AttributeVoices(4, 3, 1);
  data.speaker = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  data.speaker[7] = data.speaker[8] = 0;  // of the women, 0 has five and 2 has one
  const VectorXd weights = HiderWeights(data);
  EXPECT_NEAR(weights[6], 0.25, 1e-12);
  EXPECT_NEAR(weights[0] + weights[1] + weights[2] + weights[7] + weights[8], 0.25, 1e-12);
  EXPECT_EQ(HeaderOf(data, "leace", "nothing").training, "12 voiceprints of 4 speakers, nothing");
}

}  // namespace
}  // namespace sotto
