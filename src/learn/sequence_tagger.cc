#include "learn/sequence_tagger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "learn/chain_crf.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kLongest = 24;        // bytes of a word
constexpr std::int64_t kTaggedAtOnce = 128;  // sentences

// Number 0 is any word that is not there.
class Vocabulary {
 public:
  Vocabulary(const std::vector<TaggedSentence>& sentences, std::int64_t least_count) {
    std::map<std::string, std::int64_t> counts;
    for (const TaggedSentence& s : sentences) {
      for (const std::string& word : s.words) ++counts[word];
    }
    for (const auto& [word, count] : counts) {
      if (count >= least_count) numbers_.emplace(word, Size());
    }
  }
  std::int64_t Size() const { return static_cast<std::int64_t>(numbers_.size()) + 1; }
  std::int64_t operator[](const std::string& word) const {
    const auto at = numbers_.find(word);
    return at == numbers_.end() ? 0 : at->second;
  }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
};

// Sentences as the net takes them, in the order that chain_crf.h says.
struct TagBatch {
  std::vector<std::int64_t> sizes;
  std::vector<std::size_t> sentences;  // which, longest first
  Tensor words, labels;                // of each row
  Tensor spelling;                     // of each row: which of the different words it is
  Tensor bytes;                        // different words × longest; 0 behind the end
};

TagBatch MakeBatch(const std::vector<TaggedSentence>& all, std::vector<std::size_t> chosen,
                   const Vocabulary& vocabulary, torch::Device device) {
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return all[a].words.size() > all[b].words.size();
  });
  TagBatch batch;
  std::vector<std::int64_t> words, labels, spelling;
  std::unordered_map<std::string, std::int64_t> different;
  std::vector<const std::string*> spelt;
  std::int64_t longest = 1;
  for (std::size_t t = 0; t < all[chosen[0]].words.size(); ++t) {
    std::int64_t size = 0;
    for (const std::size_t i : chosen) {
      const TaggedSentence& sentence = all[i];
      if (t >= sentence.words.size()) break;
      ++size;
      const std::string& word = sentence.words[t];
      words.push_back(vocabulary[word]);
      labels.push_back(sentence.labels[t]);
      const auto [at, fresh] = different.emplace(word, static_cast<std::int64_t>(spelt.size()));
      if (fresh) {
        spelt.push_back(&at->first);
        longest = std::max(longest, std::min(kLongest, static_cast<std::int64_t>(word.size())));
      }
      spelling.push_back(at->second);
    }
    batch.sizes.push_back(size);
  }
  std::vector<std::int64_t> bytes(spelt.size() * static_cast<std::size_t>(longest), 0);
  for (std::size_t w = 0; w < spelt.size(); ++w) {
    const std::size_t n = std::min(spelt[w]->size(), static_cast<std::size_t>(longest));
    for (std::size_t i = 0; i < n; ++i) {
      bytes[w * static_cast<std::size_t>(longest) + i] =
          1 + static_cast<std::int64_t>(static_cast<unsigned char>((*spelt[w])[i]));
    }
  }
  const auto tensor = [&](const std::vector<std::int64_t>& values) {
    return torch::tensor(values, torch::TensorOptions(torch::kLong)).to(device);
  };
  batch.words = tensor(words);
  batch.labels = tensor(labels);
  batch.spelling = tensor(spelling);
  batch.bytes = tensor(bytes).view({static_cast<std::int64_t>(spelt.size()), longest});
  batch.sentences = std::move(chosen);
  return batch;
}

// A layer of LSTMs in both directions (Hochreiter & Schmidhuber 1997; Graves & Schmidhuber 2005).
Tensor BiLstm(TorchBackend& backend, const Tensor& rows, const std::vector<std::int64_t>& sizes,
              std::int64_t hidden) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden));
  std::vector<Tensor> weights;
  for (const char* direction : {"lstm.forward", "lstm.backward"}) {
    const std::string name = direction;
    weights.push_back(backend.Parameter(name + ".in", {4 * hidden, rows.size(1)}, bound));
    weights.push_back(backend.Parameter(name + ".own", {4 * hidden, hidden}, bound));
    weights.push_back(backend.Parameter(name + ".in_bias", {4 * hidden}, bound));
    weights.push_back(backend.Parameter(name + ".own_bias", {4 * hidden}, bound));
  }
  const Tensor begin = torch::zeros({2, sizes[0], hidden}, rows.options());
  const Tensor counts = torch::tensor(sizes, torch::TensorOptions(torch::kLong));  // on the host
  return std::get<0>(torch::lstm(rows, counts, {begin, begin}, weights, /*has_biases=*/true,
                                 /*num_layers=*/1, /*dropout=*/0.0, /*train=*/false,
                                 /*bidirectional=*/true));
}

class TaggerNet {
 public:
  TaggerNet(const SequenceTaggerTraining& options, std::int64_t words, torch::Device device)
      : backend(device), o_(options), words_(words), device_(device), only_(BioOnly()) {
    for (Tensor* part : {&only_.between, &only_.first, &only_.last}) *part = part->to(device);
  }

