#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"
#include "dsp/level.h"
#include "dsp/voice_measures.h"
#include "voice/mcadams.h"
#include "voice/method_table.h"
#include "voice/vocoder_definition.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;

TargetDraws Draws(const std::string& method, std::uint64_t seed = 1) {
  return TargetDraws(Key::ForExperiment(ExperimentKey(seed)), Strategy::kPerm, method);
}

// A method for a speaker "s" fitted to a synthetic vowel.
std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, std::uint64_t seed = 1) {
  auto method = MakeVoiceMethod(options, Draws(options.MethodName(), seed));
  if (method->NeedsFit()) {
    VoiceModelBuilder builder;
    builder.Add(Analyse(SyntheticVowel(2.0, 16000), 16000));
    ModelledVoices modelled;
    modelled.voices = {builder.Build("s", Gender::kMale)};
    modelled.failures = {{"mute", "speaker 'mute': too little speech"}};
    method->Fit(SourceVoices(std::move(modelled)));
  }
  return method;
}

VoiceOptions Options(const std::string& method, std::optional<PitchMode> pitch = std::nullopt) {
  VoiceOptions options(method);
  if (pitch) options.Set("pitch", Name(*pitch));
  return options;
}

std::vector<float> Transform(const VoiceMethod& method, const std::vector<float>& x, int rate_hz,
                             std::size_t piece = 4096) {
  const auto transformer = method.MakeTransformer(rate_hz, 1.0, "s", "u");
  std::vector<float> out;
  for (std::size_t i = 0; i < x.size(); i += piece) {
    transformer->Push(std::span(x).subspan(i, std::min(piece, x.size() - i)), out);
  }
  transformer->Finish(out);
  return out;
}

// Every way through the vocoder.
std::vector<VoiceOptions> VocoderWays() {
  return {Options("voicemask"), Options("vtln"), Options("mcadams", PitchMode::kRandom),
          Options("voicemask", PitchMode::kTarget)};
}

TEST(VocoderMethods, ReturnAsManySamplesAtEveryRateAndLength) {
  for (const VoiceOptions& options : VocoderWays()) {
    const auto method = Make(options);
    for (const int rate : {8000, 11025, 16000, 22050, 44100, 48000, 96000, 192000}) {
      for (const double seconds : {0.0, 0.0003, 0.013, 0.35}) {
        const auto x = SyntheticVowel(seconds, rate);
        EXPECT_EQ(Transform(*method, x, rate).size(), x.size())
            << options.MethodName() << ' ' << rate << ' ' << seconds;
      }
    }
  }
}

TEST(VocoderMethods, KeepTheLevelWithinHalfADecibel) {
  for (const VoiceOptions& options : VocoderWays()) {
    const auto method = Make(options);
    for (const int rate : {8000, 16000, 44100, 96000}) {
      const auto x = SyntheticVowel(2.0, rate);
      const auto y = Transform(*method, x, rate);
      EXPECT_NEAR(RmsDb(y), RmsDb(x), 0.5) << options.MethodName() << ' ' << rate;
      for (const float v : y) ASSERT_LE(std::abs(v), 1.0F);
    }
  }
}

TEST(VocoderMethods, DoNotDependOnTheSizeOfThePieces) {
  const auto x = SyntheticVowel(2.7, 16000);
  for (VoiceOptions options : VocoderWays()) {
    options.block_s = kStreamBlockS;
    const auto method = Make(options);
    EXPECT_EQ(Transform(*method, x, 16000, 100), Transform(*method, x, 16000, x.size()))
        << options.MethodName();
  }
}

TEST(VocoderMethods, LongRecordingsInBlocksSoundLikeTheWhole) {
  const auto x = SyntheticVowel(4.0, 16000);
  for (VoiceOptions options : VocoderWays()) {
    const auto whole = Transform(*Make(options), x, 16000);
    options.block_s = kStreamBlockS;
    const auto blocks = Transform(*Make(options), x, 16000);
    const auto a = MeasureVoice(whole, 16000), b = MeasureVoice(blocks, 16000);
    EXPECT_NEAR(*a.median_f0_hz / *b.median_f0_hz, 1.0, 0.01) << options.MethodName();
    EXPECT_NEAR(RmsDb(whole), RmsDb(blocks), 0.2);
  }
}

TEST(VocoderMethods, KeepTheLatencyTheyState) {
  for (const int rate : {8000, 16000, 48000, 96000}) {
    VoiceOptions options = Options("voicemask");
    options.block_s = kStreamBlockS;
    const auto transformer = Make(options)->MakeTransformer(rate, 1.0, "s", "u");
    const std::size_t latency = transformer->LatencySamples();
    EXPECT_LE(latency, static_cast<std::size_t>(2.3 * rate));
    const auto x = SyntheticVowel(5.0, rate);
    std::vector<float> out;
    for (std::size_t i = 0; i + 160 <= x.size(); i += 160) {
      transformer->Push(std::span(x).subspan(i, 160), out);
      ASSERT_GE(out.size() + latency, i + 160) << rate;
    }
  }
}

TEST(VocoderMethods, SilenceStaysSilent) {
  const std::vector<float> silence(16000, 0.0F);
  for (const VoiceOptions& options : VocoderWays()) {
    for (const float y : Transform(*Make(options), silence, 16000)) ASSERT_LT(std::abs(y), 1e-4F);
  }
}

