#include "attack/word_splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"

namespace sotto {
namespace {

WordCorpus Planted() { return PlantWords({.speakers = 80, .sentences = 4}); }

std::set<std::size_t> SpeakersOf(const std::vector<WordExample>& examples) {
  std::set<std::size_t> speakers;
  for (const WordExample& example : examples) speakers.insert(example.speaker);
  return speakers;
}

std::set<std::pair<std::size_t, std::size_t>> Distinct(const std::vector<WordExample>& examples) {
  std::set<std::pair<std::size_t, std::size_t>> distinct;
  for (const WordExample& example : examples) distinct.emplace(example.speaker, example.sentence);
  return distinct;
}

template <typename Set>
bool Overlap(const Set& a, const Set& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& item) { return b.contains(item); });
}

std::size_t Positives(const std::vector<WordExample>& examples) {
  return static_cast<std::size_t>(
      std::count_if(examples.begin(), examples.end(),
                    [](const WordExample& example) { return example.label == 1; }));
}

TEST(WordSplits, OnlyWhatIsUpsampledBeforeTheSplitHasCopiesOnBothSides) {
  const WordCorpus corpus = Planted();
  for (const WordProtocol& protocol : AllWordProtocols()) {
    const WordSplit split = SplitWords(corpus, corpus.attributes[0], protocol, kCnnShares, 3);
    const bool before = protocol.upsampling == Upsampling::kBefore;
    EXPECT_EQ(Overlap(Distinct(split.train), Distinct(split.test)), before);
    const bool shares_speakers = before || protocol.split == WordSplitBy::kSentence;
    EXPECT_EQ(Overlap(SpeakersOf(split.train), SpeakersOf(split.test)), shares_speakers);
    EXPECT_EQ(Overlap(SpeakersOf(split.held_out), SpeakersOf(split.test)), shares_speakers);
  }
}

TEST(WordSplits, TheSmallerClassIsDrawnUntilBothAreAsMany) {
  const WordCorpus corpus = Planted();
  for (const WordProtocol& protocol : AllWordProtocols()) {
    const WordSplit split = SplitWords(corpus, corpus.attributes[0], protocol, kSvmShares, 3);
    const bool even = 2 * Positives(split.train) == split.train.size();
    EXPECT_EQ(even, protocol.upsampling != Upsampling::kNone);
    // Balanced tests are the mark of upsampling before the split.
    EXPECT_EQ(2 * Positives(split.test) == split.test.size(),
              protocol.upsampling == Upsampling::kBefore);
    if (protocol.upsampling == Upsampling::kAfter) {
      WordProtocol plain = protocol;
      plain.upsampling = Upsampling::kNone;
      const WordSplit same = SplitWords(corpus, corpus.attributes[0], plain, kSvmShares, 3);
      EXPECT_EQ(split.test, same.test);
      EXPECT_EQ(Distinct(split.train), Distinct(same.train));
    }
  }
}

TEST(WordSplits, SharesAreAsAskedInEachClass) {
  const WordCorpus corpus = Planted();  // 19 of class 1, 61 of class 0
  const WordSplit split = SplitWords(corpus, corpus.attributes[0], {}, kCnnShares, 1);
  EXPECT_EQ(split.train.size(), 13U + 43U);
  EXPECT_EQ(Positives(split.train), 13U);
  EXPECT_EQ(split.held_out.size(), 2U + 6U);
  EXPECT_EQ(split.test.size(), 4U + 12U);
  EXPECT_EQ(SplitWords(corpus, corpus.attributes[0], {}, kCnnShares, 1).test, split.test);
  EXPECT_NE(SplitWords(corpus, corpus.attributes[0], {}, kCnnShares, 2).test, split.test);
}

TEST(WordSplits, SpeakersWithoutALabelOrWordsAreLeftOut) {
  WordCorpus corpus = Planted();
  WordAttribute& attribute = corpus.attributes[0];
  const auto before = CountLabelled(corpus, attribute);
  const auto first = static_cast<std::size_t>(static_cast<unsigned char>(attribute.labels[0]));
  attribute.labels[0] = -1;
  corpus.speakers[1].sentences.clear();
  const auto after = CountLabelled(corpus, attribute);
  EXPECT_EQ(after[0] + after[1] + 2, before[0] + before[1]);
  EXPECT_LT(after[first], before[first]);
  const WordSplit split = SplitWords(corpus, attribute, {}, kSvmShares, 1);
  for (const auto& part : {split.train, split.test}) {
    EXPECT_FALSE(SpeakersOf(part).contains(0));
    EXPECT_FALSE(SpeakersOf(part).contains(1));
  }
  for (std::int8_t& label : attribute.labels) label = label == 1 ? 0 : label;
  EXPECT_THROW(SplitWords(corpus, attribute, {}, kSvmShares, 1), Error);
}

}  // namespace
}  // namespace sotto
