#include "targets/pitch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"

namespace sotto {
namespace {

TargetDraws Draws(std::uint64_t seed, Strategy strategy) {
  return TargetDraws(Key::ForExperiment(ExperimentKey(seed)), strategy, "vtln");
}

VoiceModel Voice(const std::string& name, Gender gender, double f0_hz, double deviation = 0.2) {
  VoiceModel voice;
  voice.name = name;
  voice.gender = gender;
  voice.log_f0_mean = std::log(f0_hz);
  voice.log_f0_deviation = deviation;
  return voice;
}

VoicePool FourVoices() {
  VoicePool pool;
  pool.voices = {Voice("a", Gender::kFemale, 200), Voice("b", Gender::kMale, 110),
                 Voice("c", Gender::kFemale, 220), Voice("d", Gender::kMale, 120)};
  return pool;
}

TEST(PitchToTarget, GivesTheMeanAndTheDeviationOfTheTarget) {
  const VoiceModel source = Voice("s", Gender::kMale, 100.0, 0.2);
  const VoiceModel target = Voice("t", Gender::kFemale, 210.0, 0.3);
  const PitchMap map = PitchToTarget(source, target);
  EXPECT_NEAR(map.Map(100.0), 210.0, 1e-9);
  EXPECT_NEAR(map.Map(100.0 * std::exp(0.2)), 210.0 * std::exp(0.3), 1e-9);
  std::vector<double> track = {0.0, 100.0, 0.0};
  map.Apply(track);
  EXPECT_EQ(track[0], 0.0);
  EXPECT_NEAR(track[1], 210.0, 1e-9);
}

TEST(PitchToTarget, KeepsWithinWhatAVoiceCanDo) {
  const PitchMap map =
      PitchToTarget(Voice("s", Gender::kMale, 100.0, 0.001), Voice("t", Gender::kMale, 120.0, 0.4));
  EXPECT_EQ(map.slope, 2.0);
  EXPECT_EQ(map.Map(790.0), 800.0);
  EXPECT_EQ(map.Map(30.0), 50.0);
}

TEST(DrawPitch, StaysWithinFourSemitonesAndDiffersBySpeaker) {
  const auto draws = Draws(1, Strategy::kPerm);
  std::set<double> seen;
  for (int i = 0; i < 500; ++i) {
    const PitchMap map = DrawPitch(draws, std::to_string(i), "u");
    EXPECT_EQ(map.slope, 1.0);
    const double semitones = 12.0 * std::log2(map.Map(200.0) / 200.0);
    EXPECT_LE(std::abs(semitones), 4.0 + 1e-9);
    seen.insert(map.offset);
  }
  EXPECT_EQ(seen.size(), 500U);
}

TEST(DrawTarget, FollowsTheGenderRule) {
  const VoicePool pool = FourVoices();
  const auto draws = Draws(1, Strategy::kPerm);
  std::set<std::size_t> same, other, any;
  for (int i = 0; i < 200; ++i) {
    const std::string s = std::to_string(i);
    same.insert(DrawTarget(draws, pool, TargetGender::kSame, Gender::kFemale, s, "u"));
    other.insert(DrawTarget(draws, pool, TargetGender::kOther, Gender::kFemale, s, "u"));
    any.insert(DrawTarget(draws, pool, TargetGender::kRandom, Gender::kUnknown, s, "u"));
  }
  EXPECT_EQ(same, (std::set<std::size_t>{0, 2}));
  EXPECT_EQ(other, (std::set<std::size_t>{1, 3}));
  EXPECT_EQ(any.size(), 4U);
  EXPECT_THROW(DrawTarget(draws, pool, TargetGender::kSame, Gender::kUnknown, "s", "u"), Error);
  VoicePool women;
  women.voices = {pool.voices[0]};
  EXPECT_THROW(DrawTarget(draws, women, TargetGender::kOther, Gender::kFemale, "s", "u"), Error);
}

TEST(DrawTarget, WithTheRandomRuleDoesNotDependOnTheSourceButItsName) {
  const VoicePool pool = FourVoices();
  const auto draws = Draws(2, Strategy::kPerm);
  for (int i = 0; i < 20; ++i) {
    const std::string s = std::to_string(i);
    EXPECT_EQ(DrawTarget(draws, pool, TargetGender::kRandom, Gender::kFemale, s, "u"),
              DrawTarget(draws, pool, TargetGender::kRandom, Gender::kMale, s, "v"));
  }
}

TEST(GuessGender, ChoosesTheNearerMeanAndUnknownWithoutLabels) {
  EXPECT_EQ(GuessGender(std::log(115.0), FourVoices().voices), Gender::kMale);
  EXPECT_EQ(GuessGender(std::log(190.0), FourVoices().voices), Gender::kFemale);
  VoicePool unlabelled;
  unlabelled.voices = {Voice("x", Gender::kUnknown, 100.0)};
  EXPECT_EQ(GuessGender(std::log(190.0), unlabelled.voices), Gender::kUnknown);
}

TEST(PitchNames, OnlyTheListedOnesAreAllowed) {
  EXPECT_EQ(ParsePitchMode("target"), PitchMode::kTarget);
  EXPECT_THROW(ParsePitchMode("up"), Error);
}

}  // namespace
}  // namespace sotto
