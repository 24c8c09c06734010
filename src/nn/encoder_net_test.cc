#include "nn/encoder_net.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "nn/eigen_backend.h"
#include "nn/net_testing.h"

namespace sotto {
namespace {

Eigen::MatrixXf Noise(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  SeededRng random(seed);
  Eigen::MatrixXf x(rows, cols);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    x.data()[i] = static_cast<float>(random.Gaussian());
  }
  return x;
}

// The definition, sample by sample.
Eigen::MatrixXf SlowConv(const Eigen::MatrixXf& x, const TensorFile& file, const ConvShape& s) {
  const auto& w = file.tensors.at("c.weight").values;
  const auto& b = file.tensors.at("c.bias").values;
  const std::int64_t side = s.padding == Padding::kNone ? 0 : (s.kernel - 1) * s.dilation / 2;
  const std::int64_t frames = x.cols() + 2 * side - (s.kernel - 1) * s.dilation;
  Eigen::MatrixXf y(s.out, frames);
  for (std::int64_t o = 0; o < s.out; ++o) {
    for (std::int64_t t = 0; t < frames; ++t) {
      double sum = b[static_cast<std::size_t>(o)];
      for (std::int64_t i = 0; i < s.in; ++i) {
        for (std::int64_t k = 0; k < s.kernel; ++k) {
          std::int64_t at = t + k * s.dilation - side;
          double value = 0.0;
          if (s.padding == Padding::kReflect) {
            if (at < 0) at = -at;
            if (at >= x.cols()) at = 2 * (x.cols() - 1) - at;
          }
          if (at >= 0 && at < x.cols()) value = x(i, at);
          sum += value * w[static_cast<std::size_t>((o * s.in + i) * s.kernel + k)];
        }
      }
      y(o, t) = static_cast<float>(sum);
    }
  }
  return y;
}

TEST(EigenBackend, ConvolutionIsItsDefinition) {
  for (const Padding padding : {Padding::kNone, Padding::kReflect, Padding::kZero}) {
    for (const std::int64_t kernel : {1, 3, 5}) {
      const ConvShape shape{4, 6, kernel, 2, padding};
      TensorFile file;
      AddRandom(file, "c.weight", {6, 4, kernel}, 7);
      AddRandom(file, "c.bias", {6}, 8);
      const Eigen::MatrixXf x = Noise(4, 23, 9);
      const Eigen::MatrixXf fast = EigenBackend(file).Conv1d(x, "c", shape);
      const Eigen::MatrixXf slow = SlowConv(x, file, shape);
      ASSERT_EQ(fast.cols(), slow.cols());
      EXPECT_LT((fast - slow).cwiseAbs().maxCoeff(), 1e-5f);
    }
  }
}

TEST(EigenBackend, StatisticsAndSoftmaxAreTheirDefinitions) {
  const Eigen::MatrixXf x = Noise(3, 50, 1);
  const Eigen::MatrixXf w = EigenBackend::SoftmaxOverTime(Noise(3, 50, 2) * 30.0f);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(w.row(c).sum(), 1.0f, 1e-5f);
    double mean = 0.0, square = 0.0;
    for (int t = 0; t < 50; ++t) mean += double{w(c, t)} * x(c, t);
    for (int t = 0; t < 50; ++t) square += w(c, t) * (x(c, t) - mean) * (x(c, t) - mean);
    const Eigen::MatrixXf statistics = EigenBackend::Statistics(x, w);
    EXPECT_NEAR(statistics(c, 0), mean, 1e-5);
    EXPECT_NEAR(statistics(c + 3, 0), std::sqrt(square), 1e-4);
  }
}

TEST(EigenBackend, PartsAreHeardAsIfTheyWereOne) {
  const Eigen::Index frames = 1100;  // more than a block
  const Eigen::MatrixXf a = Noise(3, frames, 1), column = Noise(2, 1, 2), b = Noise(4, frames, 3);
  Eigen::MatrixXf whole(9, frames);
  whole << a, column.replicate(1, frames), b;
  const ConvShape shape{9, 6, 1, 1};
  TensorFile file;
  AddRandom(file, "c.weight", {6, 9, 1}, 7);
  AddRandom(file, "c.bias", {6}, 8);
  const EigenBackend backend(file);
  const Eigen::MatrixXf parts = backend.Pointwise({&a, &column, &b}, "c", shape);
  EXPECT_LT((parts - SlowConv(whole, file, shape)).cwiseAbs().maxCoeff(), 1e-5f);
  const Eigen::MatrixXf one = Noise(9, 1, 4);
  EXPECT_LT((backend.Pointwise({&one}, "c", shape) - SlowConv(one, file, shape)).norm(), 1e-5f);
  EXPECT_THROW(backend.Pointwise({&a, &b}, "c", shape), Error);
}

