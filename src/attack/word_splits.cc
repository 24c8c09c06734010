#include "attack/word_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

// What stays together in a split: a speaker's sentences, or one example.
using Group = std::vector<WordExample>;

void Shuffle(std::vector<Group>& groups, SeededRng& rng) {
  for (std::size_t i = groups.size(); i > 1; --i) std::swap(groups[i - 1], groups[rng.Below(i)]);
}

std::array<std::size_t, 2> CountLabels(const std::vector<WordExample>& examples) {
  std::array<std::size_t, 2> counts{};
  for (const WordExample& example : examples) ++counts[example.label];
  return counts;
}

// Draws from the smaller class with replacement until both are as many (§ 3.4).
void Upsample(std::vector<WordExample>& examples, SeededRng& rng) {
  const std::array<std::size_t, 2> counts = CountLabels(examples);
  const std::uint8_t smaller = counts[1] < counts[0] ? 1 : 0;
  std::vector<WordExample> pool;
  for (const WordExample& example : examples) {
    if (example.label == smaller) pool.push_back(example);
  }
  if (pool.empty()) return;
  for (std::size_t n = counts[smaller]; n < counts[1 - smaller]; ++n) {
    examples.push_back(pool[rng.Below(pool.size())]);
  }
}

// The examples, by speaker where they must stay together.
std::vector<Group> MakeGroups(const WordCorpus& corpus, const WordAttribute& attribute,
                              const WordProtocol& protocol) {
  std::vector<Group> groups;
  for (std::size_t s = 0; s < corpus.speakers.size(); ++s) {
    const std::int8_t label = attribute.labels[s];
    const std::size_t n = corpus.speakers[s].sentences.size();
    if (label < 0 || n == 0) continue;
    const auto truth = static_cast<std::uint8_t>(label);
    if (protocol.unit == WordUnit::kSpeaker) {
      groups.push_back({{s, WordExample::kAll, truth}});
      continue;
    }
    Group sentences;
    for (std::size_t i = 0; i < n; ++i) sentences.push_back({s, i, truth});
    if (protocol.split == WordSplitBy::kSpeaker) {
      groups.push_back(std::move(sentences));
    } else {
      for (const WordExample& sentence : sentences) groups.push_back({sentence});
    }
  }
  return groups;
}

}  // namespace

const char* Name(WordUnit unit) { return unit == WordUnit::kSpeaker ? "speaker" : "sentence"; }

const char* Name(WordSplitBy split) {
  return split == WordSplitBy::kSpeaker ? "speaker" : "sentence";
}

const char* Name(Upsampling upsampling) {
  return upsampling == Upsampling::kNone    ? "none"
         : upsampling == Upsampling::kAfter ? "after"
                                            : "before";
}

const std::vector<WordProtocol>& AllWordProtocols() {
  using enum Upsampling;
  static const std::vector<WordProtocol> kProtocols = {
      {WordUnit::kSpeaker, WordSplitBy::kSpeaker, kNone},
      {WordUnit::kSpeaker, WordSplitBy::kSpeaker, kAfter},
      {WordUnit::kSpeaker, WordSplitBy::kSpeaker, kBefore},
      {WordUnit::kSentence, WordSplitBy::kSpeaker, kNone},
      {WordUnit::kSentence, WordSplitBy::kSpeaker, kAfter},
      {WordUnit::kSentence, WordSplitBy::kSentence, kNone},
      {WordUnit::kSentence, WordSplitBy::kSentence, kAfter},
      {WordUnit::kSentence, WordSplitBy::kSentence, kBefore},
  };
  return kProtocols;
}

std::array<std::size_t, 2> CountLabelled(const WordCorpus& corpus, const WordAttribute& attribute) {
  std::array<std::size_t, 2> counts{};
  for (std::size_t s = 0; s < corpus.speakers.size(); ++s) {
    if (attribute.labels[s] < 0 || corpus.speakers[s].sentences.empty()) continue;
    ++counts[attribute.labels[s] == 1 ? 1 : 0];
  }
  return counts;
}

WordSplit SplitWords(const WordCorpus& corpus, const WordAttribute& attribute,
                     const WordProtocol& protocol, const WordShares& shares, std::uint64_t seed) {
  if (attribute.labels.size() != corpus.speakers.size()) {
    throw Error(fmt::format("words: {} labels of {} for {} speakers", attribute.labels.size(),
                            attribute.name, corpus.speakers.size()));
  }
  SeededRng rng(seed);
  std::vector<Group> groups = MakeGroups(corpus, attribute, protocol);
  if (protocol.upsampling == Upsampling::kBefore) {
    std::vector<WordExample> all;
    for (const Group& group : groups) all.insert(all.end(), group.begin(), group.end());
    Upsample(all, rng);
    groups.clear();
    for (const WordExample& example : all) groups.push_back({example});
  }
  Shuffle(groups, rng);
  WordSplit split;
  for (const std::uint8_t label : {0, 1}) {
    std::vector<const Group*> of_class;
    for (const Group& group : groups) {
      if (group.front().label == label) of_class.push_back(&group);
    }
    const auto n = static_cast<double>(of_class.size());
    const auto trained = static_cast<std::size_t>(std::lround(shares.train * n));
    const auto held = static_cast<std::size_t>(std::lround(shares.held_out * n));
    if (trained == 0 || (shares.held_out > 0.0 && held == 0) || trained + held >= of_class.size()) {
      throw Error(fmt::format("{}: {} {} '{}' are too few to be divided", corpus.name,
                              of_class.size(),
                              protocol.split == WordSplitBy::kSpeaker ? "speakers" : "sentences",
                              attribute.classes[label]));
    }
    for (std::size_t i = 0; i < of_class.size(); ++i) {
      std::vector<WordExample>& part = i < trained          ? split.train
                                       : i < trained + held ? split.held_out
                                                            : split.test;
      part.insert(part.end(), of_class[i]->begin(), of_class[i]->end());
    }
  }
  if (protocol.upsampling == Upsampling::kAfter) Upsample(split.train, rng);
  return split;
}

}  // namespace sotto
