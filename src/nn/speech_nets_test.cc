#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"
#include "nn/adain.h"
#include "nn/content.h"
#include "nn/eigen_backend.h"
#include "nn/net_testing.h"
#include "nn/synth.h"

namespace sotto {
namespace {

Eigen::MatrixXf Noise(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  SeededRng random(seed);
  Eigen::MatrixXf x(rows, cols);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.Gaussian());
  return x;
}

ContentOptions SmallContent() {
  ContentOptions o;
  o.mels = 12;
  o.bottleneck = 6;
  o.teacher = 10;
  o.body = {16, 32, 3, 5, {1, 2}, {2, 1}};
  return o;
}

SynthOptions SmallSynth() {
  SynthOptions o;
  o.content = 6;
  o.embedding = 8;
  o.condition = 4;
  o.body = {16, 32, 2, 5, {1, 2}, {2, 1}};
  return o;
}

AdainOptions SmallAdain() {
  AdainOptions o;
  o.mels = 12;
  o.bottleneck = 6;
  o.embedding = 8;
  o.content = {16, 32, 3, 5, {1, 2}, {2}};
  o.speaker = {12, 24, 2, 5, {1}, {2}};
  o.decoder = {16, 32, 2, 5, {1, 2}, {2}};
  return o;
}

TEST(SpeechOps, DepthwiseConvolutionIsItsDefinition) {
  for (const std::int64_t ahead : {0, 2, 4}) {
    const DepthwiseShape shape{3, 5, 2, ahead};
    TensorFile file;
    AddRandom(file, "d.weight", {3, 5}, 1);
    AddRandom(file, "d.bias", {3}, 2);
    const Eigen::MatrixXf x = Noise(3, 20, 3);
    const Eigen::MatrixXf y = EigenBackend(file).DepthwiseConv(x, "d", shape);
    for (int c = 0; c < 3; ++c) {
      for (int t = 0; t < 20; ++t) {
        double sum = file.tensors.at("d.bias").values[static_cast<std::size_t>(c)];
        for (int k = 0; k < 5; ++k) {
          const auto from = t + 2 * (k - 4 + static_cast<int>(ahead));
          if (from >= 0 && from < 20) {
            const auto tap = 5 * static_cast<std::size_t>(c) + static_cast<std::size_t>(k);
            sum += double{file.tensors.at("d.weight").values[tap]} * x(c, from);
          }
        }
        EXPECT_NEAR(y(c, t), sum, 1e-5);
      }
    }
  }
}

TEST(SpeechOps, ZeroPaddingLooksAheadAsFarAsItIsTold) {
  for (const std::int64_t ahead : {0, 1, 4}) {
    TensorFile file;
    AddRandom(file, "c.weight", {2, 3, 5}, 1);
    AddRandom(file, "c.bias", {2}, 2);
    Eigen::MatrixXf x = Noise(3, 30, 3);
    const ConvShape shape{3, 2, 5, 1, Padding::kZero, ahead};
    const Eigen::MatrixXf before = EigenBackend(file).Conv1d(x, "c", shape);
    ASSERT_EQ(before.cols(), 30);
    x.col(20).array() += 1.0f;
    const Eigen::MatrixXf after = EigenBackend(file).Conv1d(x, "c", shape);
    for (Eigen::Index t = 0; t < 30; ++t) {
      const bool sees = t >= 20 - ahead && t <= 20 + 4 - ahead;
      EXPECT_EQ((after.col(t) - before.col(t)).norm() > 1e-6f, sees) << ahead << " " << t;
    }
  }
}

TEST(SpeechOps, SpectraAreTheirDefinitionAndComeBack) {
  const StftShape shape{64, 16};
  const Eigen::MatrixXf x = Noise(1, 160, 4);
  const Eigen::MatrixXf spectrum = EigenBackend::Stft(x, shape);
  ASSERT_EQ(spectrum.rows(), 66);
  ASSERT_EQ(spectrum.cols(), 10);
  for (int t = 0; t < 10; ++t) {
    for (int k = 0; k <= 32; ++k) {
      std::complex<double> sum = 0.0;
      for (int i = 0; i < 64; ++i) {
        const int at = 16 * t + 8 - 32 + i;
        if (at < 0 || at >= 160) continue;
        const double hann = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * i / 64.0);
        sum += hann * x(0, at) * std::polar(1.0, -2.0 * std::numbers::pi * i * k / 64.0);
      }
      EXPECT_NEAR(spectrum(k, t), sum.real(), 1e-4);
      EXPECT_NEAR(spectrum(33 + k, t), sum.imag(), 1e-4);
    }
  }
  EXPECT_LT((EigenBackend::InverseStft(spectrum, shape) - x).cwiseAbs().maxCoeff(), 1e-5f);
  EXPECT_THROW(EigenBackend::Stft(Noise(1, 161, 1), shape), Error);
}

