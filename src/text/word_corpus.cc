#include "text/word_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/random.h"
#include "text/tokens.h"

namespace sotto {
namespace {

// P(k of m) for a coin of bias p.
double Binomial(int m, int k, double p) {
  return std::exp(std::lgamma(m + 1.0) - std::lgamma(k + 1.0) - std::lgamma(m - k + 1.0)) *
         std::pow(p, k) * std::pow(1.0 - p, m - k);
}

// How many of a sentence's topic words are of the first topic, for a speaker who chooses it with
// probability q.
std::vector<double> SentenceDistribution(const PlantedWords& o, double q) {
  std::vector<double> p;
  for (int k = 0; k <= o.topic_words; ++k) {
    p.push_back(q * Binomial(o.topic_words, k, 1.0 - o.replaced / 2.0) +
                (1.0 - q) * Binomial(o.topic_words, k, o.replaced / 2.0));
  }
  return p;
}

// A given number of ones in random order.
std::vector<std::int8_t> DrawLabels(int n, double share, SeededRng& rng) {
  std::vector<std::int8_t> labels(static_cast<std::size_t>(n));
  const auto ones = static_cast<std::size_t>(std::lround(share * n));
  std::fill_n(labels.begin(), std::min(ones, labels.size()), std::int8_t{1});
  for (std::size_t i = labels.size(); i > 1; --i) std::swap(labels[i - 1], labels[rng.Below(i)]);
  return labels;
}

std::string TopicWord(const WordAttribute& attribute, bool first, std::uint64_t n) {
  return fmt::format("{}{}{}", attribute.name, first ? "a" : "b", n);
}

}  // namespace

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  const std::string lower = LowerCase(text);
  for (const Token& token : Tokenise(lower)) {
    std::string word = lower.substr(token.begin, token.end - token.begin);
    const bool is_word = std::any_of(word.begin(), word.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x80 || std::isalnum(byte) != 0;
    });
    if (is_word) words.push_back(std::move(word));
  }
  return words;
}

void PlantedWords::Validate() const {
  if (speakers < 8 || sentences < 1 || topic_words < 1 || neutral < 0 || pool < 1 ||
      vocabulary < 1) {
    throw Error("planted words: 8 speakers and 1 of all else are the fewest");
  }
  for (const double value : {strength, replaced, share[0], share[1]}) {
    if (!(value >= 0.0 && value <= 1.0)) {
      throw Error(fmt::format("planted words: {} must lie between 0 and 1", value));
    }
  }
}

WordCorpus PlantWords(const PlantedWords& options) {
  options.Validate();
  SeededRng rng(options.seed);
  WordCorpus corpus;
  corpus.planted = true;
  corpus.name = fmt::format("planted, strength {:g}", options.strength);
  if (options.replaced > 0.0) corpus.name += fmt::format(", replaced {:g}", options.replaced);
  corpus.attributes.resize(2);
  corpus.attributes[0].name = "gender";
  corpus.attributes[0].classes = {"male", "female"};
  corpus.attributes[1].name = "age";
  corpus.attributes[1].classes = {"adult", "teenager"};
  const double chosen = (1.0 + options.strength) / 2.0;
  const std::vector<double> p1 = SentenceDistribution(options, chosen);
  const std::vector<double> p0 = SentenceDistribution(options, 1.0 - chosen);
  for (std::size_t a = 0; a < 2; ++a) {
    WordAttribute& attribute = corpus.attributes[a];
    attribute.labels = DrawLabels(options.speakers, options.share[a], rng);
    attribute.best_speaker = BestAccuracy(p1, p0, options.sentences);
    attribute.best_sentence = BestAccuracy(p1, p0, 1);
  }
  std::vector<double> sums;
  double sum = 0.0;
  for (int n = 1; n <= options.vocabulary; ++n) sums.push_back(sum += 1.0 / n);
  const auto pool = static_cast<std::uint64_t>(options.pool);
  for (int s = 0; s < options.speakers; ++s) {
    WordSpeaker& speaker = corpus.speakers.emplace_back();
    speaker.id = fmt::format("p{:04}", s);
    for (int i = 0; i < options.sentences; ++i) {
      std::vector<std::string>& sentence = speaker.sentences.emplace_back();
      for (const WordAttribute& attribute : corpus.attributes) {
        const bool positive = attribute.labels[static_cast<std::size_t>(s)] == 1;
        const bool topic = rng.Uniform() < (positive ? chosen : 1.0 - chosen);
        for (int w = 0; w < options.topic_words; ++w) {
          const bool replaced = rng.Uniform() < options.replaced;
          const bool first = replaced ? rng.Below(2) == 0 : topic;
          sentence.push_back(TopicWord(attribute, first, rng.Below(pool)));
        }
      }
      for (int w = 0; w < options.neutral; ++w) {
        const auto found = std::upper_bound(sums.begin(), sums.end() - 1, rng.Uniform() * sum);
        sentence.push_back(fmt::format("w{}", found - sums.begin()));
      }
      for (std::size_t w = sentence.size(); w > 1; --w) {
        std::swap(sentence[w - 1], sentence[rng.Below(w)]);
      }
    }
  }
  const bool tells = options.strength > 0.0 && options.replaced < 1.0;
  corpus.expected = tells
                        ? fmt::format(
                              "at most {:.1f} % balanced from all sentences of a speaker, {:.1f} % "
                              "from one (the rule of Bayes)",
                              100.0 * corpus.attributes[0].best_speaker,
                              100.0 * corpus.attributes[0].best_sentence)
                        : "chance: the words tell nothing";
  return corpus;
}

double BestAccuracy(const std::vector<double>& p1, const std::vector<double>& p0, int n) {
  if (p1.size() != p0.size() || p1.empty() || n < 0) {
    throw Error(
        fmt::format("best accuracy: {} and {} outcomes, {} observations", p1.size(), p0.size(), n));
  }
  // Adds up over the outcomes from `at` on; a and b are the products so far.
  const std::function<double(std::size_t, int, double, double)> add = [&](std::size_t at, int left,
                                                                          double a, double b) {
    if (at + 1 == p1.size()) {
      return 0.5 * std::max(a * std::pow(p1[at], left), b * std::pow(p0[at], left));
    }
    double sum = 0.0;
    double ways = 1.0;  // to choose which of the `left` have this outcome
    for (int k = 0; k <= left; ++k) {
      sum += add(at + 1, left - k, a * ways * std::pow(p1[at], k), b * ways * std::pow(p0[at], k));
      ways *= static_cast<double>(left - k) / (k + 1);
    }
    return sum;
  };
  return add(0, n, 1.0, 1.0);
}

}  // namespace sotto
