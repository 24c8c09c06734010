// A small convolutional net over words (Kim 2014, "Convolutional neural networks for sentence
// classification"): an embedding, three convolutions of different widths side by side, each with
// ReLU and the maximum over the text, dropout and one dense layer to a logit. Trained here by Adam
// on the logistic loss, all of it (the embedding from given vectors), without libtorch.
//
//   h_f = max_t ReLU(w_f · [e_t; …; e_{t+width−1}] + b_f),   logit = d · h + b
//
// Texts shorter than the widest convolution end in zeros.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

struct WordCnnOptions {
  int filters = 16;  // of each convolution
  std::array<int, 3> widths = {3, 4, 5};
  int epochs = 12;
  int batch = 16;
  double dropout = 0.5;  // of the maxima; Kim's
  double learning_rate = 2e-3;
  double weight_decay = 1e-3;  // on convolutions and the dense layer
  std::uint64_t seed = 1;      // of weights, order and dropout: an attacker needs no secret

  void Validate() const;  // throws Error
};

// A text is a row of columns of the embedding.
using TextRow = std::vector<std::int32_t>;

struct LabelledTexts {
  std::vector<TextRow> texts;
  std::vector<std::uint8_t> labels;  // 0 or 1
};

struct WordCnnWeights {
  Eigen::MatrixXf embedding;                    // dimension × words
  std::array<Eigen::MatrixXf, 3> convolutions;  // filters × (dimension · width)
  std::array<Eigen::VectorXf, 3> biases;        // filters
  Eigen::VectorXf dense;                        // 3 · filters
  Eigen::VectorXf bias = Eigen::VectorXf::Zero(1);
};

class WordCnn {
 public:
  // Weights as He et al. (2015) draw them.
  WordCnn(const Eigen::Ref<const Eigen::MatrixXf>& embedding, const WordCnnOptions& options);

  // The net after the epoch with the lowest loss on `held_out` (none: after the last). The result
  // depends on data and options alone. Throws Error without both classes, when numbers differ, or
  // for a word that the embedding lacks.
  static WordCnn Train(const Eigen::Ref<const Eigen::MatrixXf>& embedding,
                       const LabelledTexts& texts, const LabelledTexts& held_out,
                       const WordCnnOptions& options = {});

  // ln P(1)/P(0) by the shares of the training data.
  double Logit(const TextRow& text) const;
  double MeanLoss(const LabelledTexts& texts) const;

  // Adds the slopes of `scale` times the text's loss to `slopes`, which has the form of the
  // weights; `kept` (3 · filters numbers, empty: all 1) multiplies the maxima. Returns the loss.
  double AddSlopes(const TextRow& text, bool label, const Eigen::VectorXf& kept, float scale,
                   WordCnnWeights& slopes) const;

  const WordCnnWeights& Weights() const { return weights_; }
  WordCnnWeights& Weights() { return weights_; }

 private:
  struct Pass;
  Pass Forward(const TextRow& text) const;

  std::array<int, 3> widths_;
  WordCnnWeights weights_;
};

}  // namespace sotto
