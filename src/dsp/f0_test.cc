#include "dsp/f0.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dsp/vocoder_testing.h"

namespace sotto {
namespace {

using testing::Pulses;
using testing::Tract;
using testing::Voice;
using testing::WhiteNoise;

double VoicedShare(const std::vector<double>& f0) {
  const auto voiced = std::count_if(f0.begin(), f0.end(), [](double hz) { return hz > 0.0; });
  return static_cast<double>(voiced) / static_cast<double>(f0.size());
}

class BothMethods : public ::testing::TestWithParam<F0Method> {
 protected:
  F0Options Options() const {
    F0Options options;
    options.method = GetParam();
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(F0, BothMethods, ::testing::Values(F0Method::kFast, F0Method::kRobust),
                         [](const auto& method) {
                           return method.param == F0Method::kFast ? "Fast" : "Robust";
                         });

TEST_P(BothMethods, FindPulseTrainsWithinOnePercentAtEveryRate) {
  for (const int rate : {16000, 22050, 44100, 48000}) {
    for (const double f0 : {75.0, 110.0, 187.3, 260.0, 420.0, 700.0}) {
      const auto track = EstimateF0(Pulses(0.6, rate, f0), rate, Options());
      ASSERT_EQ(track.size(), 121U);
      for (std::size_t t = 20; t < 100; ++t)
        EXPECT_NEAR(track[t] / f0, 1.0, 0.01) << rate << " " << f0 << " " << t;
    }
  }
}

TEST_P(BothMethods, FollowAGlideWithinOnePercent) {
  // An octave and a half in two seconds, through a vowel.
  const auto f0_at = [](double s) { return 90.0 * std::exp2(0.75 * s); };
  const Tract tract;
  const auto x = Voice(2.0, 16000, f0_at, [&](double hz) { return tract.Magnitude(hz); });
  const auto track = EstimateF0(x, 16000, Options());
  for (std::size_t t = 10; t + 10 < track.size(); ++t) {
    EXPECT_NEAR(track[t] / f0_at(0.005 * static_cast<double>(t)), 1.0, 0.01) << t;
  }
}

TEST_P(BothMethods, CallSilenceAndOffsetsUnvoiced) {
  EXPECT_EQ(VoicedShare(EstimateF0(std::vector<float>(16000, 0.0F), 16000, Options())), 0.0);
  const auto track = EstimateF0(std::vector<float>(16000, 0.5F), 16000, Options());
  // The step at either end is a transient, no voice.
  for (std::size_t t = 30; t < 170; ++t) EXPECT_EQ(track[t], 0.0) << t;
}

TEST_P(BothMethods, CallMostWhiteNoiseUnvoiced) {
  EXPECT_LT(VoicedShare(EstimateF0(WhiteNoise(160000), 16000, Options())),
            GetParam() == F0Method::kFast ? 0.1 : 0.15);
}

TEST_P(BothMethods, TakeSignalsOfAnyLength) {
  for (const std::size_t n : {0U, 1U, 2U, 79U, 80U, 81U, 500U, 1601U}) {
    const auto track = EstimateF0(WhiteNoise(n), 16000, Options());
    EXPECT_EQ(track.size(), n / 80 + 1);
    for (const double hz : track) EXPECT_TRUE(std::isfinite(hz));
  }
}

TEST_P(BothMethods, IgnoreLevelAndOffset) {
  auto x = Pulses(0.5, 16000, 130.0);
  const auto track = EstimateF0(x, 16000, Options());
  for (float& v : x) v = 0.001F * v + 0.2F;
  const auto quiet = EstimateF0(x, 16000, Options());
  for (std::size_t t = 20; t < 80; ++t) EXPECT_NEAR(quiet[t] / track[t], 1.0, 0.002) << t;
}

TEST_P(BothMethods, RefuseAPieceThatStartsBetweenTheLowSamples) {
  EXPECT_THROW(EstimateF0(WhiteNoise(1000), 16000, Options(), 3, 0, 1), Error);
}

// Creak: a low voice whose pulses are irregular in time and strength.
TEST(RobustF0, FindsIrregularPulses) {
  SeededRng rng(3);
  std::vector<float> x(32000, 0.0F);
  double at = 0.0;
  for (int k = 0; at < 31000.0; ++k) {
    // Periods of 12.5 ms with 2 % of jitter and 20 % of shimmer.
    for (std::size_t n = 0; n < 400; ++n) {
      const auto i = static_cast<std::size_t>(at) + n;
      const double decay = std::exp(-static_cast<double>(n) / 40.0);
      if (i < x.size())
        x[i] += static_cast<float>(0.3 * decay * std::sin(0.25 * static_cast<double>(n)) *
                                   (k % 2 == 0 ? 1.0 : 0.8));
    }
    at += 200.0 * (1.0 + 0.02 * rng.Gaussian());
  }
  F0Options options;
  options.method = F0Method::kRobust;
  const auto track = EstimateF0(x, 16000, options);
  std::size_t right = 0;
  for (std::size_t t = 20; t < 380; ++t) right += std::abs(track[t] - 80.0) < 8.0 ? 1U : 0U;
  EXPECT_GT(right, 324U);  // 90 %
}

TEST(RobustF0, ErrsLessThanTheFastMethodInNoise) {
  const auto f0_at = [](double s) { return 140.0 + 30.0 * std::sin(3.0 * s); };
  const Tract tract;
  auto x = Voice(4.0, 16000, f0_at, [&](double hz) { return tract.Magnitude(hz); });
  double power = 0.0;
  for (const float v : x) power += static_cast<double>(v) * v;
  const auto noise =
      WhiteNoise(x.size(), std::sqrt(power / static_cast<double>(x.size())));  // 0 dB
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += noise[i];
  const auto wrong = [&](F0Method method) {
    F0Options options;
    options.method = method;
    const auto track = EstimateF0(x, 16000, options);
    std::size_t count = 0;
    for (std::size_t t = 20; t < 780; ++t) {
      count += std::abs(track[t] / f0_at(0.005 * static_cast<double>(t)) - 1.0) > 0.2 ? 1U : 0U;
    }
    return count;
  };
  const std::size_t fast = wrong(F0Method::kFast), robust = wrong(F0Method::kRobust);
  EXPECT_LT(robust, 76U);  // 10 % of the frames
  EXPECT_LE(robust, fast);
}

}  // namespace
}  // namespace sotto
