#include "voice/neural_voice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "base/testing.h"
#include "nn/net_testing.h"
#include "voice/neural_method.h"
#include "voice/neural_testing.h"

namespace sotto {
namespace {

std::shared_ptr<const NeuralModels> SmallModels(std::int64_t content = 6) {
  ContentOptions c;
  c.bottleneck = 6;
  c.body = {16, 32, 2, 5, {1, 2}, {2}};
  SynthOptions s;
  s.content = content;
  s.embedding = 8;
  s.condition = 4;
  s.body = {16, 32, 2, 5, {1}, {2}};
  return std::make_shared<NeuralModels>(RandomContent(c), RandomSynth(s));
}

NeuralVoiceOptions Options() {
  NeuralVoiceOptions o;
  o.target.embedding = {1, 2, 3, 4, 5, 6, 7, 8};
  o.target.log_f0_mean = std::log(200.0);
  o.target.log_f0_deviation = 0.2;
  o.noise_seed = 5;
  return o;
}

std::vector<float> Buzz(std::size_t n, int rate_hz) {
  std::vector<float> x(n);
  double phase = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    phase += (120.0 + 20.0 * std::sin(3.0 * t)) / rate_hz;
    const double loud = t > 2.0 && t < 3.0 ? 0.0 : 0.3;
    x[i] = static_cast<float>(loud * (phase - std::floor(phase) - 0.5));
  }
  return x;
}

std::vector<float> Transform(const std::vector<float>& x, int rate_hz, std::size_t step,
                             const NeuralVoiceOptions& options) {
  const auto transformer = MakeNeuralTransformer(rate_hz, SmallModels(), options);
  std::vector<float> out;
  for (std::size_t at = 0; at < x.size(); at += step) {
    transformer->Push(std::span(x).subspan(at, std::min(step, x.size() - at)), out);
  }
  transformer->Finish(out);
  return out;
}

TEST(NeuralVoice, KeepsTheNumberOfSamplesAtAnyRateAndLength) {
  for (const int rate : {8000, 16000, 44100}) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{159}, std::size_t{5000},
                                std::size_t{40001}}) {
      const std::vector<float> y = Transform(Buzz(n, rate), rate, 4096, Options());
      ASSERT_EQ(y.size(), n) << rate;
      for (const float v : y) ASSERT_TRUE(std::isfinite(v));
    }
  }
}

TEST(NeuralVoice, DoesNotDependOnHowSamplesArrive) {
  NeuralVoiceOptions o = Options();
  o.block_s = 3.0;
  const std::vector<float> x = Buzz(9 * 16000 + 77, 16000);
  const std::vector<float> a = Transform(x, 16000, 1000, o), b = Transform(x, 16000, x.size(), o);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5f) << i;
}

TEST(NeuralVoice, SilenceStaysSilentAndLoudnessIsKept) {
  const std::vector<float> x = Buzz(5 * 16000, 16000);
  const std::vector<float> y = Transform(x, 16000, 4096, Options());
  const auto power = [](const std::vector<float>& v, double from_s, double to_s) {
    double sum = 0.0;
    for (auto i = static_cast<std::size_t>(16000 * from_s);
         i < static_cast<std::size_t>(16000 * to_s); ++i) {
      sum += double{v[i]} * v[i];
    }
    return sum / (16000 * (to_s - from_s));
  };
  EXPECT_LT(power(y, 2.5, 2.9), 1e-6);
  EXPECT_NEAR(10.0 * std::log10(power(y, 0.5, 1.8) / power(x, 0.5, 1.8)), 0.0, 3.0);
  const std::vector<float> silent = Transform(std::vector<float>(16000), 16000, 999, Options());
  for (const float v : silent) ASSERT_NEAR(v, 0.0f, 1e-6f);
}

TEST(NeuralVoice, StopsWithTheInputAndDoesNotBeginBeforeIt) {
  std::vector<float> x = Buzz(3 * 16000, 16000);
  std::fill(x.begin(), x.begin() + 8000, 0.0F);
  std::fill(x.begin() + 24007, x.end(), 0.0F);  // in the middle of a hop
  const std::vector<float> y = Transform(x, 16000, 4096, Options());
  ASSERT_EQ(y.size(), x.size());
  const auto loudest = [&](std::size_t from, std::size_t to) {
    float most = 0.0F;
    for (std::size_t i = from; i < to; ++i) most = std::max(most, std::abs(y[i]));
    return most;
  };
  constexpr std::size_t kFortyMs = 640;
  EXPECT_GT(loudest(20000, 24000), 0.01F);
  EXPECT_EQ(loudest(0, 8000 - kFortyMs), 0.0F);
  EXPECT_EQ(loudest(24007 + kFortyMs, y.size()), 0.0F);
}

// What a speaker or a microphone adds to every frame of the content does not reach the synthesiser.
TEST(NeuralVoice, AnOffsetOfTheContentIsHardlyHeard) {
  const std::vector<float> x = Buzz(12 * 16000, 16000);
  const std::shared_ptr<const NeuralModels> models = SmallModels();
  const auto speak = [&](float offset) {
    TensorFile content = models->Content().File();
    for (float& v : content.tensors.at("head.bias").values) v += offset;
    const auto transformer = MakeNeuralTransformer(
        16000, std::make_shared<NeuralModels>(content, models->Synth().File()), Options());
    std::vector<float> y;
    transformer->Push(x, y);
    transformer->Finish(y);
    return y;
  };
  const auto distance = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum / static_cast<double>(a.size()));
  };
  // Of 13 the prior's 50 of 650 frames leave 1.
  const std::vector<float> plain = speak(0.0f);
  const double left = distance(plain, speak(13.0f));
  EXPECT_GT(left, 0.0);
  EXPECT_LT(left, 0.25 * distance(plain, std::vector<float>(plain.size())));
}