  // What is said of each row, a column for each label.
  Tensor Emissions(const TagBatch& batch, bool training) {
    const auto drop = [&](const Tensor& x) { return torch::dropout(x, o_.dropout, training); };
    Tensor words = batch.words;
    if (training) {
      words = words * (torch::rand(words.sizes(), torch::TensorOptions(device_)) >= o_.word_dropout)
                          .to(torch::kLong);
    }
    const Tensor rows = drop(torch::cat({Vectors("words", words_, o_.words, words),
                                         Spelling(batch.bytes).index_select(0, batch.spelling)},
                                        1));
    const Tensor states = drop(BiLstm(backend, rows, batch.sizes, o_.hidden));
    const auto labels = static_cast<std::int64_t>(kBioLabels);
    return backend.Linear(states.t().unsqueeze(0), "labels", 2 * o_.hidden, labels).squeeze(0).t();
  }
  ChainWeights Chain() {
    const auto n = static_cast<std::int64_t>(kBioLabels);
    return {backend.Parameter("between", {n, n}, 0.1) + only_.between,
            backend.Parameter("first", {n}, 0.1) + only_.first,
            backend.Parameter("last", {n}, 0.1) + only_.last};
  }
  // −log of the probability of the right labels, of each sentence.
  Tensor Loss(const TagBatch& batch, bool training) {
    const Tensor emissions = Emissions(batch, training);
    const ChainWeights chain = Chain();
    return ChainLogPartition(emissions, batch.sizes, chain) -
           ChainScore(emissions, batch.labels, batch.sizes, chain);
  }

  TorchBackend backend;

 private:
  Tensor Vectors(const std::string& name, std::int64_t count, std::int64_t size, const Tensor& of) {
    const double bound = std::sqrt(3.0 / static_cast<double>(size));
    return torch::embedding(backend.Parameter(name, {count, size}, bound), of);
  }
  // Of each different word: the most that each filter finds in it.
  Tensor Spelling(const Tensor& bytes) {
    const Tensor inside = (bytes > 0).unsqueeze(1);
    const Tensor x = Vectors("bytes", 257, o_.bytes, bytes).transpose(1, 2) * inside;
    ConvShape shape;
    shape.in = o_.bytes;
    shape.out = o_.filters;
    shape.kernel = 3;
    shape.padding = Padding::kZero;
    const Tensor found = backend.Conv1d(x, "spelling", shape);
    return torch::tanh(std::get<0>(found.masked_fill(inside.logical_not(), -1e4).max(2)));
  }

  SequenceTaggerTraining o_;
  std::int64_t words_;
  torch::Device device_;
  ChainWeights only_;
};

// All sentences in turn, of similar lengths at a time.
std::vector<TagBatch> InTurn(const std::vector<TaggedSentence>& sentences,
                             const Vocabulary& vocabulary, torch::Device device) {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].words.size() > sentences[b].words.size();
  });
  std::vector<TagBatch> batches;
  for (std::size_t i = 0; i < order.size(); i += kTaggedAtOnce) {
    const std::size_t end = std::min(order.size(), i + kTaggedAtOnce);
    batches.push_back(MakeBatch(sentences,
                                {order.begin() + static_cast<std::ptrdiff_t>(i),
                                 order.begin() + static_cast<std::ptrdiff_t>(end)},
                                vocabulary, device));
  }
  return batches;
}

class TaggerLesson : public Lesson {
 public:
  TaggerLesson(const std::vector<TaggedSentence>& training,
               const std::vector<TaggedSentence>& development,
               const SequenceTaggerTraining& options, Trainer& trainer)
      : training_(training),
        o_(options),
        device_(trainer.Device()),
        vocabulary_(training, options.least_count),
        random_(trainer.Random(1)),
        net_(options, vocabulary_.Size(), device_),
        smooth_(options, vocabulary_.Size(), device_),
        development_(InTurn(development, vocabulary_, device_)),
        developing_(static_cast<double>(development.size())) {
    for (TaggerNet* net : {&net_, &smooth_}) net->Loss(development_[0], false);
    weights_.emplace(net_.backend);
    average_.emplace(smooth_.backend);
  }

  std::vector<Learner> Learners() override { return {{"net", &*weights_, &*average_}}; }
  AdamOptions Adam() const override {
    AdamOptions adam;
    adam.beta1 = 0.9;
    adam.beta2 = 0.999;
    adam.clip = 5.0;
    return adam;
  }
  Losses Batch(const Moment& now) override {
    const auto at = static_cast<std::size_t>(now.step) % Batches();
    if (at == 0 || order_.empty()) Shuffle();
    const TagBatch batch = MakeBatch(training_, order_[at], vocabulary_, device_);
    const Tensor loss = net_.Loss(batch, true).mean();
    return {loss, {loss}};
  }
  std::vector<ValidationFigure> Validate(const std::vector<double>& means) override {
    double sum = 0.0;
    for (const TagBatch& batch : development_) {
      sum += smooth_.Loss(batch, false).sum().item<double>();
    }
    return {{"training_loss", "  training loss {:.3f}", means[0]},
            {"dev_loss", "  development loss {:.3f}", sum / developing_}};
  }
  std::string_view Best() const override { return "dev_loss"; }

