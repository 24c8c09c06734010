#include "voice/live_voice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/testing.h"
#include "nn/net_testing.h"
#include "voice/method_table.h"
#include "voice/neural_method.h"
#include "voice/neural_nets.h"
#include "voice/neural_testing.h"

namespace sotto {
namespace {

std::shared_ptr<const NeuralModels> Models(std::int64_t stem_ahead,
                                           std::vector<std::int64_t> content_ahead,
                                           std::vector<std::int64_t> synth_ahead) {
  ContentOptions c;
  c.bottleneck = 6;
  c.stem_ahead = stem_ahead;
  c.body = {16, 32, 3, 5, {1, 2, 4}, std::move(content_ahead)};
  SynthOptions s;
  s.content = 6;
  s.embedding = 8;
  s.condition = 4;
  s.body = {16, 32, 4, 5, {1}, std::move(synth_ahead)};
  return std::make_shared<NeuralModels>(RandomContent(c), RandomSynth(s));
}
std::shared_ptr<const NeuralModels> Models() { return Models(2, {1, 0, 0}, {1, 0}); }

NeuralVoiceOptions Options() {
  NeuralVoiceOptions o;
  o.target.embedding = {1, 2, 3, 4, 5, 6, 7, 8};
  o.target.log_f0_mean = std::log(200.0);
  o.target.log_f0_deviation = 0.2;
  o.noise_seed = 5;
  return o;
}

// Buzzes with pauses of 0.8 s between 1.2 and 2 s, 3.2 and 4 s, …
std::vector<float> Buzz(std::size_t n, int rate_hz, double loud = 0.3) {
  std::vector<float> x(n);
  double phase = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    phase += (120.0 + 20.0 * std::sin(3.0 * t)) / rate_hz;
    const bool speaks = std::fmod(t, 2.0) < 1.2;
    x[i] = static_cast<float>(speaks ? loud * (phase - std::floor(phase) - 0.5) : 0.0);
  }
  return x;
}

std::vector<float> Transform(StreamTransformer& transformer, std::span<const float> x,
                             std::size_t step) {
  std::vector<float> out;
  for (std::size_t at = 0; at < x.size(); at += step) {
    transformer.Push(x.subspan(at, std::min(step, x.size() - at)), out);
  }
  transformer.Finish(out);
  return out;
}

SpeakerVoice Other(std::size_t pause) {
  SpeakerVoice voice = Options().target;
  voice.embedding = {-3, 1, 0.5, 2, -1, 4, 0, static_cast<float>(pause)};
  return voice;
}

double Power(const std::vector<float>& v, double from_s, double to_s) {
  double sum = 0.0;
  for (auto i = static_cast<std::size_t>(16000 * from_s);
       i < static_cast<std::size_t>(16000 * to_s); ++i) {
    sum += double{v[i]} * v[i];
  }
  return sum / (16000 * (to_s - from_s));
}

TEST(LiveVoice, LatencyIsAsStatedForAnyPushAndNets) {
  struct Case {
    std::int64_t stem;
    std::vector<std::int64_t> content, synth;
    std::size_t samples;
  };
  const std::vector<Case> cases = {{0, {0}, {0}, 640 + 1680 - 1},
                                   {2, {1, 0, 0}, {1, 0}, 640 + 160 * 2 + 1680 - 1},
                                   {2, {1, 1, 0}, {1}, 640 + 160 * 4 + 320 * 5 + 440 - 1},
                                   {1, {1, 0, 0}, {1, 1, 1, 0}, 640 + 160 * 3 + 1680 - 1}};
  for (const Case& c : cases) {
    std::size_t worst = 0;
    for (const std::size_t step : {1U, 160U, 333U}) {
      const auto transformer =
          MakeLiveTransformer(16000, Models(c.stem, c.content, c.synth), Options(), Other);
      const std::size_t latency = transformer->LatencySamples();
      EXPECT_EQ(latency, c.samples);
      EXPECT_LE(latency, 4000U);
      const std::vector<float> x = Buzz(step == 1 ? 9000 : 40000, 16000);
      std::vector<float> out;
      for (std::size_t at = 0; at + step <= x.size(); at += step) {
        transformer->Push(std::span(x).subspan(at, step), out);
        ASSERT_GE(out.size() + latency, at + step);
        if (step == 1 && at > latency) worst = std::max(worst, at + 1 - out.size());
      }
    }
    EXPECT_EQ(worst, c.samples);  // no less would be true
  }
}

std::size_t Latency16() {
  return MakeLiveTransformer(16000, Models(), Options(), {})->LatencySamples();
}

TEST(LiveVoice, OtherRatesKeepTheirLatencyAndLength) {
  for (const int rate : {8000, 11025, 22050, 44100, 48000, 96000, 192000}) {
    const auto transformer = MakeLiveTransformer(rate, Models(), Options(), {});
    const std::size_t latency = transformer->LatencySamples();
    EXPECT_LE(static_cast<double>(latency) / rate,
              static_cast<double>(Latency16()) / 16000.0 + (rate < 16000 ? 0.0053 : 0.0027));
    const auto step = static_cast<std::size_t>(rate / 100);
    const std::vector<float> x = Buzz(100 * step, rate);
    std::vector<float> out;
    for (std::size_t at = 0; at + step <= x.size(); at += step) {
      transformer->Push(std::span(x).subspan(at, step), out);
      ASSERT_GE(out.size() + latency, at + step) << rate;
    }
    transformer->Finish(out);
    EXPECT_EQ(out.size(), x.size());
  }
}

TEST(LiveVoice, KeepsTheNumberOfSamples) {
  for (const std::size_t n : {0U, 1U, 79U, 160U, 321U, 2000U, 16001U}) {
    const std::vector<float> x = Buzz(n, 16000);
    const std::vector<float> y =
        Transform(*MakeLiveTransformer(16000, Models(), Options(), {}), x, 700);
    ASSERT_EQ(y.size(), n);
    for (const float v : y) ASSERT_TRUE(std::isfinite(v));
  }
}

TEST(LiveVoice, DoesNotDependOnHowSamplesArrive) {
  NeuralVoiceOptions o = Options();
  const std::vector<float> x = Buzz(6 * 16000 + 77, 16000);
  const auto run = [&](std::size_t step) {
    return Transform(*MakeLiveTransformer(16000, Models(), o, Other), x, step);
  };
  const std::vector<float> a = run(320), b = run(x.size()), c = run(1001);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], 1e-4f) << i;
    ASSERT_NEAR(a[i], c[i], 1e-4f) << i;
  }
}

