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

TEST(PeakHolder, TakesTheSmallerGainAndLosesToPeaksAlone) {
  PeakHolder free(100, 1.0), capped(100, 1.0), below(100, 1.0);
  const std::vector<double> block(100, 2.0);
  for (int b = 0; b < 200; ++b) {
    free.Process(block);
    for (const double y : capped.Process(block, 0.75)) EXPECT_NEAR(y, 1.0, 1e-12);
    for (const double y : below.Process(block, 0.25)) EXPECT_NEAR(y, 0.5, 1e-12);
  }
  EXPECT_NEAR(free.LostGain(), 2.0, 1e-9);
  EXPECT_NEAR(capped.LostGain(), 1.5, 1e-9);
  EXPECT_EQ(below.LostGain(), 1.0);
}

TEST(PeakHolder, MakesNoStepWhereTheGainThatIsAllowedDoes) {
  PeakHolder holder(100, 1.0);
  const std::vector<double> block(100, 0.5);
  double before = 0.5;
  for (int b = 0; b < 60; ++b) {
    for (const double y : holder.Process(block, b % 10 < 5 ? 1.0 : 0.0)) {
      EXPECT_LE(std::abs(y - before), 0.5 / 100 + 1e-12);
      before = y;
    }
  }
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

double Energy(const std::vector<double>& block) {
  double sum = 0.0;
  for (const double x : block) sum += x * x;
  return sum;
}

TEST(LevelCap, SilencesWhatStandsInSilenceAndPassesWhatIsBelowTheInput) {
  SeededRng rng(4);
  LevelCap cap(2, 3.0);
  PeakHolder holder(100, 9.0);
  std::vector<std::vector<double>> made, out;
  std::vector<double> energies;
  for (std::size_t b = 0; b < 62; ++b) {
    const double in_scale = b < 20 || b >= 40 ? 0.0 : 1.0;
    const double out_scale = b == 30 ? 4.0 : 0.8;
    std::vector<double> input(100), block(100);
    for (double& x : input) x = in_scale * rng.Gaussian();
    for (double& x : block) x = out_scale * std::clamp(rng.Gaussian(), -2.0, 2.0);
    energies.push_back(Energy(input));
    cap.Push(energies.back());
    made.push_back(block);
    EXPECT_EQ(cap.Ready(), b >= 2);  // the input is ahead
    if (!cap.Ready()) continue;
    const std::vector<double>& next = made[b - 2];
    const auto finished = holder.Process(next, cap.Next(next));
    if (b > 2) out.emplace_back(finished.begin(), finished.end());
  }
  for (std::size_t b = 0; b < out.size(); ++b) {
    const auto around = energies.begin() + static_cast<std::ptrdiff_t>(b);
    const double loudest = *std::max_element(around - std::min<std::ptrdiff_t>(2, b), around + 3);
    EXPECT_LE(Energy(out[b]), 1.9953 * loudest) << b;
    if ((b >= 22 && b < 29) || b == 33) {
      EXPECT_EQ(out[b], made[b]) << b;
    }
  }
  EXPECT_EQ(holder.LostGain(), 1.0);  // no peak was held
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

TEST(SpeechShare, TheSilenceBehindARecordingIsNotItsFloor) {
  SpeechShare share(150, 150);
  for (int b = 0; b < 240; ++b) share.Push(b % 60 < 40 ? 1.0 : 1e-3);  // ends with noise
  share.Finish();
  for (int b = 0; b < 5; ++b) share.Push(0.0);
  for (int b = 0; share.Ready(); ++b) {
    const double factor = share.Next();
    if (b > 225 && b < 239) {
      EXPECT_LT(factor, 0.1) << b;
    }
    if (b >= 241) {
      EXPECT_EQ(factor, 0.0) << b;
    }
  }
}

// Made noise for an input of buzzes and silence, which comes in pieces with the input ahead.
std::vector<float> Levelled(const std::vector<float>& x, std::size_t step, std::size_t ahead) {
  SeededRng rng(6);
  VoiceLevel level({0.2, 0, 1});
  std::vector<float> out;
  std::size_t made = 0;
  for (std::size_t at = 0; at < x.size(); at += step) {
    const std::size_t count = std::min(step, x.size() - at);
    level.TakeInput(std::span(x).subspan(at, count));
    for (; made + ahead < at + count; ++made) {
      level.Sound().push_back(static_cast<float>(0.3 * rng.Gaussian()));
    }
    level.Deliver(out);
  }
  for (; made < x.size(); ++made) {
    level.Sound().push_back(static_cast<float>(0.3 * rng.Gaussian()));
  }
  level.Finish(out);
  return out;
}

TEST(VoiceLevel, HoldsEveryHopWhateverThePieces) {
  SeededRng rng(5);
  std::vector<float> x(32077);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 8000 < 5000) x[i] = static_cast<float>(0.1 * rng.Gaussian());
  }
  const std::vector<float> y = Levelled(x, 160, 1680);
  ASSERT_EQ(y.size(), x.size());
  for (const std::size_t step : {std::size_t{1}, std::size_t{333}, x.size()}) {
    EXPECT_EQ(Levelled(x, step, 1680), y) << step;
  }
  EXPECT_EQ(Levelled(x, 160, 0), y);
  for (const float v : y) ASSERT_LE(std::abs(v), 0.2F);
  const auto energy = [](const std::vector<float>& v, std::size_t hop) {
    double sum = 0.0;
    for (std::size_t i = 160 * hop; i < 160 * (hop + 1); ++i) sum += double{v[i]} * v[i];
    return sum;
  };
  double loud = 0.0;
  for (std::size_t h = 1; h + 2 < x.size() / 160; ++h) {
    const double around = std::max({energy(x, h - 1), energy(x, h), energy(x, h + 1)});
    EXPECT_LE(energy(y, h), 3.982 * around) << h;  // 6 dB; nothing where it is silent
    loud = std::max(loud, energy(y, h));
  }
  EXPECT_GT(loud, 0.5);
}

}  // namespace
}  // namespace sotto
