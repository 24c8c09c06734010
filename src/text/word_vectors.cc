#include "text/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

using Eigen::Index;

// Draws places by given weights.
class WeightedDraw {
 public:
  explicit WeightedDraw(const std::vector<double>& weights) {
    double sum = 0.0;
    for (const double weight : weights) sums_.push_back(sum += weight);
  }
  std::size_t operator()(SeededRng& rng) const {
    const double at = rng.Uniform() * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, at);
    return static_cast<std::size_t>(found - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

struct Vocabulary {
  std::vector<std::string> words;
  std::vector<std::size_t> counts;
};

Vocabulary CountWords(const std::vector<std::vector<std::string>>& sentences, int min_count) {
  std::map<std::string, std::size_t> counts;
  for (const auto& sentence : sentences) {
    for (const std::string& word : sentence) ++counts[word];
  }
  std::vector<std::pair<std::string, std::size_t>> kept;
  for (const auto& [word, count] : counts) {
    if (count >= static_cast<std::size_t>(min_count)) kept.emplace_back(word, count);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Vocabulary vocabulary;
  for (auto& [word, count] : kept) {
    vocabulary.words.push_back(std::move(word));
    vocabulary.counts.push_back(count);
  }
  return vocabulary;
}

}  // namespace

void WordVectorOptions::Validate() const {
  if (dimension < 1 || window < 1 || negatives < 1 || epochs < 1 || min_count < 1) {
    throw Error("word vectors: dimension, window, negatives, epochs and min_count are 1 or more");
  }
  if (!(subsample > 0.0) || !(learning_rate > 0.0)) {
    throw Error(fmt::format("word vectors: subsample {} and learning rate {} must be above 0",
                            subsample, learning_rate));
  }
}

double SkipGramStep(Eigen::Ref<Eigen::VectorXf> centre, Eigen::MatrixXf& outputs,
                    std::span<const std::size_t> near, float rate) {
  Eigen::VectorXf back = Eigen::VectorXf::Zero(centre.size());
  double loss = 0.0;
  for (std::size_t k = 0; k < near.size(); ++k) {
    auto output = outputs.col(static_cast<Index>(near[k]));
    const double logit = output.dot(centre);
    const double sign = k == 0 ? 1.0 : -1.0;
    // softplus(−sign·logit), free of overflow.
    loss += std::max(-sign * logit, 0.0) + std::log1p(std::exp(-std::abs(logit)));
    const double probability = 1.0 / (1.0 + std::exp(-logit));
    const auto slope = static_cast<float>(probability - (k == 0 ? 1.0 : 0.0));
    back += slope * output;
    output -= rate * slope * centre;
  }
  centre -= rate * back;
  return loss;
}

WordVectors WordVectors::Train(const std::vector<std::vector<std::string>>& sentences,
                               const WordVectorOptions& options) {
  options.Validate();
  Vocabulary vocabulary = CountWords(sentences, options.min_count);
  if (vocabulary.words.empty()) {
    throw Error(fmt::format("word vectors: no word occurs {} times in {} sentences",
                            options.min_count, sentences.size()));
  }
  WordVectors trained;
  trained.words_ = std::move(vocabulary.words);
  for (std::size_t i = 0; i < trained.words_.size(); ++i) trained.place_[trained.words_[i]] = i;
  std::vector<std::vector<std::size_t>> text;
  std::size_t total = 0;
  for (const auto& sentence : sentences) {
    std::vector<std::size_t>& places = text.emplace_back();
    for (const std::string& word : sentence) {
      const std::size_t place = trained.Find(word);
      if (place != kNone) places.push_back(place);
    }
    total += places.size();
  }
  std::vector<double> keep, weights;
  for (const std::size_t count : vocabulary.counts) {
    const double share = static_cast<double>(count) / static_cast<double>(total);
    keep.push_back(std::sqrt(options.subsample / share));
    weights.push_back(std::pow(static_cast<double>(count), 0.75));
  }
  const WeightedDraw draw(weights);

  SeededRng rng(options.seed);
  const auto size = static_cast<Index>(trained.words_.size());
  Eigen::MatrixXf& centres = trained.vectors_;
  centres.resize(options.dimension, size);
  for (float& value : centres.reshaped()) {
    value = static_cast<float>((rng.Uniform() - 0.5) / options.dimension);
  }
  Eigen::MatrixXf outputs = Eigen::MatrixXf::Zero(options.dimension, size);
  const double steps = static_cast<double>(options.epochs) * static_cast<double>(total);
  std::size_t done = 0;
  std::vector<std::size_t> kept, near(static_cast<std::size_t>(options.negatives) + 1);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    double loss = 0.0;
    std::size_t pairs = 0;
    for (const auto& sentence : text) {
      kept.clear();
      for (const std::size_t word : sentence) {
        if (rng.Uniform() < keep[word]) kept.push_back(word);
      }
      const double left = 1.0 - static_cast<double>(done) / steps;
      const auto rate = static_cast<float>(options.learning_rate * std::max(left, 1e-4));
      done += sentence.size();
      for (std::size_t at = 0; at < kept.size(); ++at) {
        const std::size_t reach = 1 + rng.Below(static_cast<std::uint64_t>(options.window));
        const std::size_t first = at > reach ? at - reach : 0;
        for (std::size_t c = first; c < std::min(kept.size(), at + reach + 1); ++c) {
          if (c == at) continue;
          near[0] = kept[c];
          for (std::size_t k = 1; k < near.size(); ++k) {
            // A draw that is the word itself says nothing against it: another is drawn, unless
            // there is no other word.
            do {
              near[k] = draw(rng);
            } while (near[k] == near[0] && size > 1);
          }
          loss += SkipGramStep(centres.col(static_cast<Index>(kept[at])), outputs, near, rate);
          ++pairs;
        }
      }
    }
    trained.losses_.push_back(pairs > 0 ? loss / static_cast<double>(pairs) : 0.0);
  }
  return trained;
}

std::size_t WordVectors::Find(const std::string& word) const {
  const auto found = place_.find(word);
  return found == place_.end() ? kNone : found->second;
}

std::vector<std::int32_t> WordVectors::Places(const std::vector<std::string>& words) const {
  std::vector<std::int32_t> places;
  for (const std::string& word : words) {
    const std::size_t place = Find(word);
    if (place != kNone) places.push_back(static_cast<std::int32_t>(place));
  }
  return places;
}

Eigen::VectorXf WordVectors::Mean(const std::vector<std::string>& words) const {
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(vectors_.rows());
  const std::vector<std::int32_t> places = Places(words);
  for (const std::int32_t place : places) sum += vectors_.col(place);
  return places.empty() ? sum : Eigen::VectorXf(sum / static_cast<float>(places.size()));
}

}  // namespace sotto
