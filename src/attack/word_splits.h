// How the words of speakers are divided for training and test. The source (COMPRISE D2.2, § 3.4)
// does not say whether a speaker's sentences may lie on both sides, nor whether the smaller class
// was upsampled before or after the split; all of it is tried, since the figures depend on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/word_corpus.h"

namespace sotto {

enum class WordUnit {
  kSpeaker,
  kSentence
};  // what is classified: all of a speaker's words, or one
enum class WordSplitBy { kSpeaker, kSentence };
enum class Upsampling {
  kNone,
  kAfter,   // of the training part alone
  kBefore,  // of everything: copies of what trains are tested
};

struct WordProtocol {
  WordUnit unit = WordUnit::kSpeaker;
  WordSplitBy split = WordSplitBy::kSpeaker;
  Upsampling upsampling = Upsampling::kNone;

  friend bool operator==(const WordProtocol&, const WordProtocol&) = default;
};

const char* Name(WordUnit unit);          // speaker, sentence
const char* Name(WordSplitBy split);      // speaker, sentence
const char* Name(Upsampling upsampling);  // none, after, before

// All that make sense, honest ones first: a speaker's words as a whole lie on one side, so that
// there is no split by sentence; copies of sentences stay with their speaker where speakers are
// split, so that there "before" is "after".
const std::vector<WordProtocol>& AllWordProtocols();

// What is classified: the words of a speaker, or one sentence.
struct WordExample {
  std::size_t speaker = 0;
  std::size_t sentence = 0;  // kAll: all of them
  std::uint8_t label = 0;

  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  friend bool operator==(const WordExample&, const WordExample&) = default;
};

struct WordSplit {
  std::vector<WordExample> train, held_out, test;
};

// Shares of the examples; the rest is test.
struct WordShares {
  double train = 0.75, held_out = 0.0;
};
inline constexpr WordShares kSvmShares{0.75, 0.0}, kCnnShares{0.7, 0.1};  // as published

// Each class is divided by these shares, so that every part has some of both. Speakers without a
// label or without a sentence are left out. Throws Error when a class has too few for that.
WordSplit SplitWords(const WordCorpus& corpus, const WordAttribute& attribute,
                     const WordProtocol& protocol, const WordShares& shares, std::uint64_t seed);

// Numbers of speakers of both classes that have a sentence.
std::array<std::size_t, 2> CountLabelled(const WordCorpus& corpus, const WordAttribute& attribute);

}  // namespace sotto
