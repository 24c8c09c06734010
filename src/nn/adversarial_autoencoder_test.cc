#include "nn/adversarial_autoencoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"
#include "nn/adversarial_net.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::MatrixXi;
using testing::TemporaryFolder;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Array>
void Draw(Array& array, double scale, SeededRng& rng) {
  for (Index i = 0; i < array.size(); ++i) array.data()[i] = scale * rng.Gaussian();
}

// A small net with two attributes, of two and three categories, and a batch for it: half of its
// latent vectors are longer than the bound.
struct Small {
  Coder<double> coder;
  std::vector<Discriminator<double>> discriminators;
  MatrixXd x, noise;
  MatrixXi categories;
  double bound = 3.0;

  Small() {
    SeededRng rng(7);
    coder.encoder.resize(4, 5);
    coder.decoder.resize(5, 4);
    coder.encoder_bias.resize(4);
    coder.gain.resize(4);
    coder.shift.resize(4);
    coder.decoder_bias.resize(5);
    for (auto& array : coder.Arrays()) Draw(array, 0.7, rng);
    for (const Index outputs : {1, 3}) {
      Discriminator<double> net;
      net.first.resize(6, 4);
      net.first_bias.resize(6);
      net.second.resize(outputs, 6);
      net.second_bias.resize(outputs);
      for (auto& array : net.Arrays()) Draw(array, 0.7, rng);
      discriminators.push_back(net);
    }
    x.resize(5, 11);
    noise.resize(4, 11);
    Draw(x, 1.0, rng);
    Draw(noise, 0.3, rng);
    categories.resize(2, 11);
    for (Index i = 0; i < 11; ++i)
      categories.col(i) << static_cast<int>(i % 2), static_cast<int>(i % 3);
  }

  double Loss(double weight) const {
    const CoderLoss loss =
        LossOfCoder<double>(coder, discriminators, x, categories, bound,
                            EncodeBatch<double>(coder, x, bound, noise), weight, nullptr);
    return loss.reconstruction + weight * loss.adversary;
  }
};

TEST(AdversarialNet, GradientsAreThoseOfTheLosses) {
  Small s;
  const auto latent = EncodeBatch<double>(s.coder, s.x, s.bound, s.noise);
  const auto longer = (latent.norms.array() > s.bound).count();
  ASSERT_GT(longer, 2);
  ASSERT_LT(longer, 9);
  constexpr double kWeight = 1.7, kStep = 1e-6;
  Coder<double> gradient = s.coder;
  LossOfCoder<double>(s.coder, s.discriminators, s.x, s.categories, s.bound, latent, kWeight,
                      &gradient);
  auto weights = s.coder.Arrays();
  const auto slopes = gradient.Arrays();
  for (std::size_t a = 0; a < weights.size(); ++a) {
    for (Index i = 0; i < weights[a].size(); ++i) {
      const double was = weights[a][i];
      weights[a][i] = was + kStep;
      const double above = s.Loss(kWeight);
      weights[a][i] = was - kStep;
      const double below = s.Loss(kWeight);
      weights[a][i] = was;
      EXPECT_NEAR(slopes[a][i], (above - below) / (2.0 * kStep), 1e-8) << a << " " << i;
    }
  }
}

TEST(AdversarialNet, GradientsOfDiscriminatorsAreThoseOfTheirLoss) {
  Small s;
  const MatrixXd y = EncodeBatch<double>(s.coder, s.x, s.bound, s.noise).noisy;
  for (Index k = 0; k < 2; ++k) {
    Discriminator<double>& net = s.discriminators[static_cast<std::size_t>(k)];
    const Eigen::VectorXi truth = s.categories.row(k).transpose();
    Discriminator<double> gradient = net;
    LossOfDiscriminator<double>(net, y, truth, &gradient);
    auto weights = net.Arrays();
    const auto slopes = gradient.Arrays();
    for (std::size_t a = 0; a < weights.size(); ++a) {
      for (Index i = 0; i < weights[a].size(); ++i) {
        const double was = weights[a][i];
        weights[a][i] = was + 1e-6;
        const double above = LossOfDiscriminator<double>(net, y, truth, nullptr);
        weights[a][i] = was - 1e-6;
        const double below = LossOfDiscriminator<double>(net, y, truth, nullptr);
        weights[a][i] = was;
        EXPECT_NEAR(slopes[a][i], (above - below) / 2e-6, 1e-8) << k << " " << a << " " << i;
      }
    }
  }
}

