#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "nn/content.h"
#include "targets/pseudo_speakers.h"
#include "voice/moonshine_content.h"
#include "voice/neural_pitch.h"
#include "voice/neural_testing.h"
#include "voice/training_features.h"

namespace sotto {
namespace {

using testing::Cosine;

constexpr std::size_t kSize = 24;

// Voices that vary along three directions and a little in all.
SpeakerPool MadeUpPool(int each) {
  SpeakerPool pool;
  pool.encoder = "e";
  SeededRng random(1);
  for (int i = 0; i < 2 * each; ++i) {
    SpeakerVoice voice;
    voice.name = std::to_string(i);
    voice.gender = i % 2 == 0 ? Gender::kFemale : Gender::kMale;
    const double a = random.Gaussian(), b = random.Gaussian(), c = random.Gaussian();
    for (std::size_t k = 0; k < kSize; ++k) {
      const double along = k % 3 == 0 ? a : k % 3 == 1 ? b : c;
      voice.embedding.push_back(
          static_cast<float>(along + 0.3 * random.Gaussian() + (i % 2 == 0 ? 0.4 : -0.4)));
    }
    voice.log_f0_mean = std::log(i % 2 == 0 ? 200.0 : 115.0) + 0.1 * a;
    voice.log_f0_deviation = 0.25 + 0.02 * random.Gaussian();
    pool.voices.push_back(std::move(voice));
  }
  return pool;
}

TargetDraws Draws(Strategy strategy, std::uint64_t seed = 3) {
  return {Key::ForExperiment(ExperimentKey(seed)), strategy, "neural"};
}

TEST(SpeakerPool, ComesBackFromItsFile) {
  const SpeakerPool pool = MadeUpPool(10);
  const SpeakerPool read = ReadSpeakerPool(WriteSpeakerPool(pool));
  ASSERT_EQ(read.voices.size(), 20u);
  EXPECT_EQ(read.encoder, "e");
  EXPECT_EQ(read.voices[3].name, "3");
  EXPECT_EQ(read.voices[3].gender, Gender::kMale);
  EXPECT_EQ(read.voices[3].embedding, pool.voices[3].embedding);
  EXPECT_NEAR(read.voices[3].log_f0_mean, pool.voices[3].log_f0_mean, 1e-6);
  TensorFile damaged = WriteSpeakerPool(pool);
  damaged.metadata["sotto.genders"] = "[\"F\"]";
  EXPECT_THROW(ReadSpeakerPool(damaged), Error);
}

TEST(SpeakerPool, IsMadeOfFeatures) {
  SpeechPack pack;
  pack.samples.resize(640);
  pack.utterances = {{"a", "s", Gender::kFemale, 0, 320}, {"b", "s", Gender::kFemale, 320, 320}};
  FeaturePack features;
  features.state_size = 1;
  features.embedding_size = 2;
  features.encoder = "e";
  features.ids = {"a", "b"};
  features.utterances = {{{0}, {100.0f, 0.0f}, {3.0f, 0.0f}},
                         {{0}, {400.0f, 200.0f}, {0.0f, 2.0f}}};
  const SpeakerPool pool = MakeSpeakerPool(pack, features);
  ASSERT_EQ(pool.voices.size(), 1u);
  EXPECT_NEAR(pool.voices[0].embedding[0], std::sqrt(0.5), 1e-6);  // utterances count alike
  EXPECT_NEAR(pool.voices[0].embedding[1], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(pool.voices[0].log_f0_mean, std::log(200.0), 1e-6);
  EXPECT_NEAR(pool.voices[0].log_f0_deviation, std::log(2.0) * std::sqrt(2.0 / 3.0), 1e-6);
  pack.utterances[0].gender = pack.utterances[1].gender = Gender::kUnknown;
  EXPECT_THROW(MakeSpeakerPool(pack, features), Error);
}

TEST(PseudoSpeakers, HaveTheDistributionOfThePool) {
  const SpeakerPool pool = MadeUpPool(60);
  const PseudoSpeakers generator(pool, 2.0);
  EXPECT_GT(generator.Shrinkage(Gender::kFemale), 0.0);
  EXPECT_LT(generator.Shrinkage(Gender::kFemale), 0.5);
  Eigen::MatrixXd drawn(static_cast<Eigen::Index>(kSize), 300), real(drawn.rows(), 60);
  double pitch = 0.0, pitch_real = 0.0;
  for (int i = 0; i < 300; ++i) {
    const SpeakerVoice v =
        generator.Draw(Draws(Strategy::kRandom), Gender::kFemale, "s", std::to_string(i));
    for (std::size_t k = 0; k < kSize; ++k) drawn(static_cast<Eigen::Index>(k), i) = v.embedding[k];
    pitch += v.log_f0_mean / 300.0;
  }
  for (int i = 0; i < 60; ++i) {
    const SpeakerVoice& v = pool.voices[2 * static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < kSize; ++k) real(static_cast<Eigen::Index>(k), i) = v.embedding[k];
    real.col(i).normalize();
    pitch_real += v.log_f0_mean / 60.0;
  }
  EXPECT_NEAR(pitch, pitch_real, 0.03);
  const Eigen::VectorXd a = drawn.rowwise().mean(), b = real.rowwise().mean();
  EXPECT_LT((a - b).norm(), 0.15);
  const double spread = (drawn.colwise() - a).squaredNorm() / 300.0;
  const double spread_real = (real.colwise() - b).squaredNorm() / 60.0;
  EXPECT_NEAR(spread / spread_real, 1.0, 0.2);
}

TEST(PseudoSpeakers, AreDrawnByTheStrategyAndTheKeyAlone) {
  const PseudoSpeakers generator(MadeUpPool(20), 2.0);
  const auto draw = [&](Strategy strategy, const char* speaker, const char* utterance,
                        std::uint64_t seed) {
    return generator.Draw(Draws(strategy, seed), Gender::kMale, speaker, utterance).embedding;
  };
  EXPECT_EQ(draw(Strategy::kPerm, "a", "1", 3), draw(Strategy::kPerm, "a", "2", 3));
  EXPECT_NE(draw(Strategy::kPerm, "a", "1", 3), draw(Strategy::kPerm, "b", "1", 3));
  EXPECT_EQ(draw(Strategy::kConst, "a", "1", 3), draw(Strategy::kConst, "b", "2", 3));
  EXPECT_NE(draw(Strategy::kRandom, "a", "1", 3), draw(Strategy::kRandom, "a", "2", 3));
  EXPECT_NE(draw(Strategy::kPerm, "a", "1", 3), draw(Strategy::kPerm, "a", "1", 4));
}

TEST(PseudoSpeakers, KeepAwayFromRealVoices) {
  const SpeakerPool pool = MadeUpPool(20);
  const PseudoSpeakers generator(pool, 0.9);
  for (int i = 0; i < 30; ++i) {
    const SpeakerVoice v =
        generator.Draw(Draws(Strategy::kRandom), Gender::kMale, "s", std::to_string(i));
    for (const SpeakerVoice& real : pool.voices) {
      EXPECT_LE(Cosine(v.embedding, real.embedding), 0.9 + 1e-6);
    }
  }
  const PseudoSpeakers impossible(pool, -1.0);
  EXPECT_THROW(impossible.Draw(Draws(Strategy::kRandom), Gender::kMale, "s", "u"), Error);
}

TEST(PseudoSpeakers, RefuseSmallOrBrokenPools) {
  EXPECT_THROW(PseudoSpeakers(MadeUpPool(9)), Error);
  SpeakerPool broken = MadeUpPool(12);
  broken.voices[3].embedding.assign(kSize, 0.0f);
  EXPECT_THROW(PseudoSpeakers{broken}, Error);
}

TEST(TargetGender, FollowsTheRule) {
  const TargetDraws draws = Draws(Strategy::kRandom);
  EXPECT_EQ(TargetGenderFor(draws, TargetGender::kSame, Gender::kMale, "s", "u"), Gender::kMale);
  EXPECT_EQ(TargetGenderFor(draws, TargetGender::kOther, Gender::kMale, "s", "u"), Gender::kFemale);
  EXPECT_THROW(TargetGenderFor(draws, TargetGender::kSame, Gender::kUnknown, "s", "u"), Error);
  std::set<Gender> seen;
  for (int i = 0; i < 30; ++i) {
    seen.insert(
        TargetGenderFor(draws, TargetGender::kRandom, Gender::kUnknown, "s", std::to_string(i)));
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(CleanF0, MendsGapsCreakAndSpikes) {
  std::vector<float> f0(100, 120.0f);
  f0[20] = f0[21] = 0.0f;  // a gap of 20 ms
  f0[40] = 50.0f;          // creak
  for (int t = 60; t < 100; ++t) f0[static_cast<std::size_t>(t)] = 0.0f;
  f0[80] = 300.0f;  // a single frame in silence
  const VoicedF0 clean = CleanF0(f0);
  EXPECT_TRUE(clean.voiced[20]);
  EXPECT_NEAR(clean.f0_hz[21], 120.0, 1e-9);
  EXPECT_TRUE(clean.voiced[40]);
  EXPECT_NEAR(clean.f0_hz[40], 120.0, 1e-9);
  EXPECT_FALSE(clean.voiced[80]);
  EXPECT_NEAR(clean.f0_hz[99], 120.0, 1e-9);  // the source runs on
  EXPECT_TRUE(CleanF0({}).f0_hz.empty());
}

TEST(PitchStatistics, MoveTheSourceToItsTarget) {
  VoicedF0 source;
  for (int t = 0; t < 400; ++t) {
    source.f0_hz.push_back(110.0 * std::exp(0.2 * std::sin(t / 20.0)));
    source.voiced.push_back(t % 4 != 0);
  }
  const PitchLevel mine = PitchStatistics(source);
  VoiceModel target;
  target.log_f0_mean = std::log(210.0);
  target.log_f0_deviation = 0.2;
  PitchToTarget(mine, target).Apply(source.f0_hz);
  const PitchLevel moved = PitchStatistics(source);
  EXPECT_NEAR(moved.log_f0_mean, target.log_f0_mean, 1e-6);
  EXPECT_NEAR(moved.log_f0_deviation, 0.2, 1e-6);
  // A few frames do not decide.
  const VoicedF0 word{{400.0, 400.0}, {true, true}};
  EXPECT_NEAR(PitchStatistics(word).log_f0_mean, std::log(150.0), 0.05);
}

TEST(ContourBend, IsSmoothBoundedAndKeyed) {
  const ContourBend bend(Draws(Strategy::kRandom), 3.0, "s", "u");
  const ContourBend other(Draws(Strategy::kRandom), 3.0, "s", "v");
  const double most = std::pow(2.0, 3.0 / 12.0);
  double difference = 0.0;
  for (double t = 0.0; t < 20.0; t += 0.01) {
    EXPECT_LE(bend.Factor(t), most);
    EXPECT_GE(bend.Factor(t), 1.0 / most);
    EXPECT_LT(std::abs(std::log(bend.Factor(t + 0.01) / bend.Factor(t))), 0.01);
    difference = std::max(difference, std::abs(bend.Factor(t) - other.Factor(t)));
  }
  EXPECT_GT(difference, 0.05);
  EXPECT_EQ(ContourBend(Draws(Strategy::kRandom), 0.0, "s", "u").Factor(1.0), 1.0);
  EXPECT_THROW(ContourBend(Draws(Strategy::kRandom), 20.0, "s", "u"), Error);
}

TEST(TrainingFeatures, F0StandsInTheMiddleOfFrames) {
  std::vector<float> x(16000);
  double phase = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    phase += 140.0 / 16000.0;
    x[i] = static_cast<float>(0.3 * (phase - std::floor(phase) - 0.5));
  }
  const std::vector<float> f0 = SynthesisF0(x);
  ASSERT_EQ(f0.size(), 100u);
  EXPECT_NEAR(f0[50], 140.0f, 2.0f);
  EXPECT_EQ(SynthesisF0(std::vector<float>(161)).size(), 2u);
}

TEST(MoonshineContent, PiecesFollowOnEachOther) {
  const ModelFolders models = ModelFolders::Default();
  if (!OnnxRuntime::Compiled() || !models.Find("moonshine/encoder_model.onnx")) {
    GTEST_SKIP() << "Moonshine is not installed";
  }
  const MoonshineContent teacher(OnnxRuntime::Open(models), models);
  SeededRng random(1);
  std::vector<float> x(50 * 16000);
  for (float& v : x) v = static_cast<float>(0.01 * random.Gaussian());
  const Eigen::MatrixXf states = teacher.States(x);
  EXPECT_EQ(states.rows(), 288);
  EXPECT_NEAR(static_cast<double>(states.cols()), 50.0 * 16000.0 / 384.0, 3.0);
  EXPECT_TRUE(states.allFinite());
  EXPECT_GE(teacher.States(std::vector<float>(100)).cols(), 1);
  EXPECT_THROW(teacher.States({}), Error);
}

}  // namespace
}  // namespace sotto