  TagRows Tag(const std::vector<TaggedSentence>& sentences) {
    const torch::NoGradGuard no_grad;
    TagRows rows;
    for (const TaggedSentence& s : sentences) rows.emplace_back(s.words.size(), kOutside);
    for (const TagBatch& batch : InTurn(sentences, vocabulary_, device_)) {
      const auto best = ChainBest(smooth_.Emissions(batch, false), batch.sizes, smooth_.Chain());
      std::size_t row = 0;
      for (std::size_t t = 0; t < batch.sizes.size(); ++t) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(batch.sizes[t]); ++i) {
          rows[batch.sentences[i]][t] = static_cast<BioLabel>(best[row++]);
        }
      }
    }
    return rows;
  }
  std::int64_t Parameters() const { return weights_->Values().numel(); }

 private:
  std::size_t Batches() const {
    const auto size = static_cast<std::size_t>(o_.batch);
    return (training_.size() + size - 1) / size;
  }
  // All sentences in a new order, such of similar lengths together.
  void Shuffle() {
    const auto size = static_cast<std::size_t>(o_.batch);
    const auto longer = [&](std::size_t a, std::size_t b) {
      return training_[a].words.size() > training_[b].words.size();
    };
    std::vector<std::size_t> all(training_.size());
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random_);
    const std::size_t pool = 20 * size;
    for (std::size_t i = 0; i < all.size(); i += pool) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i);
      std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(std::min(pool, all.size() - i)),
                       longer);
    }
    order_.clear();
    for (std::size_t i = 0; i < all.size(); i += size) {
      order_.emplace_back(
          all.begin() + static_cast<std::ptrdiff_t>(i),
          all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), i + size)));
    }
    std::shuffle(order_.begin(), order_.end(), random_);
  }

  const std::vector<TaggedSentence>& training_;
  const SequenceTaggerTraining o_;
  const torch::Device device_;
  const Vocabulary vocabulary_;
  std::mt19937_64& random_;
  TaggerNet net_, smooth_;  // what learns, and the moving average of it
  const std::vector<TagBatch> development_;
  const double developing_;
  std::optional<FlatParameters> weights_, average_;
  std::vector<std::vector<std::size_t>> order_;
};

}  // namespace

const OptionTable<SequenceTaggerTraining>& SequenceTaggerTraining::Table() {
  using T = SequenceTaggerTraining;
  static const OptionTable<T> table = {
      {"epochs", &T::epochs, "Go through the sentences so many times at most", 1, 10000},
      {"batch", &T::batch, "Take so many sentences at a time", 1, 10000},
      {"words", &T::words, "Size of the vectors of words", 1, 4096},
      {"bytes", &T::bytes, "Size of the vectors of bytes in words", 1, 4096},
      {"filters", &T::filters, "Width of the convolution over a word's bytes", 1, 4096},
      {"hidden", &T::hidden, "Width of the LSTM of each direction", 1, 4096},
      {"least_count", &T::least_count, "Words that come less often than this share one vector", 1},
      {"word_dropout", &T::word_dropout, "Share of the words that are hidden in training", 0,
       kBelowOne},
      {"dropout", &T::dropout, "Share of the LSTMs' inputs and outputs that is dropped", 0,
       kBelowOne},
  };
  return table;
}

void SequenceTaggerTraining::Validate() const {
  RequireRanges(Table(), *this);
  run.Validate();
}

TrainedSequenceTagger TrainSequenceTagger(const std::vector<TaggedSentence>& training,
                                          const std::vector<TaggedSentence>& development,
                                          const std::vector<std::vector<TaggedSentence>>& to_tag,
                                          const SequenceTaggerTraining& options) {
  options.Validate();
  if (training.empty() || development.empty()) {
    throw Error(
        fmt::format("{} training and {} development sentences: at least one of each is "
                    "needed",
                    training.size(), development.size()));
  }
  SequenceTaggerTraining o = options;
  o.run.validate_every = (static_cast<std::int64_t>(training.size()) + o.batch - 1) / o.batch;
  o.run.steps = o.epochs * o.run.validate_every;
  Trainer trainer(o.run);
  TaggerLesson lesson(training, development, o, trainer);
  trainer.Run(lesson);
  TrainedSequenceTagger trained;
  for (const auto& sentences : to_tag) trained.tags.push_back(lesson.Tag(sentences));
  trained.curve = trainer.Curve();
  trained.best_step = trainer.BestStep();
  trained.parameters = lesson.Parameters();
  return trained;
}

}  // namespace sotto