// By hand: one logit l of the second category. −ln P(true) is ln(1 + e^∓l), and inverted it is that
// of the other category (eq. 1 and 2).
TEST(AdversarialNet, LossesAreThoseOfThePaper) {
  Small s;
  s.discriminators.resize(1);
  Discriminator<double>& net = s.discriminators[0];
  net.second.setZero();
  net.second_bias << 0.8;
  s.categories = MatrixXi::Constant(1, s.x.cols(), 1);
  const auto latent = EncodeBatch<double>(s.coder, s.x, s.bound, s.noise);
  const Eigen::VectorXi truth = s.categories.row(0).transpose();
  EXPECT_NEAR(LossOfDiscriminator<double>(net, latent.noisy, truth, nullptr),
              std::log1p(std::exp(-0.8)), 1e-12);
  const CoderLoss loss = LossOfCoder<double>(s.coder, s.discriminators, s.x, s.categories, s.bound,
                                             latent, 1.0, nullptr);
  EXPECT_NEAR(loss.adversary, std::log1p(std::exp(0.8)), 1e-12);
  const MatrixXd out =
      ((s.coder.decoder * latent.noisy).colwise() + s.coder.decoder_bias).array().tanh();
  double distance = 0.0;
  for (Index i = 0; i < out.cols(); ++i) {
    distance += 1.0 - s.x.col(i).normalized().dot(out.col(i).normalized());
  }
  EXPECT_NEAR(loss.reconstruction, distance / 11.0, 1e-9);
}

// What is longer than the bound is as long afterwards; the noise comes on top of it.
TEST(AdversarialNet, TheNoiseComesAfterTheClip) {
  const Small s;
  const auto latent = EncodeBatch<double>(s.coder, s.x, s.bound, s.noise);
  const MatrixXd clipped = latent.noisy - s.noise;
  for (Index i = 0; i < s.x.cols(); ++i) {
    EXPECT_NEAR(clipped.col(i).lpNorm<1>(), std::min(s.bound, latent.norms[i]), 1e-12);
    EXPECT_NEAR(clipped.col(i).normalized().dot(latent.z.col(i).normalized()), 1.0, 1e-12);
  }
}

TEST(AdversarialNet, TheNoiseOfTrainingsIsLaplace) {
  SeededRng rng(1);
  const MatrixXf noise = TrainingNoise(100, 2000, rng);
  const auto share = [&](float above) {
    return static_cast<double>((noise.array() > above).count()) / 200000.0;
  };
  for (const float x : {-2.0F, -0.5F, 0.0F, 1.0F, 3.0F}) {
    const double right = x < 0.0F ? 1.0 - 0.5 * std::exp(x) : 0.5 * std::exp(-x);
    EXPECT_NEAR(share(x), right, 5.0 * std::sqrt(right * (1.0 - right) / 200000.0)) << x;
  }
}

struct Voices {
  MatrixXf x;
  MatrixXi categories;
};

// Points around the origin, on the sphere; category 1 (a quarter of them) is shifted in coordinate
// 0, which a line through the origin sees.
Voices MakeVoices(Index n, std::uint64_t seed, Index d = 12) {
  SeededRng rng(seed);
  Voices voices{MatrixXf(d, n), MatrixXi(1, n)};
  Draw(voices.x, 1.0, rng);
  for (Index i = 0; i < n; ++i) {
    voices.categories(0, i) = i % 4 == 0 ? 1 : 0;
    voices.x(0, i) += i % 4 == 0 ? 2.0F : -2.0F;
  }
  voices.x.colwise().normalize();
  return voices;
}

AutoencoderOptions Quick() {
  AutoencoderOptions options;
  options.eps = 30.0;
  options.latent = 8;
  options.hidden = 6;
  options.epochs = 6;
  options.batch = 32;
  return options;
}

MatrixXf Through(const AdversarialAutoencoder& net, const MatrixXf& x) {
  MatrixXf out = net.Decode(net.Encode(x));
  out.colwise().normalize();
  return out;
}

// How well coordinate 0 tells the categories: P(one of category 1 has more of it).
double Auc(const MatrixXf& x, const MatrixXi& categories) {
  double above = 0.0, pairs = 0.0;
  for (Index i = 0; i < x.cols(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (categories(0, i) != 1 || categories(0, j) != 0) continue;
      above += x(0, i) > x(0, j) ? 1.0 : 0.0;
      pairs += 1.0;
    }
  }
  return above / pairs;
}

