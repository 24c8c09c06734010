// What the words of a speaker tell of gender and age, by the classifiers and protocols of COMPRISE
// D2.2, § 3.4 (tables 13 and 14), and by protocols that let nothing of the test into training:
//
//   svm-linear, svm-gaussian  a support vector machine (nn/svm.h) on the mean of the word vectors
//                             (text/word_vectors.h), standardised; 75 % train, 25 % test
//   cnn                       the convolutional net (nn/word_cnn.h); 70 % train, 10 % choose the
//                             epoch, 20 % test
//
// The word vectors are trained once for each corpus, on all its sentences and no label, as one who
// is to be attacked gives the attacker the text. An experiment: all draws follow from a seed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "assess/figure.h"
#include "assess/intervals.h"
#include "attack/word_splits.h"
#include "nn/svm.h"
#include "nn/word_cnn.h"
#include "text/word_corpus.h"
#include "text/word_vectors.h"

namespace sotto {

enum class WordClassifier { kSvmLinear, kSvmGaussian, kCnn };
inline constexpr std::array kWordClassifiers = {WordClassifier::kSvmLinear,
                                                WordClassifier::kSvmGaussian, WordClassifier::kCnn};
const char* Name(WordClassifier classifier);  // as above

struct WordStudyOptions {
  int repeats = 3;  // random splits; what is tested in them counts together
  WordVectorOptions vectors;
  double svm_c = 1.0;
  WordCnnOptions cnn;
  int cnn_steps = 1000;       // at least, on however few texts: more epochs then
  IntervalOptions intervals;  // over speakers
  std::uint64_t seed = 1;
  int jobs = 1;  // the figures do not depend on it

  void Validate() const;  // throws Error
};

// Of one speaker, over all repeats: counts[truth][answer].
struct WordAnswers {
  std::array<std::array<double, 2>, 2> counts{};
};
struct WordRates {
  double accuracy = 0.0;
  double balanced = 0.0;     // the mean of both classes' rates: chance is ½ whatever their sizes
  double f1_macro = 0.0;     // the mean of both classes' F1
  double f1_positive = 0.0;  // of label 1: female, teenager
  double larger = 0.0;       // the share of the larger class in the test: the accuracy of a guess
};
// NaN where a class is absent.
WordRates RatesOf(const WordAnswers& sum);

struct WordRow {
  std::size_t corpus = 0, attribute = 0;  // places
  WordClassifier classifier = WordClassifier::kSvmLinear;
  WordProtocol protocol;
  std::string reason;           // why it did not run; empty: it did
  std::vector<Figure> figures;  // accuracy, balanced_accuracy, f1_macro, f1_positive
  double larger = 0.0;
  double best = 0.0;  // what no attacker exceeds (balanced); NaN: not known

  double Value(std::string_view name) const;  // NaN without the figure
  // The interval of the balanced accuracy lies above ½.
  bool AboveChance() const;
};

struct WordStudy {
  std::vector<WordCorpus> corpora;  // without their sentences
  struct Size {
    std::size_t speakers = 0, sentences = 0, words = 0, vocabulary = 0;
    std::vector<std::array<std::size_t, 2>> classes;  // of each attribute: speakers
  };
  std::vector<Size> sizes;  // of each corpus
  std::vector<WordRow> rows;
  WordStudyOptions options;
};

// Corpora of whole_speakers meet the protocols of whole speakers alone.
// Throws Error for a corpus without words that are frequent enough.
WordStudy StudyWords(std::vector<WordCorpus> corpora, const WordStudyOptions& options);

// The planted corpora that the instrument is judged by: the strength asked for, none at all, and
// with all of its topic words, nine in ten and half replaced.
std::vector<WordCorpus> PlantedCorpora(const PlantedWords& options);

}  // namespace sotto