TEST(VoiceMaskMethod, MovesFormantsAndKeepsThePitch) {
  const auto x = SyntheticVowel(2.0, 16000);
  const auto before = MeasureVoice(x, 16000);
  double moved = 0.0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto y = Transform(*Make(Options("voicemask"), seed), x, 16000);
    const auto after = MeasureVoice(y, 16000);
    EXPECT_NEAR(*after.median_f0_hz / *before.median_f0_hz, 1.0, 0.02);
    moved = std::max(moved, std::abs(*after.formant_hz[1] / *before.formant_hz[1] - 1.0));
  }
  EXPECT_GT(moved, 0.03);
}

TEST(Pitch, MovesToTheTargetOrByTheFactorWithEveryMethod) {
  const auto x = SyntheticVowel(2.0, 16000, 120.0);
  for (const char* name : {"mcadams", "voicemask", "vtln"}) {
    // The target's mean, which the target draw of the same key gives away to the test.
    const auto draws = Draws(name);
    const std::size_t target =
        DrawTarget(draws, DefaultPool(), TargetGender::kRandom, Gender::kMale, "s", "u");
    const double expected = std::exp(DefaultPool().voices[target].log_f0_mean);
    const auto to_target = Transform(*Make(Options(name, PitchMode::kTarget)), x, 16000);
    EXPECT_NEAR(*MeasureVoice(to_target, 16000).median_f0_hz / expected, 1.0, 0.06) << name;
    const auto random = Transform(*Make(Options(name, PitchMode::kRandom)), x, 16000);
    EXPECT_NEAR(*MeasureVoice(random, 16000).median_f0_hz, DrawPitch(draws, "s", "u").Map(120.0),
                4.0)
        << name;
  }
}

TEST(Pitch, IsKeptByDefaultButConvertedByVtln) {
  EXPECT_EQ(AskedPitch(Options("mcadams")), PitchMode::kKeep);
  EXPECT_EQ(AskedPitch(Options("voicemask")), PitchMode::kKeep);
  EXPECT_EQ(AskedPitch(Options("vtln")), PitchMode::kTarget);
  EXPECT_EQ(AskedPitch(Options("vtln", PitchMode::kKeep)), PitchMode::kKeep);
  VoiceOptions gendered = Options("voicemask");
  gendered.Set("target-gender", "other");
  EXPECT_EQ(AskedPitch(gendered), PitchMode::kTarget);
}

TEST(McAdamsMethod, WithoutPitchIsTheTransformerAloneWithItsLatency) {
  const auto method = Make(Options("mcadams"));
  EXPECT_FALSE(method->NeedsFit());
  EXPECT_EQ(method->MakeTransformer(16000, 1.0, "s", "u")->LatencySamples(), 480U);
  const auto x = SyntheticVowel(0.5, 16000);
  McAdamsOptions options;
  options.alpha = Draws("mcadams").Uniform("alpha", 0.5, 0.9, "s", "u");
  const auto alone = MakeMcAdams(16000, options);
  std::vector<float> y;
  alone->Push(x, y);
  alone->Finish(y);
  EXPECT_EQ(Transform(*method, x, 16000), y);
}

TEST(McAdamsMethod, RefusesRangesOutsideWhatAlphaMayBe) {
  VoiceOptions options = Options("mcadams");
  for (const char* range : {"0.01:0.9", "0.5:3"}) {
    options.SetRecorded(*options.Method().Find("alpha"), range);
    EXPECT_THROW(MakeVoiceMethod(options, Draws("mcadams")), Error) << range;
  }
}

TEST(Range, ParsesValuesAndRanges) {
  EXPECT_TRUE(Range::Parse("0.8", "alpha").IsFixed());
  EXPECT_EQ(Range::Parse("0.7:0.9", "alpha").hi, 0.9);
  EXPECT_EQ(Range::Parse("0.7:0.9", "alpha").Text(), "0.7:0.9");
  for (const char* bad : {"", "x", "0.9:0.7", "0.5:", ":0.5", "0.5:0.6:0.7", "nan"}) {
    EXPECT_THROW(Range::Parse(bad, "alpha"), Error) << bad;
  }
}

TEST(VoiceMethods, ASpeakerThatCouldNotBeFittedIsAnErrorAndNeverPasses) {
  const auto method = Make(Options("vtln"));
  EXPECT_THROW(method->MakeTransformer(16000, 1.0, "mute", "u"), Error);
  EXPECT_THROW(method->MakeTransformer(16000, 1.0, "stranger", "u"), Error);
  EXPECT_THROW(
      MakeVoiceMethod(Options("vtln"), Draws("vtln"))->MakeTransformer(16000, 1.0, "s", "u"),
      Error);
}

TEST(VoiceOptions, ContradictionsAndUnknownMethodsAreErrors) {
  EXPECT_THROW(Options("voodoo"), Error);
  VoiceOptions options = Options("voicemask", PitchMode::kKeep);
  options.Set("target-gender", "other");
  EXPECT_THROW(options.Validate(), Error);
  options.Set("pitch", "target");
  options.Validate();
}

}  // namespace
}  // namespace sotto