TEST(AdversarialAutoencoder, HidesTheAttributeAndKeepsTheRest) {
  const Voices voices = MakeVoices(2000, 1), held_out = MakeVoices(300, 3),
               test = MakeVoices(400, 2);
  const auto off_chance = [&](const AdversarialAutoencoder& net) {
    return std::abs(Auc(Through(net, held_out.x), held_out.categories) - 0.5);
  };
  AutoencoderOptions options = Quick();
  options.eps = 100.0;
  options.epochs = 40;
  options.latent = 24;
  options.adversary = 0.0;
  const auto plain = TrainAutoencoder(voices.x, voices.categories, {2}, options, off_chance).net;
  options.adversary = 1.0;
  const auto hidden = TrainAutoencoder(voices.x, voices.categories, {2}, options, off_chance).net;
  const MatrixXf out = Through(hidden, test.x);
  EXPECT_GT(Auc(test.x, test.categories), 0.98);
  EXPECT_GT(Auc(Through(plain, test.x), test.categories), 0.9);
  EXPECT_NEAR(Auc(out, test.categories), 0.5, 0.12);
  // Of the coordinates that have nothing to do with it.
  MatrixXf rest = test.x.bottomRows(11), rest_out = out.bottomRows(11);
  rest.colwise().normalize();
  rest_out.colwise().normalize();
  EXPECT_GT(rest.cwiseProduct(rest_out).colwise().sum().mean(), 0.95F);
}

bool Same(const AdversarialAutoencoder& a, const AdversarialAutoencoder& b) {
  TensorFile of_a, of_b;
  a.Store(of_a);
  b.Store(of_b);
  return Fingerprint(of_a) == Fingerprint(of_b);
}

TEST(AdversarialAutoencoder, TheSameSeedGivesTheSameNet) {
  const Voices voices = MakeVoices(200, 1);
  AutoencoderOptions options = Quick();
  const auto train = [&] {
    return TrainAutoencoder(voices.x, voices.categories, {2}, options).net;
  };
  const auto first = train();
  EXPECT_TRUE(Same(first, train()));
  options.seed = 2;
  EXPECT_FALSE(Same(first, train()));
}

// Before any step has changed the net, the batch norm's own scale is 1: at use, with running
// statistics, each coordinate has mean 0 and variance 1 over the data, and C is the median length.
TEST(AdversarialAutoencoder, AtUseTheBatchNormHasTheStatisticsOfTheTraining) {
  const Voices voices = MakeVoices(4000, 3);
  AutoencoderOptions options = Quick();
  options.learning_rate = 1e-12;
  const auto net = TrainAutoencoder(voices.x, voices.categories, {2}, options).net;
  const AutoencoderWeights& w = net.Weights();
  // An epoch has as many of either category.
  std::vector<Index> balanced;
  for (Index i = 0; i < 4000; ++i) {
    for (int k = 0; k < (i % 4 == 0 ? 3 : 1); ++k) balanced.push_back(i);
  }
  const MatrixXf x = voices.x(Eigen::all, balanced);
  MatrixXf z = ((w.encoder * x).colwise() + w.encoder_bias).cwiseMax(0.0F);
  z = (w.scale.asDiagonal() * z).colwise() + w.shift;
  EXPECT_LT(z.rowwise().mean().cwiseAbs().maxCoeff(), 0.15F);
  const Eigen::VectorXf variance = (z.colwise() - z.rowwise().mean()).cwiseAbs2().rowwise().mean();
  EXPECT_LT((variance.array() - 1.0F).abs().maxCoeff(), 0.2F);
  Eigen::VectorXf norms = z.cwiseAbs().colwise().sum();
  std::sort(norms.begin(), norms.end());
  EXPECT_NEAR(w.bound, norms[norms.size() / 2], 0.05 * w.bound);
}

TEST(AdversarialAutoencoder, WhatItSaysOfAVoiceprintDoesNotDependOnTheOthers) {
  const Voices voices = MakeVoices(1200, 4);
  const auto net = TrainAutoencoder(voices.x, voices.categories, {2}, Quick()).net;
  const MatrixXf all = net.Encode(voices.x);
  const MatrixXf alone = net.Encode(voices.x.col(1100));
  EXPECT_LT((all.col(1100) - alone.col(0)).cwiseAbs().maxCoeff(), 1e-5F);
  int at_bound = 0;
  for (Index i = 0; i < all.cols(); ++i) {
    const double norm = all.col(i).cast<double>().lpNorm<1>();
    EXPECT_LE(norm, net.Bound());
    at_bound += norm > 0.9999 * net.Bound() ? 1 : 0;
  }
  EXPECT_GT(at_bound, 100);
  EXPECT_LT((net.Decode(all).col(1100) - net.Decode(alone)).cwiseAbs().maxCoeff(), 1e-5F);
}