TEST(SpeechOps, UnfoldingIsLinearInTime) {
  Eigen::MatrixXf x(1, 5);
  x << 0, 2, 4, 6, 8;
  const Eigen::MatrixXf y = EigenBackend::UnfoldPairs(x);
  // Content frame j lies between frames 2j and 2j + 1 of 10 ms.
  for (int t = 1; t < 9; ++t) EXPECT_NEAR(y(0, t), t - 0.5, 1e-6);
}

TEST(SpeechOps, InstanceNormalisationLeavesNoMeanAndVarianceOne) {
  Eigen::MatrixXf x = Noise(4, 200, 8);
  x.row(1) = (x.row(1).array() * 20.0f + 100.0f).matrix();
  x.row(3).setConstant(7.0f);
  const Eigen::MatrixXf y = EigenBackend::InstanceNorm(x);
  for (Eigen::Index c = 0; c < 4; ++c) {
    EXPECT_NEAR(y.row(c).mean(), 0.0f, 1e-5f);
    EXPECT_NEAR(y.row(c).squaredNorm() / 200.0f, c == 3 ? 0.0f : 1.0f, 1e-3f);
  }
}

TEST(SpeechOps, AttentionIsItsDefinition) {
  const AttentionShape shape{2, 4, 3, 20};
  constexpr int kFrames = 300;  // more than one product's
  const Eigen::MatrixXf q = Noise(8, kFrames, 1), k = Noise(8, kFrames, 2),
                        v = Noise(6, kFrames, 3);
  const Eigen::MatrixXf y = EigenBackend::Attend(q, k, v, shape);
  ASSERT_EQ(y.rows(), 6);
  ASSERT_EQ(y.cols(), kFrames);
  // A key's pair of numbers as a complex one, turned by the distance between the frames.
  const auto pair = [](const Eigen::MatrixXf& x, int row, int t) {
    return std::complex<double>(x(row, t), x(row + 1, t));
  };
  for (const int t : {0, 7, 130, 299}) {
    for (int head = 0; head < 2; ++head) {
      double sum = 0.0, heard[3] = {};
      for (int s = std::max(0, t - 20); s <= std::min(kFrames - 1, t + 20); ++s) {
        double score = 0.0;
        for (int i = 0; i < 2; ++i) {
          const double angle = (t - s) * std::pow(10000.0, -0.5 * i);
          score += (pair(q, 4 * head + 2 * i, t) * std::conj(pair(k, 4 * head + 2 * i, s)) *
                    std::polar(1.0, angle))
                       .real();
        }
        const double share = std::exp(score / 2.0);
        sum += share;
        for (int c = 0; c < 3; ++c) heard[c] += share * v(3 * head + c, s);
      }
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(y(3 * head + c, t), heard[c] / sum, 1e-4) << t;
    }
  }
}

TEST(Source, HasPowerOneAndItsHarmonics) {
  for (const double f0 : {80.0, 150.0, 437.0}) {
    double power = 0.0, slow = 0.0;
    const auto harmonics = static_cast<int>(7900.0 / f0);
    for (int i = 0; i < 16000; ++i) {
      const double phase = 2.0 * std::numbers::pi * f0 * i / 16000.0;
      const double s = HarmonicSample(phase, f0);
      power += s * s / 16000.0;
      if (i == 777) {
        for (int k = 1; k <= harmonics; ++k) slow += std::cos(k * phase);
        EXPECT_NEAR(s, slow * std::sqrt(2.0 / harmonics), 1e-6);
      }
    }
    EXPECT_NEAR(power, 1.0, 0.02);
  }
}

TEST(Source, FillsUnvoicedStretchesBetweenTheirNeighbours) {
  const std::vector<double> f0 = {0, 0, 100, 0, 0, 0, 200, 0};
  const std::vector<double> filled = FillUnvoiced(f0);
  EXPECT_EQ(filled[0], 100.0);
  EXPECT_NEAR(filled[4], 100.0 * std::sqrt(2.0), 1e-9);
  EXPECT_EQ(filled[7], 200.0);
  EXPECT_EQ(FillUnvoiced(std::vector<double>(3, 0.0))[1], kNeutralF0Hz);
  EXPECT_TRUE(FillUnvoiced({}).empty());
}

