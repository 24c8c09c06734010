#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/random.h"
#include "base/testing.h"
#include "dsp/fbank.h"
#include "learn/augment.h"
#include "learn/encoder_trainer.h"
#include "learn/torch_backend.h"
#include "learn/torch_mel.h"
#include "nn/net_testing.h"
#include "speaker/default_encoder.h"

namespace sotto {
namespace {

std::vector<float> Vowel(double f0_hz, double formant_hz, double seconds, std::uint64_t seed) {
  SeededRng random(seed);
  const auto n = static_cast<std::size_t>(seconds * 16000);
  std::vector<float> x(n);
  double a = 0.0, b = 0.0, phase = 0.0;
  const double r = 0.98, c = 2.0 * r * std::cos(2.0 * std::numbers::pi * formant_hz / 16000.0);
  for (std::size_t i = 0; i < n; ++i) {
    phase += f0_hz / 16000.0;
    const double pulse = phase >= 1.0 ? 1.0 : 0.0;
    if (phase >= 1.0) phase -= 1.0;
    const double y = pulse + 0.02 * random.Gaussian() + c * a - r * r * b;
    b = a;
    a = y;
    x[i] = static_cast<float>(0.05 * y);
  }
  return x;
}

torch::Tensor Row(const std::vector<float>& x) { return torch::tensor(x).unsqueeze(0); }

TEST(TorchMel, EqualsTheFeaturesInUse) {
  const std::vector<float> x = Vowel(120.0, 700.0, 1.234, 1);
  const Features features = LogMel(x, FbankOptions::Encoder());
  const torch::Tensor mels = TorchMel({}, torch::kCPU)(Row(x)).squeeze(0);
  ASSERT_EQ(mels.size(0), static_cast<std::int64_t>(features.dimension));
  ASSERT_EQ(mels.size(1), static_cast<std::int64_t>(features.frames));
  const auto values = mels.accessor<float, 2>();
  double square = 0.0, largest = 0.0;
  for (std::size_t t = 0; t < features.frames; ++t) {
    for (std::size_t m = 0; m < features.dimension; ++m) {
      const double mine = features.values[t * features.dimension + m];
      square += mine * mine;
      largest = std::max(
          largest,
          std::abs(mine - values[static_cast<std::int64_t>(m)][static_cast<std::int64_t>(t)]));
    }
  }
  const double rms = std::sqrt(square / static_cast<double>(features.values.size()));
  EXPECT_LT(largest, 2e-4 * rms);
}

void ExpectBackendsAgree(const TensorFile& file, const Eigen::MatrixXf& mels) {
  const EncoderNet net(file);
  const std::vector<float> used = net.Embed(mels);
  torch::NoGradGuard no_grad;
  TorchBackend backend(torch::kCPU);
  backend.Load(file);
  const torch::Tensor x =
      torch::from_blob(const_cast<float*>(mels.data()), {mels.cols(), mels.rows()})
          .t()
          .contiguous()
          .unsqueeze(0);
  const EncoderNetOptions options = ReadEncoderNetOptions(file);
  const torch::Tensor y =
      std::holds_alternative<EcapaOptions>(options)
          ? Ecapa<TorchBackend>(std::get<EcapaOptions>(options), backend).Forward(x)
          : Xvector<TorchBackend>(std::get<XvectorOptions>(options), backend).Forward(x);
  ASSERT_EQ(y.numel(), static_cast<std::int64_t>(used.size()));
  const torch::Tensor flat = y.reshape({-1}).contiguous();
  double square = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const double theirs = flat[static_cast<std::int64_t>(i)].item<double>();
    square += theirs * theirs;
    largest = std::max(largest, std::abs(theirs - used[i]));
  }
  EXPECT_LT(largest, 1e-4 * std::sqrt(square / static_cast<double>(used.size())));
}

Eigen::MatrixXf MelsOfVowel(int bands) {
  FbankOptions options = FbankOptions::Encoder();
  options.bins = bands;
  const Features f = LogMel(Vowel(140.0, 600.0, 1.5, 2), options);
  return Eigen::Map<const Eigen::MatrixXf>(f.values.data(), static_cast<Eigen::Index>(f.dimension),
                                           static_cast<Eigen::Index>(f.frames));
}

TEST(Backends, GiveTheSameEmbeddingWithRandomWeights) {
  EcapaOptions ecapa;
  ecapa.channels = 64;
  ecapa.aggregation = 96;
  ExpectBackendsAgree(RandomNet(ecapa, true), MelsOfVowel(80));
  XvectorOptions xvector;
  xvector.channels = 32;
  xvector.pooled = 48;
  ExpectBackendsAgree(RandomNet(xvector, true), MelsOfVowel(24));
}

TEST(Backends, GiveTheSameEmbeddingWithTheCommittedWeightsOnSpeech) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval");
  const TensorFile file = ParseTensorFile(kDefaultEncoderBytes, "default encoder");
  const auto folder = testing::SharedFolder() / "data/speech/libri_eval/wav";
  const Sound sound = ReadSound(folder / "1089-134686-0000.flac");
  const Features f = LogMel(sound.channels.front(), FbankOptions::Encoder());
  ExpectBackendsAgree(file, Eigen::Map<const Eigen::MatrixXf>(
                                f.values.data(), static_cast<Eigen::Index>(f.dimension),
                                static_cast<Eigen::Index>(f.frames)));
}

