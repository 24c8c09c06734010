#include "targets/voice_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "dsp/warp.h"
#include "targets/vtln.h"
#include "targets/vtln_files.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

// Three utterances of each of a few speakers of a corpus.
std::map<std::string, std::vector<std::vector<float>>> SomeSpeech(const std::string& name,
                                                                  std::size_t speakers) {
  const Corpus corpus = ScanCorpus(testing::SharedFolder() / "data/speech" / name).corpus;
  std::map<std::string, std::vector<std::vector<float>>> speech;
  for (const Recording& recording : corpus.recordings) {
    const std::string& speaker = recording.spans[0].speaker;
    if (!speech.contains(speaker) && speech.size() == speakers) continue;
    if (speech[speaker].size() < 3) {
      speech[speaker].push_back(ReadSound(recording.path).channels[0]);
    }
  }
  return speech;
}

std::vector<float> WarpSpeech(const std::vector<float>& x, double a) {
  VocoderFrames frames = Analyse(x, 16000);
  const PowerSpectrumWarp warp(frames.Bins(), 8000.0);
  std::vector<float> scratch(frames.Bins());
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    const std::span<float> envelope = frames.Envelope(t);
    std::copy(envelope.begin(), envelope.end(), scratch.begin());
    warp.Apply(a, scratch, envelope);
  }
  return Synthesise(frames, x.size());
}

VoiceModel Model(const std::vector<std::vector<float>>& utterances) {
  VoiceModelBuilder builder;
  for (const auto& x : utterances) builder.Add(Analyse(x, 16000));
  return builder.Build("s", Gender::kUnknown);
}

// Real speech, its frequency axis warped by a factor of the grid and synthesised again: fitting the
// original to it finds the factor, and fitting it to the original finds the inverse.
// The settings were chosen on speakers of libri_eval; those of libri_train are other people.
void ExpectWarpsRecovered(const std::string& corpus) {
  int classes = 0, there = 0, back = 0;
  for (const auto& [speaker, utterances] : SomeSpeech(corpus, 4)) {
    // Both sides went through the vocoder once.
    std::vector<std::vector<float>> plain;
    for (const auto& x : utterances) plain.push_back(WarpSpeech(x, 0.0));
    const VoiceModel original = Model(plain);
    for (const double a : {-0.12, -0.08, -0.04, 0.04, 0.08, 0.10}) {
      std::vector<std::vector<float>> warped;
      for (const auto& x : utterances) warped.push_back(WarpSpeech(x, a));
      const VoiceModel moved = Model(warped);
      const ClassTargets to = FitClasses(original, moved), from = FitClasses(moved, original);
      for (std::size_t k = 0; k < kVoiceClasses; ++k) {
        ++classes;
        there += std::abs(WarpFactor(to[k].step) - a) < 0.021 ? 1 : 0;
        back += std::abs(WarpFactor(from[k].step) + a / (1.0 - a)) < 0.021 ? 1 : 0;
      }
    }
  }
  ::testing::Test::RecordProperty("there", there);
  ::testing::Test::RecordProperty("back", back);
  EXPECT_GE(there, 0.9 * classes) << classes;
  EXPECT_GE(back, 0.9 * classes) << classes;
}

TEST(FitSlow, RecoversAKnownWarpOfSpeechOnNineClassesInTen) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
  ExpectWarpsRecovered("libri_eval");
}

TEST(FitSlow, RecoversAKnownWarpOfOtherSpeakers) {
  SOTTO_NEEDS_SHARED("data/speech/libri_train/manifest.tsv");
  ExpectWarpsRecovered("libri_train");
}

TEST(VoiceModel, HasThePitchOfTheVoice) {
  VoiceModelBuilder builder;
  builder.Add(Analyse(SyntheticVowel(3.0, 16000, 150.0), 16000));
  const VoiceModel voice = builder.Build("v", Gender::kFemale);
  EXPECT_NEAR(voice.log_f0_mean, std::log(150.0), 0.03);
  EXPECT_LT(voice.log_f0_deviation, 0.05);
  EXPECT_EQ(voice.gender, Gender::kFemale);
  for (std::size_t k = 0; k < kVoiceClasses; ++k) {
    double sum = 0.0;
    for (const float value : voice.Centroid(k)) sum += value;
    EXPECT_NEAR(sum / kEnvelopePoints, 0.0, 1e-3);
  }
}