TEST(Content, SeesAsFarAsItSays) {
  for (const bool attends : {false, true}) {
    ContentOptions options = SmallContent();
    if (attends) {
      options.attend_every = 2;
      options.attention = {2, 4, 3, 5};
    }
    const ContentNet net(RandomContent(options));
    ASSERT_EQ(ReadContentOptions(net.File()).attend_every, options.attend_every);
    const Reach sees = options.Sees();
    // The stem, ahead × dilation of three blocks, and attention behind the second.
    EXPECT_EQ(sees.right, 2 + 2 + 2 + 2 + (attends ? 5 : 0));
    Eigen::MatrixXf mels = Noise(12, 120, 6);
    const Eigen::MatrixXf before = net.Encode(mels, 60);
    mels.col(60).array() += 3.0f;  // content frame 30
    const Eigen::MatrixXf after = net.Encode(mels, 60);
    for (Eigen::Index t = 0; t < 60; ++t) {
      if (t < 30 - sees.right || t > 30 + sees.left) {
        EXPECT_EQ((after.col(t) - before.col(t)).norm(), 0.0f) << t;
      }
    }
    EXPECT_GT((after.col(30 - sees.right) - before.col(30 - sees.right)).norm(), 0.0f);
    EXPECT_GT((after.col(30 + sees.left) - before.col(30 + sees.left)).norm(), 0.0f);
  }
}

TEST(Content, TeacherStatesLandOnContentFrames) {
  // A ramp in time is the same ramp at the other rate.
  Eigen::MatrixXf states(1, 50);
  for (int i = 0; i < 50; ++i) states(0, i) = static_cast<float>(447 + 384 * i);
  const Eigen::MatrixXf y = InterpolateTeacher(states, 55);
  for (int j = 1; j < 55; ++j) EXPECT_NEAR(y(0, j), 320 * j + 160, 0.01);
  EXPECT_EQ(y(0, 0), 447.0f);
  EXPECT_THROW(InterpolateTeacher(Eigen::MatrixXf(288, 0), 3), Error);
}

TEST(Synth, PiecesGiveWhatTheWholeGives) {
  const SynthNet net(RandomSynth(SmallSynth()));
  constexpr int kFrames = 130;
  const Eigen::MatrixXf content = Noise(6, kFrames / 2, 7);
  const std::vector<float> embedding = {1, -2, 0.5, 3, 0, 1, 1, -1};
  std::vector<double> f0(kFrames);
  for (int t = 0; t < kFrames; ++t)
    f0[static_cast<std::size_t>(t)] = 120.0 + 30.0 * std::sin(t / 9.0);
  const auto run = [&](std::int64_t chunk) {
    SynthStream stream(net, embedding, 5, chunk);
    std::vector<float> out;
    for (int j = 0; j < kFrames / 2; ++j) {
      const auto t = 2 * static_cast<std::size_t>(j);
      const std::array<double, 2> pitch = {f0[t], f0[t + 1]};
      const std::array<bool, 2> voiced = {j % 3 == 0, j % 5 == 0};
      stream.Push(content.col(j), pitch, voiced, out);
    }
    stream.Finish(out);
    return out;
  };
  const std::vector<float> whole = run(1000);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(kFrames * 160));
  float largest = 0.0f;
  for (const float v : whole) largest = std::max(largest, std::abs(v));
  ASSERT_GT(largest, 1e-3f);
  for (const std::int64_t chunk : {6, 31, 50}) {
    const std::vector<float> pieces = run(chunk);
    ASSERT_EQ(pieces.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      ASSERT_NEAR(pieces[i], whole[i], 2e-5f * largest + 1e-6f) << chunk << " " << i;
    }
  }
}

// A stream of made-up content in the random net's voice.
std::vector<float> Stream(const AdainNet& net, int frames, std::int64_t chunk) {
  const Eigen::MatrixXf content = EigenBackend::InstanceNorm(Noise(6, frames / 2, 7));
  SynthStream stream(net, std::vector<float>{1, -2, 0.5, 3, 0, 1, 1, -1}, 5, chunk);
  std::vector<float> out;
  for (int j = 0; j < frames / 2; ++j) {
    const std::array<double, 2> pitch = {120.0 + j % 30, 121.0 + j % 30};
    const std::array<bool, 2> voiced = {j % 3 == 0, j % 5 == 0};
    stream.Push(content.col(j), pitch, voiced, out);
  }
  stream.Finish(out);
  return out;
}

