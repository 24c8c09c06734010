#include "targets/vtln.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "dsp/warp.h"
#include "targets/envelope_classes.h"

namespace sotto {
namespace {

// A voice whose classes are three formants each on a falling slope.
VoiceModel FormantVoice(std::uint64_t seed, const std::string& name) {
  SeededRng rng(seed);
  VoiceModel voice;
  voice.name = name;
  voice.log_f0_mean = std::log(120.0);
  voice.log_f0_deviation = 0.2;
  for (std::size_t k = 0; k < kVoiceClasses; ++k) {
    std::vector<float> feature(kEnvelopePoints);
    const double f1 = 300.0 + 600.0 * rng.Uniform(), f2 = 1000.0 + 1200.0 * rng.Uniform(),
                 f3 = 2400.0 + 800.0 * rng.Uniform();
    for (std::size_t i = 0; i < kEnvelopePoints; ++i) {
      const double hz = 31.25 * static_cast<double>(i);
      double power = 1e-4 * std::exp(-hz / 2000.0);
      for (const double f : {f1, f2, f3}) {
        power += std::exp(-hz / 1500.0) / (1.0 + std::pow((hz - f) / 80.0, 2.0));
      }
      feature[i] = static_cast<float>(std::log(power));
    }
    RemoveMean(feature);
    voice.centroids.insert(voice.centroids.end(), feature.begin(), feature.end());
  }
  return voice;
}

VoiceModel Warped(const VoiceModel& voice, double a) {
  VoiceModel warped = voice;
  const PowerSpectrumWarp warp(kEnvelopePoints, kWarpTopHz);
  for (std::size_t k = 0; k < kVoiceClasses; ++k) {
    const std::span<float> out =
        std::span(warped.centroids).subspan(k * kEnvelopePoints, kEnvelopePoints);
    warp.Apply(a, voice.Centroid(k), out);
    RemoveMean(out);
  }
  return warped;
}

TEST(WarpFactor, IsTheGridOfThePaper) {
  EXPECT_DOUBLE_EQ(WarpFactor(0), -0.12);
  EXPECT_DOUBLE_EQ(WarpFactor(6), 0.0);
  EXPECT_DOUBLE_EQ(WarpFactor(kWarpSteps - 1), 0.10);
}

TEST(FitClasses, RecoversEveryFactorOfTheGridAndTheClass) {
  const VoiceModel voice = FormantVoice(1, "v");
  for (std::size_t step = 0; step < kWarpSteps; ++step) {
    const ClassTargets targets = FitClasses(voice, Warped(voice, WarpFactor(step)));
    for (std::size_t k = 0; k < kVoiceClasses; ++k) {
      EXPECT_EQ(targets[k].step, step) << k;
      EXPECT_EQ(targets[k].target_class, k);
    }
  }
}

TEST(FitClasses, MapsWarpedSpeechBackWithTheInverseFactor) {
  const VoiceModel voice = FormantVoice(2, "v");
  for (std::size_t step = 1; step < kWarpSteps; ++step) {
    const double a = WarpFactor(step), inverse = -a / (1.0 - a);
    for (const ClassTarget& target : FitClasses(Warped(voice, a), voice)) {
      EXPECT_NEAR(WarpFactor(target.step), inverse, 0.02) << a;
    }
  }
}

TEST(EnvelopeFeature, DoesNotDependOnTheLevel) {
  std::vector<float> power(513, 2.0F), feature(kEnvelopePoints), louder_feature(kEnvelopePoints);
  for (std::size_t i = 0; i < power.size(); ++i) power[i] = 1.0F + static_cast<float>(i % 50);
  EnvelopeFeature(power, 8000.0, feature);
  for (float& p : power) p *= 1000.0F;
  EnvelopeFeature(power, 8000.0, louder_feature);
  for (std::size_t i = 0; i < feature.size(); ++i) EXPECT_NEAR(feature[i], louder_feature[i], 1e-4);
}

TEST(EnvelopeFeature, IsTheSameAtEveryRate) {
  const auto envelope = [](std::size_t bins, double top_hz) {
    std::vector<float> power(bins);
    for (std::size_t i = 0; i < bins; ++i) {
      const double hz = static_cast<double>(i) * top_hz / static_cast<double>(bins - 1);
      power[i] = static_cast<float>(2.0 + std::cos(hz / 500.0));
    }
    std::vector<float> feature(kEnvelopePoints);
    EnvelopeFeature(power, top_hz, feature);
    return feature;
  };
  const auto narrow = envelope(513, 8000.0), wide = envelope(2049, 24000.0);
  for (std::size_t i = 0; i < narrow.size(); ++i) EXPECT_NEAR(narrow[i], wide[i], 1e-3);
}

TEST(KMeans, FindsSeparateClustersAndAgreesWithBruteForceAssignment) {
  SeededRng rng(5);
  std::vector<float> rows;
  for (int i = 0; i < 400; ++i) {
    for (int d = 0; d < 4; ++d) {
      rows.push_back(static_cast<float>(10.0 * ((i % 4) == d) + rng.Gaussian()));
    }
  }
  const Clusters clusters = KMeans(rows, 4, 4);
  double inertia = 0.0;
  for (std::size_t i = 0; i < 400; ++i) {
    const std::span<const float> row = std::span(rows).subspan(4 * i, 4);
    EXPECT_EQ(clusters.labels[i], clusters.labels[i % 4]);
    const std::size_t nearest = NearestCentroid(clusters.centroids, row);
    EXPECT_EQ(static_cast<std::size_t>(clusters.labels[i]), nearest);
    inertia += SquaredDistance(row, std::span(clusters.centroids).subspan(4 * nearest, 4));
  }
  EXPECT_NEAR(clusters.inertia, inertia, 1e-2);
  EXPECT_EQ(KMeans(rows, 4, 4).centroids, clusters.centroids);
  EXPECT_THROW(KMeans(std::span(rows).first(12), 4, 4), Error);
}

TEST(KMeans, SurvivesRowsThatAreAllTheSame) {
  const std::vector<float> rows(40, 1.5F);
  const Clusters clusters = KMeans(rows, 4, 3);
  for (const float value : clusters.centroids) EXPECT_EQ(value, 1.5F);
}

TEST(SmoothFactors, AveragesOverNeighboursAndKeepsConstants) {
  const std::vector<double> constant(9, 0.1);
  for (const double f : SmoothFactors(constant, 3)) EXPECT_NEAR(f, 0.1, 1e-15);
  const std::vector<double> step = {0.0, 0.0, 0.0, 0.3, 0.3, 0.3};
  const auto smooth = SmoothFactors(step, 1);
  EXPECT_NEAR(smooth[2], 0.1, 1e-15);
  EXPECT_NEAR(smooth[3], 0.2, 1e-15);
}

VoicePool TwoVoices() {
  VoicePool pool;
  pool.voices = {FormantVoice(1, "p1"), FormantVoice(2, "p2")};
  pool.voices[0].gender = Gender::kFemale;
  return pool;
}

TEST(Pool, ComesBackFromItsFile) {
  const VoicePool pool = TwoVoices();
  const std::string bytes = SerialisePool(pool);
  const VoicePool again = ParsePool(bytes, "pool");
  ASSERT_EQ(again.voices.size(), 2U);
  EXPECT_EQ(again.voices[0].name, "p1");
  EXPECT_EQ(again.voices[0].gender, Gender::kFemale);
  EXPECT_EQ(again.voices[1].gender, Gender::kUnknown);
  EXPECT_NEAR(again.voices[1].log_f0_mean, pool.voices[1].log_f0_mean, 1e-6);
  EXPECT_EQ(again.voices[1].centroids, pool.voices[1].centroids);
  EXPECT_EQ(SerialisePool(again), bytes);
}

TEST(Profile, ComesBackFromItsFile) {
  const VoicePool pool = ParsePool(SerialisePool(TwoVoices()), "pool");
  const VoiceProfile profile = FitProfile({FormantVoice(7, "me")}, pool);
  const std::string bytes = SerialiseProfile(profile);
  const VoiceProfile again = ParseProfile(bytes, "profile");
  EXPECT_EQ(again.pool_checksum, pool.checksum);
  EXPECT_EQ(again.targets, profile.targets);
  EXPECT_EQ(SerialiseProfile(again), bytes);
  EXPECT_THROW(ParsePool(bytes, "profile"), Error);
}

TEST(Pool, EveryDamagedByteAndEveryShorterFileIsRefused) {
  const std::string bytes = SerialisePool(TwoVoices());
  for (std::size_t i = 0; i < bytes.size(); i += 97) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THROW(ParsePool(damaged, "pool"), Error) << i;
    EXPECT_THROW(ParsePool(bytes.substr(0, i), "pool"), Error) << i;
  }
  EXPECT_THROW(ParsePool(bytes + "x", "pool"), Error);
}

TEST(Pool, ValuesThatNoVoiceHasAreRefusedEvenWithARightChecksum) {
  for (int what = 0; what < 5; ++what) {
    VoicePool pool = TwoVoices();
    if (what == 0) pool.voices[0].log_f0_mean = std::nan("");
    if (what == 1) pool.voices[1].log_f0_deviation = 0.0;
    if (what == 2) pool.voices[1].centroids[5] = INFINITY;
    if (what == 3) pool.voices[1].name = pool.voices[0].name;
    if (what == 4) pool.voices.clear();
    EXPECT_THROW(ParsePool(SerialisePool(pool), "pool"), Error) << what;
  }
}

}  // namespace
}  // namespace sotto
