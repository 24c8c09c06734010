// The nets in the program, on real speech and on what is none.
#include "voice/neural_nets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"
#include "dsp/fbank.h"
#include "onnx/testing.h"
#include "speaker/encoder.h"
#include "voice/neural_method.h"
#include "voice/neural_testing.h"

namespace sotto {

extern const std::string_view kNeuralContentBytes, kNeuralSynthBytes;
extern const std::string_view kNeuralStreamContentBytes, kNeuralStreamSynthBytes, kAdainBytes;

namespace {

using testing::Cosine;

namespace fs = std::filesystem;

constexpr const char* kSpeech = "data/speech/libri_eval/wav";

NeuralMethod Method(const std::string& text = "neural") {
  return {ParseMethodText(text),
          TargetDraws(Key::ForExperiment(ExperimentKey(5)), Strategy::kRandom, "neural")};
}

std::vector<float> Convert(const NeuralMethod& method, std::span<const float> x, int rate_hz,
                           const std::string& utterance = "u") {
  const auto transformer = method.MakeTransformer(rate_hz, 1.0, "s", utterance);
  std::vector<float> y;
  transformer->Push(x, y);
  transformer->Finish(y);
  return y;
}

// Every n-th recording of the evaluation corpus.
std::vector<fs::path> Recordings(std::size_t step) {
  std::vector<fs::path> files, some;
  for (const auto& entry : fs::directory_iterator(testing::SharedFolder() / kSpeech)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); i += step) some.push_back(files[i]);
  return some;
}

double Power(std::span<const float> x) {
  double sum = 0.0;
  for (const float v : x) sum += double{v} * v;
  return sum / static_cast<double>(std::max<std::size_t>(1, x.size()));
}

TEST(NeuralNets, AreInTheProgramWithinTheirSizes) {
  EXPECT_LE(kNeuralContentBytes.size(), std::size_t{8} << 20);
  EXPECT_LE(kNeuralSynthBytes.size(), std::size_t{16} << 20);
  const NeuralNets nets = OpenNeuralNets({});
  EXPECT_GE(nets.pool.voices.size(), 200u);
  EXPECT_EQ(nets.models, OpenNeuralNets({}).models);  // read once
  EXPECT_EQ(NetsFingerprint({}).size(), 16u);
}

// Long recordings go through in blocks of 20 s with 2.8 s around each (neural_voice.cc); attention
// hears further.
TEST(NeuralNets, ABlockSaysWhatTheWholeRecordingSays) {
  SOTTO_NEEDS_SHARED(kSpeech);
  std::vector<float> x;
  for (const fs::path& file : Recordings(12)) {
    const std::vector<float> more = ReadSound(file).channels[0];
    x.insert(x.end(), more.begin(), more.end());
    if (x.size() > 60 * 16000) break;
  }
  const Features mels = LogMel(x, FbankOptions::Encoder());
  ASSERT_GE(mels.frames, 5000u);
  const Eigen::Map<const Eigen::MatrixXf> all(mels.values.data(), 80,
                                              static_cast<Eigen::Index>(mels.frames));
  const VoiceNets& nets = *OpenNeuralNets({}).models;
  const Eigen::MatrixXf whole = nets.Encode(all, 2500).middleCols(1000, 1000);
  const Eigen::MatrixXf block =
      nets.Encode(all.middleCols(2 * 860, 2 * 1280), 1280).middleCols(140, 1000);
  const Eigen::VectorXf mean = whole.rowwise().mean();
  EXPECT_LT((block - whole).squaredNorm(), 1e-3 * (whole.colwise() - mean).squaredNorm());
}

TEST(NeuralNets, ThoseForAStreamKeepTheirSizeAndLatencyAndSpeakOnRealSpeech) {
  EXPECT_LE(kNeuralStreamContentBytes.size() + kNeuralStreamSynthBytes.size(),
            std::size_t{16} << 20);
  NeuralOptions options;
  options.streaming = true;
  EXPECT_NE(NetsFingerprint(options), NetsFingerprint({}));
  const NeuralMethod method = Method("neural:streaming");
  EXPECT_EQ(method.MakeTransformer(16000, 1.0, "s", "u")->LatencySamples(), 3639u);
  for (const int rate_hz : {8000, 44100, 48000, 96000, 192000}) {
    const auto transformer = method.MakeTransformer(rate_hz, 1.0, "s", "u");
    EXPECT_LE(static_cast<double>(transformer->LatencySamples()) / rate_hz, 0.250) << rate_hz;
  }
  SOTTO_NEEDS_SHARED(kSpeech);
  const std::vector<float> x = ReadSound(Recordings(80).front()).channels[0];
  const std::vector<float> y = Convert(method, x, 16000);
  ASSERT_EQ(y.size(), x.size());
  EXPECT_NEAR(10.0 * std::log10(Power(y) / Power(x)), 0.0, 3.0);
}

TEST(NeuralNets, TheOneOfMethodAdainKeepsItsSizeAndSpeaksOnRealSpeech) {
  EXPECT_LE(kAdainBytes.size(), std::size_t{8} << 20);
  SOTTO_NEEDS_SHARED(kSpeech);
  const NeuralMethod method(
      VoiceOptions("adain"),
      TargetDraws(Key::ForExperiment(ExperimentKey(5)), Strategy::kRandom, "adain"),
      NeuralKind::kAdain);
  const std::vector<float> x = ReadSound(Recordings(80).front()).channels[0];
  const std::vector<float> y = Convert(method, x, 16000);
  ASSERT_EQ(y.size(), x.size());
  EXPECT_NEAR(10.0 * std::log10(Power(y) / Power(x)), 0.0, 3.0);
}

// What of the level is kept: that of the speech over a while, not the noise of the room.
TEST(NeuralNets, TheNoiseBetweenTheWordsDoesNotSetTheLevelOfThePauses) {
  SOTTO_NEEDS_SHARED(kSpeech);
  const NeuralMethod method = Method();
  const std::vector<float> clean = ReadSound(Recordings(80).front()).channels[0];
  SeededRng random(3);
  std::vector<float> noisy = clean;
  const double amount = std::sqrt(Power(clean)) * 0.05;  // 26 dB below the speech
  for (float& x : noisy) x += static_cast<float>(amount * random.Gaussian());
  // The quietest tenth of the hops, below the whole.
  const auto floor_db = [](std::span<const float> x) {
    std::vector<double> hops;
    for (std::size_t i = 0; i + 160 <= x.size(); i += 160) hops.push_back(Power(x.subspan(i, 160)));
    std::sort(hops.begin(), hops.end());
    return 10.0 * std::log10(hops[hops.size() / 10] / Power(x) + 1e-8);
  };
  const double heard = floor_db(noisy) - floor_db(clean);
  const double left =
      floor_db(Convert(method, noisy, 16000)) - floor_db(Convert(method, clean, 16000));
  EXPECT_GT(heard, 6.0);
  EXPECT_LT(left, 0.5 * heard);
}

TEST(NeuralNets, ADamagedOrMissingFileIsNamed) {
  const testing::TemporaryFolder folder;
  NeuralOptions options;
  options.folder = folder.Path();
  const auto message = [&] {
    try {
      OpenNeuralNets(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message().find("content.safetensors"), std::string::npos) << message();
  WriteFileAtomically(folder.Path() / "content.safetensors",
                      std::string(kNeuralContentBytes.substr(0, 100000)));
  EXPECT_NE(message().find("content.safetensors"), std::string::npos) << message();
  WriteFileAtomically(folder.Path() / "content.safetensors", std::string(kNeuralContentBytes));
  EXPECT_NE(message().find("synth.safetensors"), std::string::npos) << message();
}

TEST(NeuralNets, SilenceStaysSilentAndNoiseDoesNotBecomeLoudSpeech) {
  const NeuralMethod method = Method();
  const std::vector<float> silence(24000, 0.0F);
  for (const float v : Convert(method, silence, 16000)) ASSERT_EQ(v, 0.0F);
  SeededRng random(1);
  std::vector<float> noise(32000), music(32000), clipped(32000);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    noise[i] = static_cast<float>(0.05 * random.Gaussian());
    double chord = 0.0;
    for (const double hz : {261.6, 329.6, 392.0}) {
      chord += std::sin(2.0 * std::numbers::pi * hz * t);
    }
    music[i] = static_cast<float>(0.1 * chord);
    clipped[i] = std::clamp(static_cast<float>(20.0 * chord), -1.0F, 1.0F);
  }
  for (const auto& x : {noise, music, clipped}) {
    for (const int rate : {8000, 16000, 44100}) {
      const std::vector<float> y = Convert(method, x, rate);
      ASSERT_EQ(y.size(), x.size());
      for (const float v : y) ASSERT_LE(std::abs(v), 1.0F) << rate;
      EXPECT_LT(Power(y), 1.6 * Power(x));  // 2 dB
    }
  }
}

TEST(NeuralNets, TheVoiceIsNearerToTheTargetsThanToTheSources) {
  SOTTO_NEEDS_SHARED(kSpeech);
  const NeuralMethod method = Method();
  const auto encoder = OpenEncoder(kDefaultEncoder);
  int all = 0, nearer = 0;
  double margin = 0.0;
  for (const fs::path& file : Recordings(24)) {
    const std::vector<float> x = ReadSound(file).channels[0];
    const std::vector<float> y = Convert(method, x, 16000, file.stem().string());
    ASSERT_EQ(y.size(), x.size());
    const std::vector<float> heard = encoder->Embed(y, 16000);
    const double target = Cosine(heard, method.Target("s", file.stem().string()).embedding);
    const double source = Cosine(heard, encoder->Embed(x, 16000));
    ++all;
    nearer += target > source ? 1 : 0;
    margin += target - source;
    EXPECT_NEAR(10.0 * std::log10(Power(y) / Power(x)), 0.0, 3.0) << file;
  }
  ASSERT_EQ(all, 10);
  EXPECT_GE(nearer, 8);  // docs/results.md has the share over all
  EXPECT_GT(margin / all, 0.2);
}

TEST(NeuralNets, WhereSpeechIsCutOffNoTailOfMadeSoundStays) {
  SOTTO_NEEDS_SHARED(kSpeech);
  const NeuralMethod method = Method();
  for (const fs::path& file : Recordings(80)) {
    std::vector<float> x = ReadSound(file).channels[0];
    // In the loudest tenth of a second of its first half.
    std::size_t cut = 1600;
    double most = 0.0;
    for (std::size_t i = 0; i + 1600 < x.size() / 2; i += 160) {
      const double power = Power(std::span(x).subspan(i, 1600));
      if (power > most) cut = i + 800;
      most = std::max(most, power);
    }
    std::fill(x.begin() + static_cast<std::ptrdiff_t>(cut), x.end(), 0.0F);
    const std::vector<float> y = Convert(method, x, 16000, file.stem().string());
    ASSERT_EQ(y.size(), x.size());
    EXPECT_EQ(Power(std::span(y).subspan(cut + 640)), 0.0) << file;
    EXPECT_NEAR(10.0 * std::log10(Power(std::span(y).first(cut)) / Power(std::span(x).first(cut))),
                0.0, 5.0)
        << file;
  }
}

// One synthesiser serves both: what Moonshine hears and what our own net hears lie close enough
// together to sound alike.
TEST(NeuralMethod, VoiceIndChoosesByTheSourceAndFailsWithoutAnEmbedding) {
  NeuralMethod method(
      ParseMethodText("neural:target=voice-ind,eps=1e5"),
      TargetDraws(Key::ForExperiment(ExperimentKey(3)), Strategy::kRandom, "neural"));
  EXPECT_TRUE(method.NeedsFit());
  ASSERT_NE(method.Needs().encoder, nullptr);
  EXPECT_THROW(method.Target("s", "1"), Error);  // not fitted
  const NeuralMethod pool(
      ParseMethodText("neural:target=pool"),
      TargetDraws(Key::ForExperiment(ExperimentKey(3)), Strategy::kRandom, "neural"));
  const SpeakerVoice some = pool.Target("s", "1");
  ModelledVoices sources;
  EmbeddingSet& set = sources.prints.set;
  set.ids = {"1", "2"};
  set.speakers = {"s", "s"};
  set.vectors.resize(static_cast<Eigen::Index>(some.embedding.size()), 2);
  for (Eigen::Index i = 0; i < 2; ++i) {
    set.vectors.col(i) = Eigen::Map<const Eigen::VectorXf>(
        some.embedding.data(), static_cast<Eigen::Index>(some.embedding.size()));
  }
  set.vectors(0, 0) += 0.01F;  // not quite a voice of the pool, which would be refused
  set.vectors(1, 1) += 0.01F;
  sources.prints.failures["3"] = "too short";
  method.Fit(SourceVoices(std::move(sources)));
  EXPECT_FALSE(method.NeedsFit());
  // The drawn gender is that of `pool`'s draw for the same utterance, and the voice the nearest.
  EXPECT_EQ(method.Target("s", "1").name, some.name);
  EXPECT_THROW(method.Target("s", "3"), Error);
  EXPECT_THROW(method.Target("another", "4"), Error);
  EXPECT_NO_THROW(method.RefuseSpeakers({"s"}));
  EXPECT_THROW(method.RefuseSpeakers({"s", some.name}), Error);
}

TEST(NeuralNets, StudentAndTeacherCanBeSwapped) {
  SOTTO_NEEDS_SHARED(kSpeech);
  SOTTO_NEEDS_MODEL("moonshine/encoder_model.onnx");
  const ModelFolders models = testing::TestModels();
  const MoonshineContent teacher(OnnxRuntime::Open(models), models);
  const NeuralNets nets = OpenNeuralNets({});
  const ContentNet& content = nets.models->Content();
  for (const fs::path& file : Recordings(80)) {
    const std::vector<float> x = ReadSound(file).channels[0];
    const std::int64_t frames = ContentFrames(static_cast<std::int64_t>(x.size()));
    const Eigen::MatrixXf taught = content.FromTeacher(teacher.States(x), frames);
    const Features mels = LogMel(x, FbankOptions::Encoder());
    const Eigen::MatrixXf own =
        content.Encode(Eigen::Map<const Eigen::MatrixXf>(mels.values.data(),
                                                         static_cast<Eigen::Index>(mels.dimension),
                                                         static_cast<Eigen::Index>(mels.frames)),
                       frames);
    ASSERT_EQ(taught.rows(), own.rows());
    ASSERT_EQ(taught.cols(), own.cols());
    const Eigen::MatrixXf centred = taught.colwise() - taught.rowwise().mean();
    EXPECT_LT((own - taught).squaredNorm(), 0.45 * centred.squaredNorm()) << file;
  }
}

}  // namespace
}  // namespace sotto
