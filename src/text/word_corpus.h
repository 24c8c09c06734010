// Sentences of speakers about whom something is known (gender, age), and a planted corpus whose
// speakers tell it by their words as strongly as it is asked, so that the best any attacker can do
// is known and an instrument can be judged by it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// Lower-case words of a transcript; punctuation is dropped, "'s" is a word of its own.
std::vector<std::string> WordsOf(std::string_view text);

struct WordSpeaker {
  std::string id;
  std::vector<std::vector<std::string>> sentences;
};

struct WordAttribute {
  std::string name;                    // "gender"
  std::array<std::string, 2> classes;  // of label 0 and of label 1, the positive one
  std::vector<std::int8_t> labels;     // of each speaker; −1: not known
  // The accuracy that no attacker exceeds where both classes weigh the same, from all sentences of
  // a speaker and from one; NaN: not known.
  double best_speaker = std::numeric_limits<double>::quiet_NaN();
  double best_sentence = std::numeric_limits<double>::quiet_NaN();
};

struct WordCorpus {
  std::string name;
  std::string expected;            // what is to be expected of it, and why
  std::vector<std::string> notes;  // what else one must know
  std::vector<WordSpeaker> speakers;
  std::vector<WordAttribute> attributes;
  bool planted = false;
  bool whole_speakers = false;  // to be studied by whole speakers alone, to save time
};

// Every sentence speaks of one of two topics for each attribute. A speaker of class 1 chooses the
// first topic with probability (1 + strength)/2, one of class 0 with (1 − strength)/2. A sentence
// holds `topic_words` of its topic's `pool` words, and `neutral` words of `vocabulary`, the n-th
// drawn with probability ∝ 1/n, all in random order. With probability `replaced` a topic word is
// replaced by one drawn from both topics' words alike, as redaction with surrogates of the same
// class does. A seeded experiment.
struct PlantedWords {
  int speakers = 400;
  int sentences = 8;
  int topic_words = 3;
  int neutral = 6;
  int pool = 8;
  int vocabulary = 300;
  double strength = 0.4;  // 0: the words tell nothing, 1: every sentence tells
  double replaced = 0.0;
  // Shares of class 1: female of gender, below 20 of age, as in the source (COMPRISE D2.2, table
  // 13: 279 of 1192 and 484 of 1084).
  std::array<double, 2> share = {279.0 / 1192.0, 484.0 / 1084.0};
  std::uint64_t seed = 1;

  void Validate() const;  // throws Error
};
WordCorpus PlantWords(const PlantedWords& options);

// ½ Σ max(P_1, P_0) over what n independent observations can be, whose distributions for the two
// classes are given: the accuracy of the rule of Bayes for classes of equal weight. The number of
// terms is that of the ways to spread n over the outcomes.
double BestAccuracy(const std::vector<double>& p1, const std::vector<double>& p0, int n);

}  // namespace sotto