TEST(AdversarialAutoencoder, ARunThatGoesOnEndsAsOneThatWasNotCutOff) {
  const Voices voices = MakeVoices(300, 5);
  TemporaryFolder folder;
  // Best in the middle of the first part, and again near the end.
  const auto score_of = [](int& epoch) {
    return [&epoch](const AdversarialAutoencoder&) {
      ++epoch;
      return epoch == 2 ? 1.0 : epoch == 5 ? 0.5 : 3.0;
    };
  };
  for (const int cut : {1, 3}) {
    AutoencoderOptions options = Quick();
    int epoch = 0;
    const auto whole = TrainAutoencoder(voices.x, voices.categories, {2}, options, score_of(epoch));
    EXPECT_EQ(whole.best, 5);
    EXPECT_EQ(whole.epochs, 6);
    epoch = 0;
    options.epochs = cut;
    options.checkpoint = folder / "state";
    const auto part = TrainAutoencoder(voices.x, voices.categories, {2}, options, score_of(epoch));
    EXPECT_EQ(part.best, cut == 1 ? 1 : 2);
    options.resume = options.checkpoint;
    options.epochs = 6;
    const auto rest = TrainAutoencoder(voices.x, voices.categories, {2}, options, score_of(epoch));
    EXPECT_TRUE(Same(whole.net, rest.net));
    EXPECT_EQ(rest.best, 5);
    EXPECT_EQ(rest.score, 0.5);
    // The state at the end, too.
    const std::string state = ReadTextFile(folder / "state");
    options.resume.clear();
    epoch = 0;
    TrainAutoencoder(voices.x, voices.categories, {2}, options, score_of(epoch));
    EXPECT_EQ(ReadTextFile(folder / "state"), state);
  }
}

TEST(AdversarialAutoencoder, StopsWhenPatienceIsAtItsEnd) {
  const Voices voices = MakeVoices(100, 6);
  AutoencoderOptions options = Quick();
  options.epochs = 50;
  options.patience = 3;
  int epoch = 0;
  const auto trained =
      TrainAutoencoder(voices.x, voices.categories, {2}, options,
                       [&](const AdversarialAutoencoder&) { return std::abs(++epoch - 4.0); });
  EXPECT_EQ(trained.best, 4);
  EXPECT_EQ(trained.epochs, 7);
}

TEST(AdversarialAutoencoder, CheckpointsOfAnotherRunAreRefused) {
  const Voices voices = MakeVoices(100, 7), others = MakeVoices(100, 8);
  TemporaryFolder folder;
  AutoencoderOptions options = Quick();
  options.epochs = 1;
  options.checkpoint = folder / "state";
  TrainAutoencoder(voices.x, voices.categories, {2}, options);
  options.resume = folder / "state";
  options.epochs = 2;
  TrainAutoencoder(voices.x, voices.categories, {2}, options);
  EXPECT_THROW(TrainAutoencoder(others.x, others.categories, {2}, options), Error);
  options.eps = 31.0;
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories, {2}, options), Error);
  options.eps = 30.0;
  const std::string bytes = ReadTextFile(folder / "state");
  WriteFileAtomically(folder / "state", bytes.substr(0, bytes.size() - 5));
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories, {2}, options), Error);
}

TEST(AdversarialAutoencoder, WhatCannotBeTrainedIsRefused) {
  Voices voices = MakeVoices(100, 9);
  AutoencoderOptions options = Quick();
  options.eps = 0.0;
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories, {2}, options), Error);
  options.eps = std::nan("");
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories, {2}, options), Error);
  options.eps = kInfinity;
  EXPECT_NO_THROW(TrainAutoencoder(voices.x, voices.categories, {2}, options));
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories, {1}, options), Error);
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories.leftCols(50), {2}, options), Error);
  voices.categories.setZero();
  EXPECT_THROW(TrainAutoencoder(voices.x, voices.categories, {2}, options), Error);
}

TEST(AdversarialAutoencoder, FilesAreReadAsTheyWereWrittenAndDamagedOnesRefused) {
  const Voices voices = MakeVoices(100, 10);
  AutoencoderOptions options = Quick();
  options.epochs = 1;
  const auto net = TrainAutoencoder(voices.x, voices.categories, {2}, options).net;
  TensorFile file;
  net.Store(file);
  const TensorFile read = ParseTensorFile(SerialiseTensorFile(file, StoredAs::kFloat32), "model");
  const auto again = AdversarialAutoencoder::Parse(read);
  EXPECT_EQ(again.Encode(voices.x), net.Encode(voices.x));
  EXPECT_EQ(again.Decode(voices.x.topRows(8)), net.Decode(voices.x.topRows(8)));
  EXPECT_EQ(again.Bound(), net.Bound());
  for (const auto& [name, tensor] : file.tensors) {
    TensorFile less = file, other = file;
    less.tensors.erase(name);
    EXPECT_THROW(AdversarialAutoencoder::Parse(less), Error) << name;
    other.tensors[name].shape.back() += 1;
    EXPECT_THROW(AdversarialAutoencoder::Parse(other), Error) << name;
  }
  for (const float bound : {0.0F, -1.0F}) {
    file.tensors["bound"].values[0] = bound;
    EXPECT_THROW(AdversarialAutoencoder::Parse(file), Error) << bound;
  }
}

}  // namespace
}  // namespace sotto
