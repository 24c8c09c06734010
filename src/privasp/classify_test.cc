#include "privasp/classify.h"

#include <gtest/gtest.h>
#include <sndfile.h>

#include <limits>
#include <optional>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "privasp/service_testing.h"
#include "spoof/spoof_features.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::LocalParties;
using testing::SmallSpoofModel;
using testing::WriteAny;
using testing::WriteWav;

TEST(Classifying, WhatIsNoSpeechIsRefusedInOneLineAndTheRestAnswered) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  ASSERT_TRUE(parties.Load(model, "small", Scenario::kSharedModel).active);
  const testing::TemporaryFolder folder;
  SeededRng rng(1);
  std::vector<float> voice = testing::SyntheticVowel(2.0, kSpoofRateHz, 120.0, {700, 1220, 2600});
  for (float& v : voice) v += static_cast<float>(0.005 * rng.Gaussian());
  std::vector<float> not_finite = voice;
  not_finite[100] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> both(2 * voice.size());
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = voice[i / 2];

  const auto at = [&](const char* name) { return folder / name; };
  WriteWav(at("good.wav"), voice);
  WriteWav(at("empty.wav"), {});
  WriteWav(at("silent.wav"), std::vector<float>(16000, 0.0F));
  WriteAny(at("not_finite.wav"), SF_FORMAT_WAV | SF_FORMAT_FLOAT, kSpoofRateHz, 1, not_finite);
  WriteWav(at("short.wav"), std::vector<float>(100, 0.1F));
  WriteAny(at("stereo.wav"), SF_FORMAT_WAV | SF_FORMAT_PCM_16, kSpoofRateHz, 2, both);
  WriteWav(at("other_rate.wav"), voice, 8000);
  WriteWav(at("also_good.wav"), voice);
  std::vector<fs::path> all;
  for (const char* name : {"empty.wav", "good.wav", "silent.wav", "not_finite.wav", "short.wav",
                           "stereo.wav", "other_rate.wav", "also_good.wav"}) {
    all.push_back(at(name));
  }
  const Classified classified = ClassifyAtService(parties.Config(Role::kClient), "small", all, 2);
  ASSERT_EQ(classified.rows.size(), all.size());
  EXPECT_EQ(classified.Refused(), 6U);
  // The plain net on what 16 bits kept of it.
  const Sound heard = ReadSound(at("good.wav"));
  const auto x = model.front_end.Quantise(SpoofFeatures(heard.channels.at(0)));
  const std::int64_t plain = Evaluate(model.net, x);
  for (const ClassifiedRecording& row : classified.rows) {
    const bool good = row.utterance.find("good") != std::string::npos;
    EXPECT_EQ(row.refused.empty(), good) << row.utterance << ": " << row.refused;
    EXPECT_EQ(row.refused.find('\n'), std::string::npos);
    EXPECT_EQ(row.answer.score, good ? std::optional(plain) : std::nullopt) << row.utterance;
    EXPECT_EQ(row.answer.genuine, good && plain >= model.net.threshold) << row.utterance;
  }
  // What was not asked was not reserved.
  EXPECT_EQ(parties.Count(0, "utterances_reserved"), 2U);
}

TEST(Classifying, WithoutServersIsAnError) {
  const SpoofModel model = SmallSpoofModel();
  LocalParties parties;
  const testing::TemporaryFolder folder;
  WriteWav(folder / "a.wav", testing::SyntheticVowel(2.0, kSpoofRateHz, 120.0, {700, 1220, 2600}));
  // No model.
  EXPECT_THROW(ClassifyAtService(parties.Config(Role::kClient), "small", {folder / "a.wav"}, 1),
               Refused);
  parties.StopServer(1);
  EXPECT_THROW(ClassifyAtService(parties.Config(Role::kClient), "small", {folder / "a.wav"}, 1),
               Error);
}

}  // namespace
}  // namespace sotto