TEST(LiveVoice, ChangesTheVoiceInPausesOnly) {
  const std::vector<float> x = Buzz(6 * 16000, 16000);
  std::vector<std::size_t> pauses;
  const auto changing = MakeLiveTransformer(16000, Models(), Options(), [&](std::size_t n) {
    pauses.push_back(n);
    return Other(n);
  });
  const std::vector<float> a = Transform(*MakeLiveTransformer(16000, Models(), Options(), {}), x,
                                         320),
                           b = Transform(*changing, x, 320);
  EXPECT_EQ(pauses, (std::vector<std::size_t>{1, 2, 3}));
  const auto differ = [&](double from_s, double to_s) {
    double most = 0.0;
    for (auto i = static_cast<std::size_t>(16000 * from_s);
         i < static_cast<std::size_t>(16000 * to_s); ++i) {
      most = std::max(most, std::abs(double{a[i]} - b[i]));
    }
    return most;
  };
  EXPECT_EQ(differ(0.0, 1.3), 0.0);
  EXPECT_GT(differ(2.05, 3.1), 0.01);
}

TEST(LiveVoice, SilenceStaysSilentAndNothingGetsLouder) {
  const std::vector<float> x = Buzz(5 * 16000, 16000);
  const std::vector<float> y =
      Transform(*MakeLiveTransformer(16000, Models(), Options(), Other), x, 320);
  EXPECT_LT(Power(y, 1.6, 1.95), 1e-6);
  EXPECT_NEAR(10.0 * std::log10(Power(y, 2.3, 3.1) / Power(x, 2.3, 3.1)), 0.0, 3.0);
  for (const float v : Transform(*MakeLiveTransformer(16000, Models(), Options(), Other),
                                 std::vector<float>(9000), 99)) {
    ASSERT_NEAR(v, 0.0f, 1e-6f);
  }
  SeededRng random(4);
  std::vector<float> noise(3 * 16000);
  for (float& v : noise) v = static_cast<float>(0.05 * random.Gaussian());
  const std::vector<float> from_noise =
      Transform(*MakeLiveTransformer(16000, Models(), Options(), Other), noise, 320);
  EXPECT_LT(10.0 * std::log10(Power(from_noise, 0.2, 2.9) / Power(noise, 0.2, 2.9)), 1.0);
  for (const float v : Transform(*MakeLiveTransformer(16000, Models(), Options(), Other),
                                 Buzz(32000, 16000, 3.0), 320)) {
    ASSERT_LE(std::abs(v), 1.0f);
  }
}

