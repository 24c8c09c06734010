#include "nn/word_cnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "nn/adam.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

// What each filter hears in each window of `width` words.
MatrixXf Convolve(const MatrixXf& filters, const MatrixXf& text, int width) {
  const Index windows = text.cols() - width + 1, dimension = text.rows();
  MatrixXf heard = MatrixXf::Zero(filters.rows(), windows);
  for (Index k = 0; k < width; ++k) {
    heard.noalias() += filters.middleCols(k * dimension, dimension) * text.middleCols(k, windows);
  }
  return heard;
}

double LogisticLoss(double logit, bool label) {
  const double margin = label ? logit : -logit;
  return std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin)));
}

void Check(const LabelledTexts& data, Index words, const char* what) {
  if (data.texts.size() != data.labels.size()) {
    throw Error(fmt::format("word net: {} {} texts with {} labels", data.texts.size(), what,
                            data.labels.size()));
  }
  for (const TextRow& text : data.texts) {
    for (const std::int32_t word : text) {
      if (word < 0 || word >= words) {
        throw Error(fmt::format("word net: word {} of a {} text is none of the embedding's {}",
                                word, what, words));
      }
    }
  }
}

// Adam of all weights; of the embedding the words of a batch alone, since a batch tells nothing of
// the others.
class Learner {
 public:
  Learner(WordCnn& net, const WordCnnOptions& options)
      : net_(net),
        options_(options),
        slopes_(net.Weights()),
        dense_(slopes_.dense.size()),
        bias_(1),
        words_(static_cast<std::size_t>(slopes_.embedding.cols()), Adam(slopes_.embedding.rows())) {
    for (std::size_t c = 0; c < 3; ++c) {
      convolutions_.emplace_back(slopes_.convolutions[c].size());
      biases_.emplace_back(slopes_.biases[c].size());
    }
    slopes_.embedding.setZero();
  }

  void Batch(const LabelledTexts& data, std::span<const std::size_t> places, SeededRng& rng) {
    for (std::size_t c = 0; c < 3; ++c) {
      slopes_.convolutions[c].setZero();
      slopes_.biases[c].setZero();
    }
    slopes_.dense.setZero();
    slopes_.bias.setZero();
    std::vector<std::int32_t> seen;
    VectorXf kept(slopes_.dense.size());
    const auto share = static_cast<float>(1.0 / (1.0 - options_.dropout));
    for (const std::size_t place : places) {
      for (float& value : kept) value = rng.Uniform() < options_.dropout ? 0.0F : share;
      const TextRow& text = data.texts[place];
      net_.AddSlopes(text, data.labels[place] != 0, kept, 1.0F / static_cast<float>(places.size()),
                     slopes_);
      seen.insert(seen.end(), text.begin(), text.end());
    }
    Step(seen);
  }

 private:
  void Step(std::vector<std::int32_t>& seen) {
    WordCnnWeights& w = net_.Weights();
    const double rate = options_.learning_rate, decay = options_.weight_decay;
    ++t_;
    for (std::size_t c = 0; c < 3; ++c) {
      convolutions_[c].Step(Flat(w.convolutions[c]), Flat(slopes_.convolutions[c]), rate, decay,
                            t_);
      biases_[c].Step(w.biases[c], slopes_.biases[c], rate, 0.0, t_);
    }
    dense_.Step(w.dense, slopes_.dense, rate, decay, t_);
    bias_.Step(w.bias, slopes_.bias, rate, 0.0, t_);
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const std::int32_t word : seen) {
      words_[static_cast<std::size_t>(word)].Step(w.embedding.col(word),
                                                  slopes_.embedding.col(word), rate, 0.0, t_);
      slopes_.embedding.col(word).setZero();
    }
  }

  WordCnn& net_;
  const WordCnnOptions& options_;
  WordCnnWeights slopes_;
  std::vector<Adam> convolutions_, biases_;
  Adam dense_, bias_;
  std::vector<Adam> words_;
  int t_ = 0;
};

}  // namespace

struct WordCnn::Pass {
  MatrixXf text;  // dimension × words, padded
  VectorXf maxima;
  std::vector<Index> where;  // of each maximum; −1 where it is 0
};

void WordCnnOptions::Validate() const {
  if (filters < 1 || epochs < 1 || batch < 1 ||
      *std::min_element(widths.begin(), widths.end()) < 1) {
    throw Error("word net: filters, widths, epochs and batch are 1 or more");
  }
  if (!(dropout >= 0.0 && dropout < 1.0) || !(learning_rate > 0.0) || !(weight_decay >= 0.0)) {
    throw Error(fmt::format(
        "word net: dropout {} must lie in [0, 1), learning rate {} above 0, decay {} not below",
        dropout, learning_rate, weight_decay));
  }
}

