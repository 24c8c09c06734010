#include "voice/level_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace sotto {
namespace {

TEST(PeakHolder, NothingExceedsTheLimitAndQuietBlocksPassUnchanged) {
  SeededRng rng(2);
  PeakHolder holder(100, 1.0);
  std::vector<std::vector<double>> in, out;
  for (int b = 0; b < 50; ++b) {
    std::vector<double> block(100);
    const double scale = b % 10 == 5 ? 3.0 : 0.2;
    for (double& x : block) x = scale * std::clamp(rng.Gaussian(), -1.0, 1.0);
    in.push_back(block);
    const auto finished = holder.Process(block);
    if (b == 0) {
      EXPECT_TRUE(finished.empty());
    } else {
      out.emplace_back(finished.begin(), finished.end());
    }
  }
  for (std::size_t b = 0; b < out.size(); ++b) {
    for (const double y : out[b]) EXPECT_LE(std::abs(y), 1.0 + 1e-12);
    const bool near_loud = b % 10 >= 4 && b % 10 <= 6;
    if (!near_loud) {
      EXPECT_EQ(out[b], in[b]);
    }
  }
  EXPECT_GE(holder.LostGain(), 1.0);
}

TEST(LoudnessKeeper, BringsBackTheInputsLevelAndIsTheIdentityOnEqualBlocks) {
  SeededRng rng(3);
  LoudnessKeeper same, halved;
  double in_energy = 0.0, out_energy = 0.0;
  for (int b = 0; b < 200; ++b) {
    std::vector<double> block(100);
    for (double& x : block) x = rng.Gaussian();
    auto copy = block;
    same.Process(block, copy, 1.0);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(copy[i], block[i], 1e-12);
    auto quiet = block;
    for (double& x : quiet) x *= 0.5;
    halved.Process(block, quiet, 1.0);
    if (b < 5) continue;
    for (std::size_t i = 0; i < 100; ++i) {
      in_energy += block[i] * block[i];
      out_energy += quiet[i] * quiet[i];
    }
  }
  EXPECT_NEAR(out_energy / in_energy, 1.0, 1e-3);
}

TEST(LevelCap, SilencesWhatStandsInSilenceAndPassesWhatIsBelowTheInput) {
  SeededRng rng(4);
  LevelCap cap(100, 2, 3.0);
  std::vector<std::vector<double>> made, out;
  for (int b = 0; b < 60; ++b) {
    const double in_scale = b < 20 || b >= 40 ? 0.0 : 1.0;
    const double out_scale = b == 30 ? 4.0 : 0.8;
    std::vector<double> input(100), block(100);
    for (double& x : input) x = in_scale * rng.Gaussian();
    for (double& x : block) x = out_scale * rng.Gaussian();
    made.push_back(block);
    const auto finished = cap.Process(input, block);
    EXPECT_EQ(finished.empty(), b < static_cast<int>(cap.DelayBlocks()));
    if (!finished.empty()) out.emplace_back(finished.begin(), finished.end());
  }
  const auto energy = [](const std::vector<double>& block) {
    double sum = 0.0;
    for (const double x : block) sum += x * x;
    return sum;
  };
  for (std::size_t b = 0; b < out.size(); ++b) {
    if (b < 18 || b >= 42) {
      EXPECT_EQ(energy(out[b]), 0.0) << b;
    } else if (b >= 20 && b < 29) {
      EXPECT_EQ(out[b], made[b]) << b;
    }
  }
  EXPECT_LT(energy(out[30]), 2.0 * 100 * 2);  // the input's loudest block has about 100
  EXPECT_EQ(out[33], made[33]);
}

// Words of energy 1 with pauses whose noise has the given energy.
std::vector<double> Shares(double noise, std::size_t behind) {
  SpeechShare share(150, behind);
  std::vector<double> factors;
  for (int b = 0; b < 600; ++b) share.Push(b % 60 < 40 ? 1.0 : noise);
  share.Finish();
  while (share.Ready()) factors.push_back(share.Next());
  return factors;
}

TEST(SpeechShare, LeavesSpeechAndTakesTheNoiseBetweenWhateverItsLevel) {
  for (const std::size_t behind : {std::size_t{0}, std::size_t{150}}) {
    for (const double noise : {1e-5, 1e-3, 1e-2}) {
      const std::vector<double> factors = Shares(noise, behind);
      ASSERT_EQ(factors.size(), 600u);
      for (std::size_t b = 120; b < 600; ++b) {  // a stream has heard a pause by then
        if (b % 60 > 2 && b % 60 < 38) {
          EXPECT_GT(factors[b], 0.95) << b;
        }
        if (b % 60 > 46 && b % 60 < 58) {
          EXPECT_LT(factors[b] * std::sqrt(noise), 0.01) << b;
        }
      }
    }
  }
}

TEST(SpeechShare, ASteadySoundIsNotItsOwnNoise) {
  SpeechShare share(150, 150);
  for (int b = 0; b < 400; ++b) share.Push(0.5);
  share.Finish();
  while (share.Ready()) EXPECT_GT(share.Next(), 0.95);
  SpeechShare silence(150, 150);
  for (int b = 0; b < 10; ++b) silence.Push(0.0);
  silence.Finish();
  while (silence.Ready()) EXPECT_EQ(silence.Next(), 0.0);
}

}  // namespace
}  // namespace sotto
