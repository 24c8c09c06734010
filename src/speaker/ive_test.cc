#include "speaker/ive.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/testing.h"
#include "speaker/hider_testing.h"
#include "speaker/hiders.h"

namespace sotto {
namespace {

using testing::AttributeVoices;
using testing::GivenValues;

// Gender is in coordinates 0 and, weaker, 1; age in 2.
TEST(Ive, WhatTellsMostGoesFirst) {
  const Ive gender = FitIve(AttributeVoices(80, 12, 4, 1.0F), {.steps = 2, .share = 0.01});
  ASSERT_EQ(gender.eliminated.size(), 2U);
  EXPECT_EQ(gender.eliminated[0], std::vector{0});
  EXPECT_EQ(gender.eliminated[1], std::vector{1});
  EXPECT_EQ(gender.kept, (std::vector{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const Ive both = FitIve(AttributeVoices(80, 12, 4, 1.0F, true), {.steps = 1, .share = 0.25});
  std::vector<int> gone = both.eliminated[0];
  std::sort(gone.begin(), gone.end());
  EXPECT_EQ(gone, (std::vector{0, 1, 2}));
}

// A copy of the variable that tells shares the credit with it; sooner or later both are gone.
TEST(Ive, CopiesOfWhatTellsGoToo) {
  HiderData data = AttributeVoices(80, 12, 4, 1.5F);
  data.x.row(7) = data.x.row(0);
  const Ive fitted = FitIve(data, {.steps = 3, .share = 0.01});
  EXPECT_EQ(std::count(fitted.kept.begin(), fitted.kept.end(), 0), 0);
  EXPECT_EQ(std::count(fitted.kept.begin(), fitted.kept.end(), 7), 0);
}

TEST(Ive, EachStepTakesItsShareOfThoseLeft) {
  const HiderData data = AttributeVoices(20, 12, 4);
  const Ive fitted = FitIve(data, {.steps = 4, .share = 0.3, .trees = 5});
  const std::size_t taken[] = {4, 2, 2, 1};  // of 12, 8, 6, 4
  ASSERT_EQ(fitted.eliminated.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(fitted.eliminated[i].size(), taken[i]);
  EXPECT_EQ(fitted.kept.size(), 3U);
  EXPECT_EQ(FitIve(data, {.steps = 100, .share = 0.3, .trees = 5}).kept.size(), 1U);
  EXPECT_EQ(FitIve(data, {.steps = 4, .share = 0.3, .trees = 5, .jobs = 2}).kept, fitted.kept);
}

TEST(Ive, RefusesWhatMakesNoSense) {
  HiderData data = AttributeVoices(20, 4, 4);
  EXPECT_THROW(FitIve(data, {.steps = 0}), Error);
  EXPECT_THROW(FitIve(data, {.share = 1.0}), Error);
  EXPECT_THROW(FitIve(data, {.trees = 0}), Error);
  data.categories.setZero();
  EXPECT_THROW(FitIve(data), Error);
}

TEST(Ive, ModelsComeBackFromTheirFiles) {
  const testing::TemporaryFolder folder;
  const HiderData data = AttributeVoices(30, 12, 5, 0.5F, true);
  const auto method = IveMethod();
  const auto hider =
      method->Fit(data, GivenValues(*method, {{"steps", "3"}, {"share", "0.2"}, {"trees", "9"}}));
  EXPECT_EQ(hider->Header().training,
            "90 voiceprints of 30 speakers, 3 steps of 0.2, 9 trees, seed 1: 6 of 12 variables "
            "left");
  EXPECT_FALSE(hider->AsksForCategories());
  EXPECT_EQ(hider->Dimension(), 12);
  const Eigen::MatrixXf hidden = HideWithoutNoise(*hider, data.x, {});
  EXPECT_EQ(hidden.rows(), 6);
  const std::vector<int> kept = dynamic_cast<const IveHider&>(*hider).Kept();
  for (Eigen::Index k = 0; k < 6; ++k) {
    EXPECT_EQ(hider->Latent(data.x, {}).row(k), data.x.row(kept[static_cast<std::size_t>(k)]));
  }
  WriteHider(*hider, folder / "model");
  EXPECT_EQ(HideWithoutNoise(*ReadHider(folder / "model"), data.x, {}), hidden);
}

TEST(Ive, DamagedFilesAreRefused) {
  const auto method = IveMethod();
  const auto hider = method->Fit(AttributeVoices(20, 6, 5), GivenValues(*method, {{"trees", "3"}}));
  const TensorFile whole = hider->File();
  for (const std::vector<std::int32_t>& kept :
       std::vector<std::vector<std::int32_t>>{{}, {3, 2}, {1, 1}, {-1, 2}, {0, 6}}) {
    TensorFile file = whole;
    file.integers["ive.kept"] = {{std::ssize(kept)}, kept};
    EXPECT_THROW(ParseHider(file), Error);
  }
  TensorFile file = whole;
  file.integers.erase("ive.dimension");
  EXPECT_THROW(ParseHider(file), Error);
}

}  // namespace
}  // namespace sotto