TEST(NeuralMethod, ProtectsWithDrawnTargetsAndNamesWhatIsMissing) {
  const testing::TemporaryFolder folder;
  VoiceOptions options;
  options.Use("neural");
  const TargetDraws draws(Key::ForExperiment(ExperimentKey(1)), Strategy::kRandom, "neural");
  EXPECT_NO_THROW(MakeVoiceMethod(options, draws));  // the nets in the program
  options.Set("neural", folder.Path().string());
  EXPECT_THROW(MakeVoiceMethod(options, draws), Error);
  testing::WriteNets(folder.Path(), *SmallModels());
  for (const char* target : {"generated", "pool"}) {
    options.Set("target", target);
    options.Set("bend", "2.0");
    const auto method = MakeVoiceMethod(options, draws);
    EXPECT_FALSE(method->NeedsFit());
    const std::vector<float> x = Buzz(20000, 16000);
    const auto run = [&](const std::string& utterance) {
      const auto transformer = method->MakeTransformer(16000, 1.0, "s", utterance);
      std::vector<float> out;
      transformer->Push(x, out);
      transformer->Finish(out);
      return out;
    };
    const std::vector<float> a = run("1");
    ASSERT_EQ(a.size(), x.size());
    EXPECT_EQ(a, run("1"));
    EXPECT_NE(a, run("2"));
  }
  options.Set("target-gender", "same");
  EXPECT_TRUE(MakeVoiceMethod(options, draws)->NeedsFit());
  options.Set("bend", "-1");  // would be no bend at all, silently
  EXPECT_THROW(options.Validate(), Error);
  options.Set("bend", "0.0");
  EXPECT_THROW(options.Set("pitch", "random"), Error);
}

TEST(NeuralMethod, DrawsTheGenderThatIsAsked) {
  const testing::TemporaryFolder folder;
  testing::WriteNets(folder.Path(), *SmallModels());
  VoiceOptions options("neural");
  options.Set("neural", folder.Path().string());
  options.Set("target", "pool");
  options.Set("target-gender", "other");
  NeuralMethod method(
      options, TargetDraws(Key::ForExperiment(ExperimentKey(1)), Strategy::kRandom, "neural"));
  ModelledVoices sources;
  VoiceModel known, unknown;
  known.name = "known";
  known.gender = Gender::kFemale;
  known.log_f0_mean = std::log(100.0);
  unknown.name = "unknown";
  unknown.log_f0_mean = std::log(220.0);  // taken for a woman
  sources.voices = {known, unknown};
  method.Fit(SourceVoices(std::move(sources)));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(method.Target("known", std::to_string(i)).gender, Gender::kMale);
    EXPECT_EQ(method.Target("unknown", std::to_string(i)).gender, Gender::kMale);
  }
}

TEST(NeuralVoice, RefusesWhatDoesNotFit) {
  EXPECT_THROW(SmallModels(7), Error);
  NeuralVoiceOptions o = Options();
  o.target.embedding.pop_back();
  EXPECT_THROW(MakeNeuralTransformer(16000, SmallModels(), o), Error);
}

TEST(NeuralVoice, NoiseOnTheContentComesFromItsKeyAlone) {
  ContentOptions c;
  c.bottleneck = 6;
  c.body = {16, 32, 2, 5, {1, 2}, {2}};
  SynthOptions s;
  s.content = 6;
  s.embedding = 8;
  s.condition = 4;
  s.body = {16, 32, 2, 5, {1}, {2}};
  TensorFile synth = RandomSynth(s);
  synth.metadata["sotto.content_noise"] = "0.5";
  const auto models = std::make_shared<const NeuralModels>(RandomContent(c), std::move(synth));
  const std::vector<float> x = Buzz(16000, 16000);
  const auto speak = [&](std::optional<Key> key) {
    NeuralVoiceOptions options = Options();
    options.content_key = std::move(key);
    const auto transformer = MakeNeuralTransformer(16000, models, options);
    std::vector<float> out;
    transformer->Push(x, out);
    transformer->Finish(out);
    return out;
  };
  EXPECT_THROW(speak(std::nullopt), Error);
  const std::vector<float> one = speak(Key::ForExperiment(ExperimentKey(1)));
  EXPECT_EQ(one, speak(Key::ForExperiment(ExperimentKey(1))));
  EXPECT_NE(one, speak(Key::ForExperiment(ExperimentKey(2))));
}

TEST(TargetDraws, DerivedKeysDifferByUtteranceAndPurposeWhateverTheStrategy) {
  const TargetDraws draws(Key::ForExperiment(ExperimentKey(1)), Strategy::kConst, "neural");
  const std::string key = draws.Derive("content noise", "a").Hex();
  EXPECT_EQ(key, draws.Derive("content noise", "a").Hex());
  EXPECT_NE(key, draws.Derive("content noise", "b").Hex());
  EXPECT_NE(key, draws.Derive("another", "a").Hex());
}

}  // namespace
}  // namespace sotto