TEST(Augment, KeepsShapeAndStaysFinite) {
  torch::manual_seed(3);
  const torch::Tensor x = torch::cat(
      {Row(Vowel(120, 700, 1.0, 3)), Row(Vowel(220, 500, 1.0, 4)), torch::zeros({1, 16000})});
  const torch::Tensor noises = torch::randn({4, 8000}) * 0.001;
  AugmentOptions all;
  all.reverb = all.channel = all.band_limit = all.noise = all.babble = all.mu_law = 1.0;
  const torch::Tensor y = Augment(x, noises, all);
  EXPECT_EQ(y.sizes(), x.sizes());
  EXPECT_TRUE(torch::isfinite(y).all().item<bool>());
  EXPECT_GT((y - x).abs().mean().item<double>(), 1e-4);
  const torch::Tensor same = Augment(x, noises, {0, 0, 0, 0, 0, 0});
  EXPECT_LT((same - x).abs().max().item<double>(), 1e-5);
}

TEST(Augment, SpeedMovesAToneByItsFactor) {
  constexpr std::int64_t kSamples = 8000;
  const torch::Tensor t = torch::arange(8800) / 16000.0;
  const torch::Tensor fast = ChangeSpeed(
      torch::sin(2.0 * std::numbers::pi * 1000.0 * t).to(torch::kFloat32).unsqueeze(0), kSamples);
  ASSERT_EQ(fast.size(1), kSamples);
  const std::int64_t peak = torch::fft::rfft(fast).abs().argmax(1).item<std::int64_t>();
  EXPECT_NEAR(static_cast<double>(peak) * 16000.0 / kSamples, 1100.0, 3.0);
}

// Speakers that differ in formant and pitch.
SpeechPack SyntheticSpeakers(int speakers, int utterances) {
  SpeechPack pack;
  for (int s = 0; s < speakers; ++s) {
    for (int u = 0; u < utterances; ++u) {
      const auto seed = static_cast<std::uint64_t>(s) * 100 + static_cast<std::uint64_t>(u);
      const std::vector<float> x = Vowel(90.0 + 9.0 * s, 400.0 + 120.0 * s, 1.2, seed);
      PackedUtterance utterance;
      utterance.id = std::to_string(s) + "-" + std::to_string(u);
      utterance.speaker = std::to_string(s);
      utterance.begin = pack.samples.size();
      utterance.count = x.size();
      pack.utterances.push_back(utterance);
      for (const float v : x) {
        pack.samples.push_back(
            static_cast<std::int16_t>(std::lround(32767.0f * std::clamp(v, -1.0f, 1.0f))));
      }
    }
  }
  return pack;
}

