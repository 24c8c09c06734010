#include "learn/fresh_speech.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "learn/augment.h"
#include "nn/content.h"

namespace sotto {
namespace {

using torch::Tensor;

TEST(AtContentFrames, IsTheInterpolationOfTheRunningProgram) {
  torch::manual_seed(1);
  for (const std::int64_t count : {1, 2, 57}) {
    const Tensor states = torch::randn({2, 5, count});
    const Tensor content = AtContentFrames(states, 70);
    for (std::int64_t row = 0; row < 2; ++row) {
      Eigen::MatrixXf one(5, count);
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < count; ++j) one(i, j) = states[row][i][j].item<float>();
      }
      const Eigen::MatrixXf expected = InterpolateTeacher(one, 70);
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 70; ++j) {
          ASSERT_NEAR(content[row][i][j].item<float>(), expected(i, j), 2e-5) << count << " " << j;
        }
      }
    }
  }
}

TEST(Splice, JoinsThreeAfterEachOtherOrLeavesTheFirst) {
  torch::manual_seed(2);
  const Tensor one = torch::full({6, 8000}, 1.0);
  const Tensor chosen = torch::tensor({1.0, 0.0, 1.0, 1.0, 0.0, 1.0}).unsqueeze(1);
  const Tensor x = Splice({one, 2.0 * one, 3.0 * one}, chosen);
  EXPECT_TRUE(torch::equal(x[1], one[1]));
  EXPECT_TRUE(torch::equal(x[4], one[4]));
  Tensor joints = torch::zeros({0});
  for (const std::int64_t row : {0, 2, 3, 5}) {
    const Tensor steps = x[row].narrow(0, 1, 7999) - x[row].narrow(0, 0, 7999);
    EXPECT_GE(steps.min().item<float>(), -1e-5);  // never back to an earlier one
    EXPECT_LE(steps.max().item<float>(), 0.02);   // no click: two fades of 160 samples
    EXPECT_LE((steps > 1e-5).sum().item<std::int64_t>(), 2 * 161);
    joints = torch::cat({joints, (x[row] > 1.5).to(torch::kFloat32).argmax(0, true)});
  }
  EXPECT_GT(joints.std().item<float>(), 10.0);  // another place in every row
}

TEST(SamplesAtSpeed, AreEvenAndNear) {
  EXPECT_EQ(SamplesAtSpeed(1000, 1.0), 1000);
  EXPECT_EQ(SamplesAtSpeed(1000, 1.25), 1250);
  EXPECT_EQ(SamplesAtSpeed(1000, 0.777) % 2, 0);
  EXPECT_NEAR(static_cast<double>(SamplesAtSpeed(1000, 0.777)), 777.0, 1.0);
  // What was so many samples is `n` afterwards, its tone that much higher.
  const Tensor t = torch::arange(SamplesAtSpeed(16000, 1.25)) / 16000.0;
  const Tensor y = ChangeSpeed(torch::sin(2.0 * M_PI * 400.0 * t).unsqueeze(0), 16000);
  EXPECT_EQ(torch::fft::rfft(y).abs().argmax().item<std::int64_t>(), 500);
}

TEST(FreshSpeechOptions, NamesWhatCannotBe) {
  FreshSpeechOptions o;
  EXPECT_NO_THROW(o.Validate());
  o.spliced = 1.1;
  EXPECT_THROW(o.Validate(), Error);
  o = {};
  o.mixed = -0.1;
  EXPECT_THROW(o.Validate(), Error);
  o = {};
  o.mixed_db_high = 0.0;
  EXPECT_THROW(o.Validate(), Error);
  o = {};
  o.speeds = {};
  EXPECT_THROW(o.Validate(), Error);
  o.speeds = {3.0};
  EXPECT_THROW(o.Validate(), Error);
}

}  // namespace
}  // namespace sotto
