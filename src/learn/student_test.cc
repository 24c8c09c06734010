#include "learn/student.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

using torch::Tensor;

TEST(HeardChange, NamesWhatCannotBe) {
  HeardChange change;
  EXPECT_NO_THROW(change.Validate(40));
  EXPECT_THROW(change.Validate(4), Error);  // masks of 12 frames
  change.warp = 0.6;
  EXPECT_THROW(change.Validate(40), Error);
  change = {};
  change.augmented = 1.5;
  EXPECT_THROW(change.Validate(40), Error);
  change = {};
  change.mask_bands = 81;
  EXPECT_THROW(change.Validate(40), Error);
}

TEST(ChangedMels, LeavesSpeechAloneWhereNothingIsToChange) {
  torch::manual_seed(1);
  const TorchMel mel(kStudentMels, torch::kCPU);
  const Tensor x = 0.1 * torch::randn({3, 16000}), noises = torch::randn({2, 8000});
  HeardChange none;
  none.warp = none.augmented = none.gain_db = 0.0;
  none.mask_frames = none.mask_bands = 0;
  EXPECT_LT((ChangedMels(mel, x, noises, none) - mel(x)).abs().max().item<double>(), 1e-4);
  HeardChange louder = none;
  louder.gain_db = 12.0;
  // A gain alone moves all bands of a recording alike.
  const Tensor moved = ChangedMels(mel, x, noises, louder) - mel(x);
  EXPECT_GT(moved.abs().max().item<double>(), 0.01);
  EXPECT_LT((moved - moved.mean(std::vector<std::int64_t>{1, 2}, true)).abs().max().item<double>(),
            1e-2);
}

TEST(DistillationLoss, IsNothingForTheSameAndForgetsTheMargin) {
  const Tensor a = torch::randn({2, 4, 30});
  EXPECT_NEAR(DistillationLoss(a, a, 5).item<double>(), 0.0, 1e-6);
  Tensor ends = a.clone();
  ends.narrow(2, 0, 5) += 3.0;
  ends.narrow(2, 25, 5) -= 3.0;
  EXPECT_NEAR(DistillationLoss(ends, a, 5).item<double>(), 0.0, 1e-6);
  EXPECT_GT(DistillationLoss(ends, a, 4).item<double>(), 0.01);
  // All values off by 2, each frame turned round: 2 − ½ and 1 − (−1).
  const Tensor one = torch::ones({1, 4, 30});
  EXPECT_NEAR(DistillationLoss(-one, one, 0).item<double>(), 1.5 + 2.0, 1e-5);
}

}  // namespace
}  // namespace sotto
