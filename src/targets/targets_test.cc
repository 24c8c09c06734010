#include "targets/targets.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace sotto {
namespace {

TargetDraws Draws(std::uint64_t seed, Strategy strategy, const std::string& context = {}) {
  return TargetDraws(Key::ForExperiment(ExperimentKey(seed)), strategy, "mcadams", context);
}

double Draw(const TargetDraws& draws, const std::string& speaker, const std::string& utterance) {
  return draws.Uniform("alpha", 0.5, 0.9, speaker, utterance);
}

TEST(TargetDraws, ConstPermAndRandomBehaveAsNamed) {
  const auto constant = Draws(1, Strategy::kConst);
  const auto perm = Draws(1, Strategy::kPerm);
  const auto random = Draws(1, Strategy::kRandom);
  std::set<double> of_all, of_speakers, of_utterances;
  for (const char* speaker : {"a", "b", "c"}) {
    for (const char* utterance : {"1", "2", "3"}) {
      const std::string id = std::string(speaker) + utterance;
      of_all.insert(Draw(constant, speaker, id));
      of_speakers.insert(Draw(perm, speaker, id));
      of_utterances.insert(Draw(random, speaker, id));
    }
  }
  EXPECT_EQ(of_all.size(), 1U);
  EXPECT_EQ(of_speakers.size(), 3U);
  EXPECT_EQ(of_utterances.size(), 9U);
}

TEST(TargetDraws, KeyContextMethodAndParameterAllMatter) {
  const double base = Draw(Draws(1, Strategy::kPerm), "a", "u");
  EXPECT_EQ(base, Draw(Draws(1, Strategy::kPerm), "a", "v"));
  EXPECT_NE(base, Draw(Draws(2, Strategy::kPerm), "a", "u"));
  EXPECT_NE(base, Draw(Draws(1, Strategy::kPerm, "release 2"), "a", "u"));
  EXPECT_NE(base, Draws(1, Strategy::kPerm).Uniform("pitch", 0.5, 0.9, "a", "u"));
  // A speaker and an utterance with one name do not share a draw.
  EXPECT_NE(base, Draw(Draws(1, Strategy::kRandom), "x", "a"));
}

TEST(Strategy, OnlyTheThreeNamesAreAllowed) {
  EXPECT_EQ(ParseStrategy("perm"), Strategy::kPerm);
  EXPECT_THROW(ParseStrategy("Perm"), Error);
}

TEST(TargetDraws, FillTheRangeEvenly) {
  const auto draws = Draws(2, Strategy::kPerm);
  int low = 0;
  for (int i = 0; i < 10000; ++i) {
    const double alpha = Draw(draws, std::to_string(i), "u");
    ASSERT_GE(alpha, 0.5);
    ASSERT_LT(alpha, 0.9);
    low += alpha < 0.6 ? 1 : 0;
  }
  EXPECT_NEAR(low, 2500, 220);  // five standard deviations
}

}  // namespace
}  // namespace sotto