TEST(LiveVoice, RefusesNetsThatLookTooFarAhead) {
  EXPECT_THROW(MakeLiveTransformer(16000, Models(2, {2}, {2}), Options(), {}), Error);
  EXPECT_THROW(MakeLiveTransformer(16000, Models(2, {1}, {1}), Options(), {}), Error);
  EXPECT_NO_THROW(MakeLiveTransformer(16000, Models(0, {1, 1, 0}, {1}), Options(), {}));
}

TEST(LiveVoice, TheLimitHoldsAtTheRateOfTheStream) {
  const auto fits = [](int rate_hz, std::vector<std::int64_t> synth_ahead) {
    try {
      const auto models = Models(2, {1, 1, 0}, std::move(synth_ahead));
      const auto transformer = MakeLiveTransformer(rate_hz, models, Options(), {});
      const double latency_s = static_cast<double>(transformer->LatencySamples()) / rate_hz;
      EXPECT_LE(latency_s, kMostLiveLatencyS);
      return true;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("look too far ahead"), std::string::npos);
      return false;
    }
  };
  for (const int rate_hz : {8000, 16000, 22050, 44100, 48000, 192000}) {
    EXPECT_TRUE(fits(rate_hz, {1})) << rate_hz;                  // 207.4 ms at 16 kHz
    EXPECT_EQ(fits(rate_hz, {2}), rate_hz == 16000) << rate_hz;  // 247.4 ms
  }
}

TEST(LiveMethod, DrawsByTheStrategyAndOutlivesItsMethod) {
  const testing::TemporaryFolder folder;
  testing::WriteNets(folder.Path(), *Models());
  const VoiceOptions options = ParseMethodText("neural:streaming,neural=" + folder.Path().string());
  EXPECT_TRUE(options.Has("streaming"));
  const std::vector<float> x = Buzz(3 * 16000 + 8000, 16000);
  const auto run = [&](Strategy strategy, const std::string& speaker,
                       const std::string& utterance) {
    const TargetDraws draws(Key::ForExperiment(ExperimentKey(1)), strategy, "neural");
    const auto transformer =
        MakeVoiceMethod(options, draws)->MakeTransformer(16000, 1.0, speaker, utterance);
    EXPECT_LE(transformer->LatencySamples(), 4000U);
    return Transform(*transformer, x, 16000);
  };
  // The noise in the voice is another one for each utterance: compare within one.
  const std::vector<float> always = run(Strategy::kConst, "s", "u"),
                           speaker = run(Strategy::kPerm, "s", "u"),
                           anew = run(Strategy::kRandom, "s", "u");
  ASSERT_EQ(always.size(), x.size());
  EXPECT_EQ(always, run(Strategy::kConst, "t", "u"));
  EXPECT_NE(speaker, run(Strategy::kPerm, "t", "u"));
  EXPECT_EQ(anew, run(Strategy::kRandom, "s", "u"));
  EXPECT_NE(anew, always);
}