TEST(VoiceModel, WithoutClassesHasTheSamePitchAndNoCentroids) {
  VoiceModelBuilder builder;
  builder.Add(Analyse(SyntheticVowel(3.0, 16000, 150.0), 16000));
  const VoiceModel whole = builder.Build("v", Gender::kFemale);
  const VoiceModel pitch = builder.Build("v", Gender::kFemale, /*classes=*/false);
  EXPECT_FALSE(whole.centroids.empty());
  EXPECT_TRUE(pitch.centroids.empty());
  EXPECT_EQ(pitch.log_f0_mean, whole.log_f0_mean);
  EXPECT_EQ(pitch.log_f0_deviation, whole.log_f0_deviation);
}

TEST(VoiceModel, OfTooLittleSpeechIsAnError) {
  VoiceModelBuilder builder;
  EXPECT_THROW(builder.Build("v", Gender::kUnknown), Error);
  builder.Add(Analyse(SyntheticVowel(0.2, 16000), 16000));
  EXPECT_THROW(builder.Build("v", Gender::kUnknown), Error);
  VoiceModelBuilder silent;
  silent.Add(Analyse(std::vector<float>(32000, 0.0F), 16000));
  EXPECT_THROW(silent.Build("v", Gender::kUnknown), Error);
}

TEST(BuildPool, KeepsGenderAndNoNames) {
  const TemporaryFolder folder;
  WriteWav(folder / "a.wav", SyntheticVowel(2.0, 16000, 200.0));
  WriteWav(folder / "b.wav", SyntheticVowel(2.0, 16000, 110.0, {600, 1000, 2400}));
  WriteWav(folder / "c.wav", SyntheticVowel(0.1, 16000));
  WriteFileAtomically(folder / "manifest.tsv",
                      "utt_id\tpath\tspeaker\tgender\nua\ta.wav\tanna\tF\nub\tb.wav\tben\tM\n"
                      "uc\tc.wav\tcem\tM\n");
  const BuiltPool built = BuildPool(folder.Path(), {.jobs = 2});
  ASSERT_EQ(built.pool.voices.size(), 2U);
  EXPECT_TRUE(built.failures.contains("cem"));
  EXPECT_EQ(built.pool.voices[0].gender, Gender::kFemale);
  EXPECT_EQ(built.pool.voices[1].gender, Gender::kMale);
  const std::string bytes = SerialisePool(built.pool);
  for (const char* name : {"anna", "ben", "ua", "a.wav"}) {
    EXPECT_EQ(bytes.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(SerialisePool(BuildPool(folder.Path(), {.jobs = 1}).pool), bytes);
}

TEST(FitCorpus, TakesASingleFileAndRefusesSpeakersItCannotFit) {
  const TemporaryFolder folder;
  WriteWav(folder / "me.wav", SyntheticVowel(2.0, 16000, 130.0));
  WriteWav(folder / "in/me/1.wav", SyntheticVowel(0.1, 16000, 130.0));
  const VoiceProfile profile = FitCorpus(folder / "me.wav", DefaultPool(), {});
  ASSERT_EQ(profile.voices.size(), 1U);
  EXPECT_EQ(profile.voices[0].name, "me");
  EXPECT_EQ(profile.pool_size, DefaultPool().voices.size());
  EXPECT_THROW(FitCorpus(folder / "in", DefaultPool(), {}), Error);
}

TEST(DefaultPool, HasBothGendersAndSpreadPitches) {
  std::map<Gender, int> genders;
  for (const VoiceModel& voice : DefaultPool().voices) {
    ++genders[voice.gender];
    EXPECT_EQ(voice.name.substr(0, 5), "voice");
    const double f0 = std::exp(voice.log_f0_mean);
    EXPECT_GT(f0, voice.gender == Gender::kFemale ? 140.0 : 70.0) << voice.name;
    EXPECT_LT(f0, voice.gender == Gender::kFemale ? 280.0 : 190.0) << voice.name;
  }
  EXPECT_EQ(genders[Gender::kFemale], 16);
  EXPECT_EQ(genders[Gender::kMale], 12);
}

}  // namespace
}  // namespace sotto
