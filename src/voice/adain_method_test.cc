// Method adain with a small untrained net, in a folder as the training leaves it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"
#include "nn/net_testing.h"
#include "voice/method_table.h"
#include "voice/neural_method.h"
#include "voice/neural_nets.h"
#include "voice/training_features.h"

namespace sotto {
namespace {

TensorFile SmallNet() {
  AdainOptions o;
  o.bottleneck = 6;
  o.embedding = 8;
  o.content = {16, 32, 2, 5, {1, 2}, {2}};
  o.speaker = {12, 24, 1, 5, {1}, {2}};
  o.decoder = {16, 32, 2, 5, {1}, {2}};
  return RandomAdain(o);
}

void WriteNets(const std::filesystem::path& folder, int size = 8) {
  WriteTensorFile(folder / kAdainFile, SmallNet(), StoredAs::kFloat16);
  SpeakerPool pool;
  SeededRng random(2);
  for (int i = 0; i < 30; ++i) {
    SpeakerVoice voice;
    voice.name = std::to_string(i);
    voice.gender = i % 2 == 0 ? Gender::kFemale : Gender::kMale;
    // Close together, as vectors that nothing tells to keep apart may be.
    for (int k = 0; k < size; ++k) {
      voice.embedding.push_back(static_cast<float>(3.0 + 0.3 * random.Gaussian()));
    }
    voice.log_f0_mean = std::log(i % 2 == 0 ? 210.0 : 110.0);
    voice.log_f0_deviation = 0.2;
    pool.voices.push_back(std::move(voice));
  }
  WriteTensorFile(folder / kAdainVoicesFile, WriteSpeakerPool(pool), StoredAs::kFloat16);
}

VoiceOptions InFolder(const std::filesystem::path& folder) {
  VoiceOptions options("adain");
  options.Set("neural", folder.string());
  return options;
}

const TargetDraws& Draws() {
  static const TargetDraws draws(Key::ForExperiment(ExperimentKey(1)), Strategy::kRandom, "adain");
  return draws;
}

std::vector<float> Buzz(std::size_t n, int rate_hz) {
  std::vector<float> x(n);
  double phase = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    phase += (120.0 + 20.0 * std::sin(3.0 * t)) / rate_hz;
    x[i] = static_cast<float>(0.3 * (phase - std::floor(phase) - 0.5));
  }
  return x;
}

std::vector<float> Convert(const VoiceMethod& method, const std::vector<float>& x, int rate_hz,
                           const std::string& utterance = "u", std::size_t step = 4096) {
  const auto transformer = method.MakeTransformer(rate_hz, 1.0, "s", utterance);
  std::vector<float> out;
  for (std::size_t at = 0; at < x.size(); at += step) {
    transformer->Push(std::span(x).subspan(at, std::min(step, x.size() - at)), out);
  }
  transformer->Finish(out);
  return out;
}

std::string Message(const VoiceOptions& options) {
  try {
    MakeVoiceMethod(options, Draws());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(AdainMethod, KeepsTheNumberOfSamplesAndSilence) {
  const testing::TemporaryFolder folder;
  WriteNets(folder.Path());
  const auto method = MakeVoiceMethod(InFolder(folder.Path()), Draws());
  EXPECT_FALSE(method->NeedsFit());
  for (const int rate : {8000, 16000, 44100}) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{159}, std::size_t{5000},
                                std::size_t{40001}}) {
      const std::vector<float> y = Convert(*method, Buzz(n, rate), rate);
      ASSERT_EQ(y.size(), n) << rate;
      for (const float v : y) ASSERT_TRUE(std::isfinite(v));
    }
  }
  for (const float v : Convert(*method, std::vector<float>(16000), 16000)) {
    ASSERT_NEAR(v, 0.0f, 1e-6f);
  }
}

TEST(AdainMethod, DoesNotDependOnHowSamplesArrive) {
  const testing::TemporaryFolder folder;
  WriteNets(folder.Path());
  const auto method = MakeVoiceMethod(InFolder(folder.Path()), Draws());
  const std::vector<float> x = Buzz(50 * 16000 + 77, 16000);  // three blocks
  const std::vector<float> a = Convert(*method, x, 16000, "u", 1000);
  const std::vector<float> b = Convert(*method, x, 16000, "u", x.size());
  ASSERT_EQ(a.size(), x.size());
  ASSERT_EQ(b.size(), x.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5f) << i;
}

