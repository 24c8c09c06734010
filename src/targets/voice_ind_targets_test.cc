#include "targets/voice_ind_targets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "speaker/voice_indistinguishability.h"

namespace sotto {
namespace {

// Voices on a circle, women and men by turns.
SpeakerPool Circle(int n) {
  SpeakerPool pool;
  for (int i = 0; i < n; ++i) {
    SpeakerVoice voice;
    voice.name = std::to_string(i);  // "10" comes before "2" in order of name
    voice.gender = i % 2 == 0 ? Gender::kFemale : Gender::kMale;
    const double angle = 2.0 * M_PI * i / n;
    voice.embedding = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    pool.voices.push_back(std::move(voice));
  }
  return pool;
}

TargetDraws Draws(Strategy strategy, std::uint64_t seed = 1) {
  return {Key::ForExperiment(ExperimentKey(seed)), strategy, "neural"};
}

TEST(VoiceIndTargets, ALargeEpsilonTakesTheNearestVoiceOfTheGender) {
  const SpeakerPool pool = Circle(12);
  const VoiceIndTargets targets(pool, 1e5);
  for (std::size_t i = 0; i < pool.voices.size(); ++i) {
    std::vector<float> near = pool.voices[i].embedding;
    near[0] += 0.010F;  // no voice itself, which would be refused
    near[1] -= 0.013F;
    EXPECT_EQ(targets.Draw(Draws(Strategy::kPerm), pool.voices[i].gender, "s", "u", near), i);
  }
}

TEST(VoiceIndTargets, PermDrawsBySpeakerRandomByUtteranceAndConstIsRefused) {
  const VoiceIndTargets targets(Circle(40), 0.5);
  const std::vector<float> x = {1.0F, 0.3F};
  const auto draw = [&](Strategy strategy, const char* speaker, const char* utterance,
                        std::uint64_t seed = 1) {
    return targets.Draw(Draws(strategy, seed), Gender::kFemale, speaker, utterance, x);
  };
  int speakers = 0, utterances = 0, keys = 0;
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    EXPECT_EQ(draw(Strategy::kPerm, "s", id), draw(Strategy::kPerm, "s", "u"));
    EXPECT_EQ(draw(Strategy::kRandom, id, "u"), draw(Strategy::kRandom, "s", "u"));
    EXPECT_EQ(draw(Strategy::kRandom, "s", id) % 2, 0U);  // a woman's
    speakers += draw(Strategy::kPerm, id, "u") != draw(Strategy::kPerm, "s", "u") ? 1 : 0;
    utterances += draw(Strategy::kRandom, "s", id) != draw(Strategy::kRandom, "s", "u") ? 1 : 0;
    keys += draw(Strategy::kRandom, "s", id, 2) != draw(Strategy::kRandom, "s", id) ? 1 : 0;
  }
  EXPECT_GE(speakers, 3);
  EXPECT_GE(utterances, 3);
  EXPECT_GE(keys, 3);
  EXPECT_THROW(draw(Strategy::kConst, "s", "u"), Error);
}

// Otherwise two sources under one randomness would tell more than two draws may.
TEST(VoiceIndTargets, DrawsAfterPausesAreIndependentWhateverTheUtterancesAreCalled) {
  const VoiceIndTargets targets(Circle(80), 0.5);
  const std::vector<float> x = {1.0F, 0.3F};
  std::set<std::size_t> drawn;
  int alike = 0;
  for (std::size_t pause = 1; pause <= 20; ++pause) {
    const TargetDraws draws = Draws(Strategy::kRandom);
    const std::size_t own = targets.Draw(draws, Gender::kFemale, "s", "u", x, pause);
    const std::string name = "u after pause " + std::to_string(pause);
    alike += own == targets.Draw(draws, Gender::kFemale, "s", name, x) ? 1 : 0;
    EXPECT_EQ(own, targets.Draw(draws, Gender::kFemale, "s", "u", x, pause));
    drawn.insert(own);
  }
  EXPECT_LE(alike, 5);  // of 40 voices
  EXPECT_GE(drawn.size(), 8U);
  const TargetDraws perm = Draws(Strategy::kPerm);
  EXPECT_EQ(targets.Draw(perm, Gender::kFemale, "s", "u", x, 3),
            targets.Draw(perm, Gender::kFemale, "s", "u", x));
}

// Tries to refute the bound: how often each voice is drawn for two sources.
TEST(VoiceIndTargets, NoVoiceTellsTwoSourcesApartByMoreThanEpsilonTimesTheirDistance) {
  const SpeakerPool pool = Circle(8);
  const double eps = 3.0;
  const VoiceIndTargets targets(pool, eps);
  Eigen::MatrixXf sources(2, 2);
  sources << 1.0F, -0.2F, 0.1F, 1.0F;
  const double d = AngularDistances(sources.col(0), sources.col(1))(0, 0);
  constexpr int kDraws = 4000;
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(8, 2);
  for (Eigen::Index s = 0; s < 2; ++s) {
    const std::vector<float> x = {sources(0, s), sources(1, s)};
    for (int i = 0; i < kDraws; ++i) {
      counts(static_cast<Eigen::Index>(targets.Draw(Draws(Strategy::kRandom), Gender::kFemale, "s",
                                                    std::to_string(i), x)),
             s) += 1.0;
    }
  }
  double largest = 0.0;
  for (Eigen::Index v = 0; v < 8; v += 2) {
    ASSERT_GT(counts.row(v).minCoeff(), 100.0);
    largest = std::max(largest, std::abs(std::log(counts(v, 0) / counts(v, 1))));
  }
  EXPECT_LT(largest, eps * d + 0.2);  // deviation of a log ratio of such counts: about 0.06
  EXPECT_GT(largest, 0.2 * eps * d);  // the draw does look at the source
}

TEST(VoiceIndTargets, DrawsCostEpsilonEach) {
  EXPECT_EQ(VoiceIndEpsilon(1.5, 1), 1.5);
  EXPECT_EQ(VoiceIndEpsilon(1.5, 12), 18.0);
}

TEST(VoiceIndTargets, RefusesTwoVoicesOfOneNameAndNoEpsilon) {
  SpeakerPool pool = Circle(6);
  EXPECT_THROW(VoiceIndTargets(pool, 0.0), Error);
  pool.voices[1].name = "0";
  EXPECT_THROW(VoiceIndTargets(pool, 1.0), Error);
}

// With the program's own voices and encoder.
}  // namespace
}  // namespace sotto
