#include "nn/word_cnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

Eigen::MatrixXf Embedding(Eigen::Index dimension, Eigen::Index words) {
  SeededRng rng(4);
  Eigen::MatrixXf x(dimension, words);
  for (float& value : x.reshaped()) value = static_cast<float>(rng.Gaussian());
  return x;
}

double Loss(double logit, bool label) { return std::log1p(std::exp(label ? -logit : logit)); }

TEST(WordCnn, ItsSlopesAreThoseOfFiniteDifferences) {
  WordCnn net(Embedding(3, 6), {.filters = 4, .widths = {1, 2, 3}, .seed = 7});
  for (Eigen::VectorXf& biases : net.Weights().biases) biases.setConstant(0.3F);
  // A word said twice, and a text shorter than the widest convolution.
  for (const TextRow& text : {TextRow{0, 3, 1, 3, 5, 2}, TextRow{4, 1}}) {
    WordCnnWeights slopes = net.Weights();
    slopes.embedding.setZero();
    for (std::size_t c = 0; c < 3; ++c) {
      slopes.convolutions[c].setZero();
      slopes.biases[c].setZero();
    }
    slopes.dense.setZero();
    EXPECT_NEAR(net.AddSlopes(text, true, {}, 1.0F, slopes), Loss(net.Logit(text), true), 1e-5);
    constexpr float kStep = 2e-3F;
    double largest = 0.0;
    const auto check = [&](auto& weights, const auto& slope, const char* what) {
      for (Eigen::Index i = 0; i < weights.size(); ++i) {
        float& weight = weights.data()[i];
        const float before = weight;
        weight = before + kStep;
        const double above = Loss(net.Logit(text), true);
        weight = before - kStep;
        const double below = Loss(net.Logit(text), true);
        weight = before;
        EXPECT_NEAR(slope.data()[i], (above - below) / (2.0 * kStep), 1e-3) << what << " " << i;
        largest = std::max(largest, std::abs(static_cast<double>(slope.data()[i])));
      }
    };
    check(net.Weights().embedding, slopes.embedding, "embedding");
    for (std::size_t c = 0; c < 3; ++c) {
      check(net.Weights().convolutions[c], slopes.convolutions[c], "convolution");
      check(net.Weights().biases[c], slopes.biases[c], "bias");
    }
    check(net.Weights().dense, slopes.dense, "dense");
    check(net.Weights().bias, slopes.bias, "bias of the logit");
    EXPECT_GT(largest, 0.1);
  }
}

TEST(WordCnn, ItsLogitIsThatOfPlainLoops) {
  WordCnn net(Embedding(2, 5), {.filters = 2, .widths = {1, 2, 3}, .seed = 3});
  const WordCnnWeights& w = net.Weights();
  const TextRow text = {4, 0, 2, 2};
  double logit = w.bias[0];
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t width = c + 1;
    for (Eigen::Index f = 0; f < 2; ++f) {
      double highest = 0.0;
      for (std::size_t t = 0; t + width <= text.size(); ++t) {
        double sum = w.biases[c][f];
        for (std::size_t k = 0; k < width; ++k) {
          for (Eigen::Index d = 0; d < 2; ++d) {
            sum += w.convolutions[c](f, static_cast<Eigen::Index>(k) * 2 + d) *
                   w.embedding(d, text[t + k]);
          }
        }
        highest = std::max(highest, sum);
      }
      logit += w.dense[static_cast<Eigen::Index>(c) * 2 + f] * highest;
    }
  }
  EXPECT_NEAR(net.Logit(text), logit, 1e-5);
}

// Texts of 12 words; those of label 1 say word 0 right before word 1, the others right after it.
LabelledTexts Ordered(std::uint64_t seed, int n) {
  SeededRng rng(seed);
  LabelledTexts data;
  for (int i = 0; i < n; ++i) {
    TextRow& text = data.texts.emplace_back();
    for (int t = 0; t < 12; ++t) text.push_back(static_cast<std::int32_t>(2 + rng.Below(28)));
    const std::size_t at = rng.Below(11);
    text[at] = i % 2 == 0 ? 1 : 0;
    text[at + 1] = i % 2 == 0 ? 0 : 1;
    data.labels.push_back(i % 2 == 0 ? 0 : 1);
  }
  return data;
}

double Accuracy(const WordCnn& net, const LabelledTexts& data) {
  double right = 0.0;
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    right += (net.Logit(data.texts[i]) > 0.0) == (data.labels[i] != 0) ? 1.0 : 0.0;
  }
  return right / static_cast<double>(data.texts.size());
}

TEST(WordCnn, LearnsTheOrderOfWords) {
  const WordCnn net = WordCnn::Train(Embedding(16, 30), Ordered(1, 400), Ordered(2, 60));
  EXPECT_GT(Accuracy(net, Ordered(3, 200)), 0.95);
}

TEST(WordCnn, OneSeedGivesTheSameNet) {
  const WordCnnOptions options{.filters = 2, .epochs = 2};
  const auto train = [&](const WordCnnOptions& o) {
    return WordCnn::Train(Embedding(4, 30), Ordered(1, 40), {}, o).Logit({1, 2, 3});
  };
  EXPECT_EQ(train(options), train(options));
  WordCnnOptions other = options;
  other.seed = 2;
  EXPECT_NE(train(options), train(other));
}

TEST(WordCnn, RefusesWhatItCannotLearn) {
  const Eigen::MatrixXf embedding = Embedding(2, 5);
  EXPECT_THROW(WordCnn::Train(embedding, {{{0}, {1}}, {1, 1}}, {}), Error);
  EXPECT_THROW(WordCnn::Train(embedding, {{{0}, {1}}, {1}}, {}), Error);
  EXPECT_THROW(WordCnn::Train(embedding, {{{0}, {5}}, {0, 1}}, {}), Error);
  EXPECT_THROW(WordCnn::Train(embedding, {{{0}, {1}}, {0, 1}}, {}, {.dropout = 1.0}), Error);
}

}  // namespace
}  // namespace sotto