EncoderTraining TinyTraining() {
  EncoderTraining t;
  EcapaOptions net;
  net.channels = 16;
  net.aggregation = 16;
  net.attention = 8;
  net.squeeze = 8;
  net.embedding = 16;
  t.net = net;
  t.batch_speakers = 8;
  t.frames = 50;
  t.run.steps = 120;
  t.run.learning_rate = 4e-3;
  t.run.warm_up = 5;
  t.run.validate_every = 60;
  t.hold_out.count = 4;
  t.augmented = 0.1;
  t.run.average = 0.9;
  return t;
}

TEST(EncoderTraining, LearnsToTellHeldOutVoicesApartAndGoesOnFromItsFile) {
  const SpeechPack pack = SyntheticSpeakers(14, 4);
  const TrainedEncoder trained = TrainEncoder(pack, TinyTraining(), nullptr);
  ASSERT_EQ(trained.curve.size(), 3u);
  EXPECT_LT(trained.curve.back()["loss"], trained.curve[1]["loss"]);
  double best = 1.0;
  for (const TrainingPoint& p : trained.curve) best = std::min(best, p["held_out_eer"]);
  EXPECT_LT(best, 0.2);
  const EncoderNet net(trained.file);
  EXPECT_EQ(net.Dimension(), 16);
  EncoderTraining more = TinyTraining();
  more.net = ReadEncoderNetOptions(trained.file);
  more.run.steps = 5;
  const TrainedEncoder tuned = TrainEncoder(pack, more, &trained.file);
  EXPECT_NEAR(tuned.curve.front()["held_out_eer"], best, 0.02);  // it begins where the file ended
}

TEST(EncoderTraining, StoppedAndTakenUpIsAsInOneGo) {
  const testing::TemporaryFolder folder;
  const SpeechPack pack = SyntheticSpeakers(8, 3);
  EncoderTraining t = TinyTraining();
  t.hold_out.count = 2;
  t.run.final_learning_rate = t.run.learning_rate;  // nothing depends on where the end is
  t.margin = 0.0;
  t.run.keep_best = false;
  t.run.steps = 6;
  const TrainedEncoder whole = TrainEncoder(pack, t, nullptr);
  t.run.steps = 2;
  t.run.checkpoint = folder / "checkpoint";
  TrainEncoder(pack, t, nullptr);
  t.run.steps = 6;
  t.run.resume = t.run.checkpoint;
  const TrainedEncoder more = TrainEncoder(pack, t, nullptr);
  EXPECT_EQ(Fingerprint(more.file), Fingerprint(whole.file));
  EXPECT_EQ(more.best_step, 6);
}

TEST(EncoderTraining, HoldsOutWhomItIsToldAndRefusesWhatCannotBe) {
  const SpeechPack pack = SyntheticSpeakers(6, 3);
  EncoderTraining t = TinyTraining();
  t.hold_out.names = {"nobody"};
  EXPECT_THROW(TrainEncoder(pack, t, nullptr), Error);
  t.hold_out.names.clear();
  t.hold_out.count = 60;
  EXPECT_THROW(TrainEncoder(pack, t, nullptr), Error);
  t.hold_out.count = 4;
  t.margin = 2.0;
  EXPECT_THROW(t.Validate(), Error);
}

TEST(EncoderTraining, DrawsTheLengthOfCropsWhereAsked) {
  const SpeechPack pack = SyntheticSpeakers(8, 3);
  EncoderTraining t = TinyTraining();
  t.hold_out.count = 2;
  t.run.steps = 4;
  t.run.validate_every = 4;
  const TrainedEncoder same = TrainEncoder(pack, t, nullptr);
  t.least_frames = t.frames / 2;
  const TrainedEncoder drawn = TrainEncoder(pack, t, nullptr);
  EXPECT_NE(drawn.curve.back()["loss"], same.curve.back()["loss"]);
  EXPECT_NE(
      drawn.file.Meta("sotto.training").find("\"least_frames\":" + std::to_string(t.least_frames)),
      std::string::npos);
  t.least_frames = 10;
  EXPECT_THROW(t.Validate(), Error);
  t.least_frames = t.frames + 1;
  EXPECT_THROW(t.Validate(), Error);
}

}  // namespace
}  // namespace sotto
