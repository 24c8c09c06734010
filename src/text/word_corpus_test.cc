#include "text/word_corpus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"

namespace sotto {
namespace {

using Words = std::vector<std::string>;

TEST(WordCorpus, WordsAreLowerCaseAndWithoutPunctuation) {
  EXPECT_EQ(WordsOf("The OLD man's dog, \"Rex\" \xe2\x80\x93 41 (ÉTÉ)!"),
            (Words{"the", "old", "man", "'s", "dog", "rex", "\xe2\x80\x93", "41", "été"}));
  EXPECT_EQ(WordsOf(" \t?!"), Words{});
}

TEST(WordCorpus, TheBestAccuracyIsThatOfCountsDoneByHand) {
  // One coin: ½(0.7 + 0.7).
  EXPECT_NEAR(BestAccuracy({0.7, 0.3}, {0.3, 0.7}, 1), 0.7, 1e-12);
  // Three tosses: P(2 or 3 heads) = 3·0.7²·0.3 + 0.7³.
  EXPECT_NEAR(BestAccuracy({0.7, 0.3}, {0.3, 0.7}, 3), 3 * 0.49 * 0.3 + 0.343, 1e-12);
  // Three outcomes, two observations, by all nine pairs.
  const std::vector<double> p = {0.5, 0.3, 0.2}, q = {0.1, 0.3, 0.6};
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) sum += 0.5 * std::max(p[i] * p[j], q[i] * q[j]);
  }
  EXPECT_NEAR(BestAccuracy(p, q, 2), sum, 1e-12);
  EXPECT_NEAR(BestAccuracy(p, p, 5), 0.5, 1e-12);
  EXPECT_NEAR(BestAccuracy(p, q, 0), 0.5, 1e-12);
  EXPECT_THROW(BestAccuracy(p, {1.0}, 2), Error);
}

// The share of topic sentences of each class that hold most words of the first topic.
std::map<int, double> FirstTopicShares(const WordCorpus& corpus) {
  std::map<int, double> first, all;
  for (std::size_t s = 0; s < corpus.speakers.size(); ++s) {
    const int label = corpus.attributes[0].labels[s] == 1 ? 1 : 0;
    for (const Words& sentence : corpus.speakers[s].sentences) {
      int n = 0;
      for (const std::string& word : sentence) n += word.rfind("gendera", 0) == 0 ? 1 : 0;
      all[label] += 1.0;
      if (n >= 2) first[label] += 1.0;
    }
  }
  for (auto& [label, share] : first) share /= all[label];
  return first;
}

TEST(WordCorpus, PlantedSpeakersChooseTheirTopicsAsAsked) {
  const WordCorpus corpus = PlantWords({.speakers = 600, .sentences = 10, .strength = 0.4});
  std::map<int, double> shares = FirstTopicShares(corpus);
  EXPECT_NEAR(shares[1], 0.7, 0.04);
  EXPECT_NEAR(shares[0], 0.3, 0.03);
  // P(Bin(10, 0.7) > 5) + ½ P(= 5).
  EXPECT_NEAR(corpus.attributes[0].best_speaker, 0.90119, 1e-5);
  EXPECT_NEAR(corpus.attributes[0].best_sentence, 0.7, 1e-12);
  std::size_t positive = 0;
  for (const std::int8_t label : corpus.attributes[0].labels) positive += label == 1 ? 1 : 0;
  EXPECT_EQ(positive, 140U);  // 600 · 279/1192
  EXPECT_EQ(corpus.speakers[0].sentences[0].size(), 12U);

  const auto seventh = [](std::uint64_t seed) {
    return PlantWords({.strength = 0.4, .seed = seed}).speakers[7].sentences;
  };
  EXPECT_EQ(seventh(1), seventh(1));
  EXPECT_NE(seventh(1), seventh(2));
}

TEST(WordCorpus, WhatIsReplacedTellsNothing) {
  const WordCorpus corpus = PlantWords({.strength = 1.0, .replaced = 1.0});
  std::map<int, double> shares = FirstTopicShares(corpus);
  EXPECT_NEAR(shares[1], 0.5, 0.04);
  EXPECT_NEAR(shares[0], 0.5, 0.04);
  EXPECT_NEAR(corpus.attributes[0].best_speaker, 0.5, 1e-9);
  const double half = PlantWords({.strength = 0.4, .replaced = 0.5}).attributes[0].best_speaker;
  EXPECT_GT(half, 0.7);
  EXPECT_LT(half, 0.85);
  EXPECT_THROW(PlantWords({.strength = 1.5}), Error);
  EXPECT_THROW(PlantWords({.replaced = std::nan("")}), Error);
  EXPECT_THROW(PlantWords({.speakers = 2}), Error);
}

}  // namespace
}  // namespace sotto