WordCnn::WordCnn(const Eigen::Ref<const MatrixXf>& embedding, const WordCnnOptions& options)
    : widths_(options.widths) {
  options.Validate();
  SeededRng rng(options.seed);
  weights_.embedding = embedding;
  for (std::size_t c = 0; c < 3; ++c) {
    const Index inputs = embedding.rows() * widths_[c];
    weights_.convolutions[c].resize(options.filters, inputs);
    const double deviation = std::sqrt(2.0 / static_cast<double>(inputs));
    for (float& value : weights_.convolutions[c].reshaped()) {
      value = static_cast<float>(deviation * rng.Gaussian());
    }
    weights_.biases[c] = VectorXf::Zero(options.filters);
  }
  weights_.dense.resize(3 * options.filters);
  for (float& value : weights_.dense) {
    value = static_cast<float>(std::sqrt(1.0 / (3.0 * options.filters)) * rng.Gaussian());
  }
}

WordCnn::Pass WordCnn::Forward(const TextRow& text) const {
  Pass pass;
  const auto longest = static_cast<std::size_t>(*std::max_element(widths_.begin(), widths_.end()));
  pass.text =
      MatrixXf::Zero(weights_.embedding.rows(), static_cast<Index>(std::max(text.size(), longest)));
  for (std::size_t t = 0; t < text.size(); ++t) {
    pass.text.col(static_cast<Index>(t)) = weights_.embedding.col(text[t]);
  }
  const Index filters = weights_.biases[0].size();
  pass.maxima.resize(3 * filters);
  pass.where.resize(static_cast<std::size_t>(3 * filters));
  for (std::size_t c = 0; c < 3; ++c) {
    const MatrixXf heard = Convolve(weights_.convolutions[c], pass.text, widths_[c]);
    for (Index f = 0; f < filters; ++f) {
      Index where = 0;
      const float highest = heard.row(f).maxCoeff(&where) + weights_.biases[c][f];
      const Index place = static_cast<Index>(c) * filters + f;
      pass.maxima[place] = std::max(highest, 0.0F);
      pass.where[static_cast<std::size_t>(place)] = highest > 0.0F ? where : -1;
    }
  }
  return pass;
}

double WordCnn::Logit(const TextRow& text) const {
  return weights_.dense.dot(Forward(text).maxima) + weights_.bias[0];
}

double WordCnn::MeanLoss(const LabelledTexts& texts) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    sum += LogisticLoss(Logit(texts.texts[i]), texts.labels[i] != 0);
  }
  return texts.texts.empty() ? 0.0 : sum / static_cast<double>(texts.texts.size());
}

double WordCnn::AddSlopes(const TextRow& text, bool label, const VectorXf& kept, float scale,
                          WordCnnWeights& slopes) const {
  const Pass pass = Forward(text);
  const VectorXf hidden = kept.size() == 0 ? pass.maxima : VectorXf(pass.maxima.cwiseProduct(kept));
  const double logit = weights_.dense.dot(hidden) + weights_.bias[0];
  const auto slope =
      scale * static_cast<float>(1.0 / (1.0 + std::exp(-logit)) - (label ? 1.0 : 0.0));
  slopes.dense += slope * hidden;
  slopes.bias[0] += slope;
  const Index filters = weights_.biases[0].size(), dimension = pass.text.rows();
  for (Index place = 0; place < 3 * filters; ++place) {
    const Index where = pass.where[static_cast<std::size_t>(place)];
    const float back = slope * weights_.dense[place] * (kept.size() == 0 ? 1.0F : kept[place]);
    if (where < 0 || back == 0.0F) continue;
    const auto c = static_cast<std::size_t>(place / filters);
    const Index f = place % filters;
    slopes.convolutions[c].row(f) +=
        back * pass.text.middleCols(where, widths_[c]).reshaped().transpose();
    slopes.biases[c][f] += back;
    for (Index k = 0; k < widths_[c]; ++k) {
      const auto t = static_cast<std::size_t>(where + k);
      if (t >= text.size()) break;
      slopes.embedding.col(text[t]) +=
          back * weights_.convolutions[c].row(f).segment(k * dimension, dimension).transpose();
    }
  }
  return LogisticLoss(logit, label);
}

WordCnn WordCnn::Train(const Eigen::Ref<const MatrixXf>& embedding, const LabelledTexts& texts,
                       const LabelledTexts& held_out, const WordCnnOptions& options) {
  Check(texts, embedding.cols(), "training");
  Check(held_out, embedding.cols(), "held-out");
  const auto positives = std::count(texts.labels.begin(), texts.labels.end(), std::uint8_t{1});
  if (positives == 0 || positives == static_cast<std::ptrdiff_t>(texts.labels.size())) {
    throw Error(fmt::format("word net: {} of {} texts are of one class: both are needed", positives,
                            texts.labels.size()));
  }
  WordCnn net(embedding, options), best = net;
  double lowest = std::numeric_limits<double>::infinity();
  SeededRng rng(options.seed + 1);
  Learner learner(net, options);
  std::vector<std::size_t> order(texts.texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto batch = static_cast<std::size_t>(options.batch);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    for (std::size_t at = 0; at < order.size(); at += batch) {
      const std::size_t size = std::min(batch, order.size() - at);
      learner.Batch(texts, std::span(order).subspan(at, size), rng);
    }
    if (held_out.texts.empty()) continue;
    const double loss = net.MeanLoss(held_out);
    if (loss >= lowest) continue;
    lowest = loss;
    best = net;
  }
  return held_out.texts.empty() ? net : best;
}

}  // namespace sotto
