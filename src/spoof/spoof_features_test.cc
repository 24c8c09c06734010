#include "spoof/spoof_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "audio/testing.h"
#include "base/error.h"
#include "base/random.h"
#include "dsp/level.h"

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;

std::string ErrorOf(const std::vector<float>& x) {
  try {
    SpoofFeatures(x);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<float> Speech(double seconds) {
  return testing::SyntheticVowel(seconds, kSpoofRateHz, 120.0, {700, 1220, 2600}, false);
}

// The method card once more, slowly and in double precision, for one frame.
std::vector<double> SlowLfcc(const std::vector<float>& x, std::size_t t) {
  std::vector<double> energies(70), cepstra(30);
  for (int k = 0; k <= 256; ++k) {
    std::complex<double> sum = 0.0;
    for (int i = 0; i < 480; ++i) {
      const double window = 0.54 - 0.46 * std::cos(2.0 * kPi * i / 479.0);
      sum += 0.25 * x[240 * t + static_cast<std::size_t>(i)] * window *
             std::polar(1.0, -2.0 * kPi * k * i / 512.0);
    }
    for (int b = 0; b < 70; ++b) {
      const double weight = 1.0 - std::abs(k * 31.25 - (b + 1) * 8000.0 / 71) / (8000.0 / 71);
      energies[static_cast<std::size_t>(b)] += std::max(weight, 0.0) * std::norm(sum);
    }
  }
  for (int c = 0; c < 30; ++c) {
    for (int b = 0; b < 70; ++b) {
      cepstra[static_cast<std::size_t>(c)] +=
          std::log(std::max(energies[static_cast<std::size_t>(b)], std::ldexp(1.0, -23))) *
          std::cos(kPi / 70.0 * (b + 0.5) * c) * std::sqrt((c == 0 ? 1.0 : 2.0) / 70.0);
    }
  }
  return cepstra;
}

TEST(SpoofFeatures, EqualTheDefinitionFrameByFrame) {
  SeededRng rng(1);
  std::vector<float> x(kSpoofSamples);
  double low = 0.0;
  for (float& v : x) v = static_cast<float>(0.02 * (low = 0.9 * low + rng.Gaussian()));
  const std::vector<float> fast = SpoofLfcc(x);
  ASSERT_EQ(fast.size(), 2970U);
  for (const std::size_t t : {0U, 17U, 98U}) {
    const std::vector<double> slow = SlowLfcc(x, t);
    for (std::size_t c = 0; c < 30; ++c) EXPECT_NEAR(fast[30 * t + c], slow[c], 1e-3) << t << c;
  }
}

TEST(SpoofFeatures, LoudnessAndLeadingSilenceChangeNothing) {
  const std::vector<float> x = Speech(2.0);
  std::vector<float> quiet(16000, 0.0F);  // a second of silence, then a twentieth of the level
  for (const float v : x) quiet.push_back(0.05F * v);
  const std::vector<float> once = SpoofFeatures(x), again = SpoofFeatures(quiet);
  for (std::size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(once[i], again[i], 2e-2) << i;
}

TEST(SpoofFeatures, WhatIsHeardBeginsWithSpeechAtOneLevel) {
  std::vector<float> x = Speech(3.0);
  for (std::size_t i = 0; i < 16000; ++i) x[i] *= 0.02F;  // a soft beginning
  const std::vector<float> heard = PrepareSpeech(x);
  ASSERT_EQ(heard.size(), kSpoofSamples);
  EXPECT_NEAR(ActiveSpeechLevel(heard, kSpoofRateHz).active_db, -26.0, 0.01);
  EXPECT_EQ(FindSpeech(heard).begin, 0U);
}

TEST(SpoofFeatures, SpeechIsFoundBetweenSilences) {
  std::vector<float> x(32000);
  for (std::size_t i = 8000; i < 24000; ++i) {
    x[i] = static_cast<float>(0.1 * std::sin(2.0 * kPi * 440.0 * static_cast<double>(i) / 16000));
  }
  const SpeechStretch stretch = FindSpeech(x);
  EXPECT_EQ(stretch.begin, 8000U);
  EXPECT_EQ(stretch.end, 24000U);
}

TEST(SpoofFeatures, ShortSpeechIsRepeated) {
  const std::vector<float> heard = PrepareSpeech(Speech(0.6));
  for (std::size_t i = 9600; i < heard.size(); ++i) ASSERT_EQ(heard[i], heard[i - 9600]);
  const std::vector<float> shorter = PrepareSpeech(Speech(3.0), 12000);
  for (std::size_t i = 12000; i < shorter.size(); ++i) ASSERT_EQ(shorter[i], shorter[i - 12000]);
}

TEST(SpoofFeatures, BadInputIsRefusedWithItsReason) {
  std::vector<float> x = Speech(1.0);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ErrorOf({}), "no samples");
  EXPECT_EQ(ErrorOf(std::vector<float>(16000, 0.0F)), "silent: no sample differs from 0");
  EXPECT_EQ(ErrorOf(x), "a sample is not a finite number");
  EXPECT_EQ(ErrorOf(std::vector<float>(479, 0.1F)), "less than a frame (30 ms) of speech");
  EXPECT_EQ(ErrorOf(std::vector<float>(480, 0.1F)), "");
  EXPECT_THROW(SpoofLfcc(std::vector<float>(480, 0.1F)), Error);
}

}  // namespace
}  // namespace sotto