TEST(LiveMethod, ChannelsShareTheVoiceAndHaveNoiseOfTheirOwnOnTheContent) {
  const std::vector<float> x = Buzz(16000, 16000);
  for (const bool noisy : {false, true}) {
    const auto plain = Models();
    TensorFile synth = plain->Synth().File();
    if (noisy) synth.metadata["sotto.content_noise"] = "0.5";
    const testing::TemporaryFolder folder;
    testing::WriteNets(folder.Path(), NeuralModels(plain->Content().File(), std::move(synth)));
    const auto method = MakeVoiceMethod(
        ParseMethodText("neural:streaming,neural=" + folder.Path().string()),
        TargetDraws(Key::ForExperiment(ExperimentKey(1)), Strategy::kRandom, "neural"));
    const auto run = [&](std::size_t channel) {
      return Transform(*method->MakeTransformer(16000, 1.0, "s", "u", channel), x, 16000);
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_EQ(run(0) == run(1), !noisy);
    EXPECT_EQ(run(1) == run(2), !noisy);
  }
}

// voice-ind with the program's own nets, fitted to utterances of speaker s that sound like the
// pool's voices, the i-th like voice i.
NeuralMethod VoiceIndMethod(std::optional<std::size_t> max_draws, double eps,
                            const std::vector<std::string>& utterances,
                            Strategy strategy = Strategy::kRandom) {
  VoiceOptions options = ParseMethodText("neural:streaming,target=voice-ind,eps=1");
  options.Set("eps", std::to_string(eps));
  if (max_draws) options.Set("max-draws", std::to_string(*max_draws));
  NeuralMethod method(options,
                      TargetDraws(Key::ForExperiment(ExperimentKey(1)), strategy, "neural"));
  const SpeakerPool pool = OpenNeuralNets(ReadNeuralOptions(options)).pool;
  ModelledVoices sources;
  EmbeddingSet& set = sources.prints.set;
  set.ids = utterances;
  set.speakers.assign(utterances.size(), "s");
  const auto size = static_cast<Eigen::Index>(pool.voices[0].embedding.size());
  set.vectors.resize(size, static_cast<Eigen::Index>(utterances.size()));
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    set.vectors.col(column) =
        Eigen::Map<const Eigen::VectorXf>(pool.voices[i].embedding.data(), size);
    set.vectors(0, column) += 0.01F;  // not quite a voice of the pool, which would be refused
  }
  method.Fit(SourceVoices(std::move(sources)));
  return method;
}

std::size_t Distinct(const NeuralMethod& method, const std::string& utterance) {
  return method.DrawsMade(utterance).size();
}

TEST(LiveMethod, VoiceIndDrawsAnewAfterPausesUpToTheDeclaredBound) {
  const std::vector<float> x = Buzz(17 * 16000, 16000);  // eight pauses
  const auto run = [&](const NeuralMethod& method, std::size_t channel = 0, std::size_t n = 0) {
    return Transform(*method.MakeTransformer(16000, 1.0, "s", "u", channel),
                     n == 0 ? std::span(x) : std::span(x).first(n), 16000);
  };
  const NeuralMethod all = VoiceIndMethod(100, 2.0, {"u"}), three = VoiceIndMethod(3, 2.0, {"u"});
  const std::vector<float> a = run(all), b = run(three);
  EXPECT_EQ(Distinct(all, "u"), 9U);
  EXPECT_EQ(Distinct(three, "u"), 3U);
  EXPECT_EQ(Distinct(three, "v"), 0U);
  // The channels of an utterance share their draws, and nothing is drawn twice.
  run(three, 1, 64000);
  EXPECT_EQ(Distinct(three, "u"), 3U);
  // The same until the third pause; then the third voice is held.
  EXPECT_EQ(std::vector(a.begin(), a.begin() + 5 * 16000),
            std::vector(b.begin(), b.begin() + 5 * 16000));
  EXPECT_NE(a, b);
  // One for each speaker: pauses cost nothing.
  const NeuralMethod perm = VoiceIndMethod({}, 2.0, {"u"}, Strategy::kPerm);
  run(perm, 0, 64000);
  EXPECT_EQ(perm.DrawsMade("u"), (std::vector<TargetDraw>{{"s", ""}}));
}