TEST(Adain, ContentForgetsWhatStaysTheSame) {
  const AdainNet net(RandomAdain(SmallAdain()));
  const Eigen::MatrixXf mels = (Noise(12, 400, 5).array() * 4.0f + 10.0f).matrix();
  const Eigen::MatrixXf z = net.Encode(mels, 200);
  ASSERT_EQ(z.rows(), 6);
  ASSERT_EQ(z.cols(), 200);
  for (Eigen::Index c = 0; c < 6; ++c) {
    EXPECT_NEAR(z.row(c).mean(), 0.0f, 1e-4f);
    EXPECT_NEAR(z.row(c).squaredNorm() / 200.0f, 1.0f, 1e-2f);
  }
  // A channel: another gain in each band, all the time. Zeros beyond the ends know nothing of it.
  const Eigen::VectorXf gains = Noise(12, 1, 6) * 3.0f;
  const Eigen::MatrixXf other = net.Encode(mels.colwise() + gains, 200);
  const auto middle = [](const Eigen::MatrixXf& x) { return x.middleCols(40, 120); };
  EXPECT_LT((middle(other) - middle(z)).norm(), 0.15f * middle(z).norm());
  EXPECT_NEAR(net.Speaker(mels).norm(), 1.0f, 1e-5f);
  EXPECT_GT((net.Speaker(mels) - net.Speaker(mels.colwise() + gains)).norm(), 1e-3f);
  EXPECT_THROW(net.Encode(Noise(11, 20, 1), 10), Error);
}

TEST(Adain, StreamsInPiecesWithoutAStep) {
  const AdainNet net(RandomAdain(SmallAdain()));
  constexpr int kFrames = 1400;
  const std::vector<float> whole = Stream(net, kFrames, 0), pieces = Stream(net, kFrames, 500);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(kFrames * 160));
  ASSERT_EQ(pieces.size(), whole.size());
  double power = 0.0, difference = 0.0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    power += double{whole[i]} * whole[i];
    difference += std::pow(double{whole[i]} - pieces[i], 2);
  }
  ASSERT_GT(power, 0.0);
  EXPECT_LT(difference, 0.1 * power);  // other means and variances
  EXPECT_EQ(Stream(net, 2, 0).size(), 320u);
}

TEST(Synth, SizesFitTheirLimits) {
  const auto count = [](const TensorFile& file) {
    std::size_t n = 0;
    for (const auto& [name, tensor] : file.tensors) n += tensor.values.size();
    return n;
  };
  const std::size_t content = count(RandomContent({})), synth = count(RandomSynth({}));
  EXPECT_LT(content * 2, std::size_t{8} << 20);
  EXPECT_GT(content, 3'000'000u);
  EXPECT_LT(synth * 2, std::size_t{16} << 20);
  EXPECT_GT(synth, 6'500'000u);
  const std::size_t adain = count(RandomAdain({}));
  EXPECT_LT(adain * 2, std::size_t{8} << 20);
  EXPECT_GT(adain, 3'000'000u);
}

TEST(SpeechNets, DamagedFilesAreErrors) {
  TensorFile content = RandomContent(SmallContent());
  content.tensors.erase("head.bias");
  EXPECT_THROW(ContentNet{content}, Error);
  TensorFile no_bottleneck = RandomContent(SmallContent());
  no_bottleneck.tensors.erase("bottleneck.weight");
  EXPECT_THROW(ContentNet{no_bottleneck}, Error);
  TensorFile synth = RandomSynth(SmallSynth());
  ContentOptions attends = SmallContent();
  attends.attend_every = 1;
  TensorFile deaf = RandomContent(attends);
  deaf.tensors.erase("attend.2.out.bias");
  EXPECT_THROW(ContentNet{deaf}, Error);
  attends.attention.key = 3;
  EXPECT_THROW(ReadContentOptions(RandomContent(attends)), Error);
  synth.metadata["sotto.options"] = "{\"content\": -1}";
  EXPECT_THROW(SynthNet{synth}, Error);
  synth.metadata["sotto.kind"] = "ecapa";
  EXPECT_THROW(SynthNet{synth}, Error);
  TensorFile adain = RandomAdain(SmallAdain());
  EXPECT_THROW(SynthNet{adain}, Error);
  adain.tensors.erase("speaker.head.bias");
  EXPECT_THROW(AdainNet{adain}, Error);
  EXPECT_THROW(VoiceCondition(std::vector<float>(8, 0.0f)), Error);
}

}  // namespace
}  // namespace sotto