TEST(AdainMethod, DrawsTargetsAsNeuralDoes) {
  const testing::TemporaryFolder folder;
  WriteNets(folder.Path());
  VoiceOptions options = InFolder(folder.Path());
  const std::vector<float> x = Buzz(20000, 16000);
  for (const char* target : {"generated", "pool"}) {
    options.Set("target", target);
    options.Set("bend", "2.0");
    const auto method = MakeVoiceMethod(options, Draws());
    const std::vector<float> a = Convert(*method, x, 16000, "1");
    EXPECT_EQ(a, Convert(*method, x, 16000, "1"));
    EXPECT_NE(a, Convert(*method, x, 16000, "2"));
  }
  options.Set("target-gender", "same");
  EXPECT_TRUE(MakeVoiceMethod(options, Draws())->NeedsFit());
}

TEST(AdainMethod, SaysWhatIsMissingOrDoesNotFit) {
  const testing::TemporaryFolder folder;
  VoiceOptions options = InFolder(folder.Path());
  EXPECT_NE(Message(options).find("adain.safetensors"), std::string::npos) << Message(options);
  WriteNets(folder.Path(), 9);
  EXPECT_NE(Message(options).find("embedding of 9"), std::string::npos) << Message(options);
  WriteTensorFile(folder / kAdainVoicesFile, SmallNet(), StoredAs::kFloat16);
  EXPECT_NE(Message(options).find("expected 'voices'"), std::string::npos) << Message(options);
  WriteFileAtomically(folder / kAdainFile, ReadTextFile(folder / kAdainFile).substr(0, 5000));
  EXPECT_NE(Message(options).find("adain.safetensors"), std::string::npos) << Message(options);
  EXPECT_THROW(ParseMethodText("adain:content=moonshine"), Error);
  EXPECT_THROW(ParseMethodText("adain:target=voice-ind,eps=1"), Error);
  EXPECT_THROW(ParseMethodText("adain:streaming"), Error);
  EXPECT_THROW(options.Method().SetUpStream(options, Strategy::kConst), Error);
  EXPECT_EQ(ParseMethodText("adain:target=pool,bend=1").Value("target"), "pool");
}

TEST(AdainMethod, IsNamedInTheRecordWithItsNets) {
  const testing::TemporaryFolder folder;
  WriteNets(folder.Path());
  const VoiceOptions options = InFolder(folder.Path());
  nlohmann::ordered_json record;
  options.Method().AddToRecord(options, {}, record);
  EXPECT_EQ(record.at("synthetic"), true);
  const std::string nets = AdainFingerprint(ReadNeuralOptions(options));
  EXPECT_EQ(nets.size(), 16u);
  const std::vector<std::pair<std::string, std::string>> facts = {{"content", "adain"},
                                                                  {"nets", nets}};
  EXPECT_EQ(options.Method().Facts(options), facts);
  const std::string before = options.Text();
  TensorFile other = SmallNet();
  other.tensors.at("decoder.head.bias").values[0] += 1.0f;
  WriteTensorFile(folder / kAdainFile, other, StoredAs::kFloat16);
  EXPECT_NE(options.Text(), before);
}

TEST(AdainMethod, MakesItsVoicesFromSpeech) {
  const AdainNet net(SmallNet());
  SpeechPack pack;
  FeaturePack features;
  features.state_size = 1;
  features.embedding_size = 2;
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> x = Buzz(8000 + 1000 * static_cast<std::size_t>(i), 16000 - 1000 * i);
    const std::string id = std::to_string(i);
    pack.utterances.push_back(
        {id, id, i == 0 ? Gender::kFemale : Gender::kMale, pack.samples.size(), x.size()});
    for (const float v : x) pack.samples.push_back(static_cast<std::int16_t>(32767.0f * v));
    features.ids.push_back(id);
    features.utterances.push_back(
        {{0},
         std::vector<float>(static_cast<std::size_t>(PitchFrames(x.size())), 120.0f),
         {1.0f, 0.0f}});
  }
  UseSpeakerVectors(pack, net, 2, features);
  EXPECT_EQ(features.encoder, Fingerprint(net.File()));
  const SpeakerPool pool = MakeSpeakerPool(pack, features);
  ASSERT_EQ(pool.voices.size(), 3u);
  for (const SpeakerVoice& voice : pool.voices) {
    ASSERT_EQ(voice.embedding.size(), 8u);
    double square = 0.0;
    for (const float v : voice.embedding) square += double{v} * v;
    EXPECT_NEAR(square, 1.0, 1e-4);
  }
  EXPECT_NE(pool.voices[0].embedding, pool.voices[1].embedding);
}

}  // namespace
}  // namespace sotto