TEST(EigenBackend, AttentiveStatisticsAreWeightedByTheSoftmax) {
  const Eigen::MatrixXf x = Noise(70, 40, 1), hidden = Noise(5, 40, 2);  // more than at a time
  TensorFile file;
  AddRandom(file, "c.weight", {70, 5, 1}, 7);
  AddRandom(file, "c.bias", {70}, 8);
  const EigenBackend backend(file);
  const ConvShape shape{5, 70, 1, 1};
  const Eigen::MatrixXf weights = EigenBackend::SoftmaxOverTime(SlowConv(hidden, file, shape));
  const Eigen::MatrixXf expected = EigenBackend::Statistics(x, weights);
  EXPECT_LT((backend.AttentiveStatistics(x, hidden, "c", shape) - expected).norm(), 1e-5f);
}

TEST(EncoderNet, SizesOfForeignFilesAreReadOffTheirTensors) {
  EcapaOptions options;
  options.channels = 32;
  options.aggregation = 48;
  options.embedding = 24;
  options.mels = 20;
  EncoderNet own(RandomNet(options, true)), foreign(RandomNet(options, false));
  EXPECT_EQ(foreign.Dimension(), 24);
  EXPECT_EQ(foreign.Mels(), 20);
  const Eigen::MatrixXf mels = Noise(20, 64, 3);
  EXPECT_EQ(own.Embed(mels), foreign.Embed(mels));
}

TEST(EncoderNet, XvectorRuns) {
  XvectorOptions options;
  options.channels = 16;
  options.pooled = 24;
  options.embedding = 12;
  const EncoderNet net(RandomNet(options, true));
  EXPECT_EQ(net.Dimension(), 12);
  EXPECT_EQ(net.Embed(Noise(24, 40, 4)).size(), 12u);
}

TEST(EncoderNet, LoudnessDoesNotMatterAfterCentring) {
  EcapaOptions options;
  options.channels = 32;
  options.aggregation = 32;
  const EncoderNet net(RandomNet(options, true));
  const Eigen::MatrixXf mels = Noise(80, 64, 5);
  const auto a = net.Embed(mels), b = net.Embed((mels.array() + 3.0f).matrix());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
}

TEST(EncoderNet, CentringMovesEveryEmbeddingByTheMean) {
  EcapaOptions options;
  options.channels = 32;
  options.aggregation = 32;
  TensorFile file = RandomNet(options, true);
  const Eigen::MatrixXf mels = Noise(80, 64, 6);
  const std::vector<float> before = EncoderNet(file).Embed(mels);
  CentreEmbeddings(file, before);
  for (const float value : EncoderNet(file).Embed(mels)) EXPECT_NEAR(value, 0.0f, 1e-4f);
  EXPECT_THROW(CentreEmbeddings(file, std::vector<float>(7)), Error);
}

TEST(EncoderNet, NetsAreAveragedWeightByWeight) {
  EcapaOptions options;
  options.channels = 32;
  options.aggregation = 32;
  TensorFile a = RandomNet(options, true), b = a;
  for (auto& [name, tensor] : b.tensors) {
    for (float& value : tensor.values) value = 3.0f * value + 1.0f;
  }
  const TensorFile mean = AverageNets(std::vector{a, b});
  EXPECT_EQ(mean.metadata, a.metadata);
  for (const auto& [name, tensor] : a.tensors) {
    const std::vector<float>& values = mean.tensors.at(name).values;
    ASSERT_EQ(values.size(), tensor.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], 2.0f * tensor.values[i] + 0.5f, 1e-5f);
    }
  }
  EcapaOptions other = options;
  other.aggregation = 48;
  EXPECT_THROW(AverageNets(std::vector{a, RandomNet(other, true)}), Error);
  b.tensors.erase("asp.conv.conv.bias");
  EXPECT_THROW(AverageNets(std::vector{a, b}), Error);
}

TEST(EncoderNet, DamagedNetsAreErrors) {
  EcapaOptions options;
  options.channels = 32;
  options.aggregation = 32;
  TensorFile missing = RandomNet(options, true);
  missing.tensors.erase("asp.conv.conv.bias");
  EXPECT_THROW(EncoderNet{missing}, Error);
  TensorFile kind = RandomNet(options, true);
  kind.metadata["sotto.kind"] = "transformer";
  EXPECT_THROW(EncoderNet{kind}, Error);
  TensorFile json = RandomNet(options, true);
  json.metadata["sotto.options"] = "{";
  EXPECT_THROW(EncoderNet{json}, Error);
  const EncoderNet net(RandomNet(options, true));
  EXPECT_THROW(net.Embed(Noise(80, 5, 1)), Error);
  EXPECT_THROW(net.Embed(Noise(40, 50, 1)), Error);
}

}  // namespace
}  // namespace sotto