TEST(LiveMethod, VoiceIndChoosesAfterAPauseByTheUtterancesOwnEmbedding) {
  // At such an epsilon the nearest voice of the drawn gender. What else the speaker has said does
  // not matter: the mean of all embeddings is another one.
  const NeuralMethod alone = VoiceIndMethod(9, 1e5, {"u"}),
                     among = VoiceIndMethod(9, 1e5, {"u", "v", "w", "x", "y", "z"});
  for (std::size_t pause = 0; pause < 9; ++pause) {
    EXPECT_EQ(among.Target("s", "u", pause).name, alone.Target("s", "u", pause).name) << pause;
  }
  // An utterance that was never heard has no target, and nothing stands for it unasked.
  EXPECT_THROW(alone.Target("s", "u after pause 1"), Error);
  EXPECT_THROW(alone.Target("s", "v"), Error);
}

TEST(SourceVoices, AMeanStandsForAnUnknownUtteranceOnlyWhereItIsAskedFor) {
  ModelledVoices voices;
  voices.prints.set.ids = {"a", "b"};
  voices.prints.set.speakers = {"s", "s"};
  voices.prints.set.vectors = Eigen::MatrixXf::Identity(2, 2);
  const SourceVoices strict(voices), guessing(voices, UnknownPrint::kMeanOfSpeaker);
  EXPECT_EQ(strict.Print("s", "b"), (std::vector<float>{0, 1}));
  EXPECT_THROW(strict.Print("s", "c"), Error);
  EXPECT_EQ(guessing.Print("s", "c"), (std::vector<float>{1, 1}));
  EXPECT_EQ(guessing.Print("s", "b"), (std::vector<float>{0, 1}));
  EXPECT_THROW(guessing.Print("t", "c"), Error);
}

TEST(LiveMethod, SaysWhatIsNotPossible) {
  EXPECT_THROW(ParseMethodText("mcadams:streaming"), Error);
  EXPECT_THROW(ParseMethodText("neural:streaming=1"), Error);
  EXPECT_THROW(ParseMethodText("neural:streaming,content=moonshine"), Error);
  const std::string near = "neural:streaming,target=voice-ind,eps=2";
  EXPECT_EQ(ParseMethodText(near + ",max-draws=3").Number("max-draws"), 3.0);
  EXPECT_NE(ParseMethodText(near + ",max-draws=3").Text(), ParseMethodText(near).Text());
  for (const char* count : {"0", "-1", "1.5", "many", "1e12"}) {
    EXPECT_THROW(ParseMethodText(near + ",max-draws=" + count), Error) << count;
  }
  EXPECT_THROW(ParseMethodText("neural:streaming,max-draws=3"), Error);
  EXPECT_THROW(ParseMethodText("neural:target=voice-ind,eps=2,max-draws=3"), Error);
  const auto check = [](const std::string& text, Strategy strategy) {
    const VoiceOptions voice = ParseMethodText(text);
    voice.Method().CheckStrategy(voice, strategy);
  };
  EXPECT_THROW(check(near, Strategy::kRandom), Error);
  EXPECT_NO_THROW(check(near, Strategy::kPerm));
  EXPECT_NO_THROW(check(near + ",max-draws=3", Strategy::kRandom));
  EXPECT_THROW(check(near + ",max-draws=3", Strategy::kPerm), Error);
}

}  // namespace
}  // namespace sotto
