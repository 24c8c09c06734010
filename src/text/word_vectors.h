// Word vectors by skip-gram with negative sampling (Mikolov, Sutskever, Chen, Corrado & Dean 2013,
// "Distributed representations of words and phrases and their compositionality", eq. 4), trained
// here: for a word w and a word c near it, with k words n drawn by P(n) ∝ count(n)^¾,
//
//   −ln σ(u_c·v_w) − Σ ln σ(−u_n·v_w)
//
// is made smaller by stochastic gradient descent. Words that keep the same company come to lie
// together. A word f of whose share of the text is above `subsample` t is skipped with probability
// 1 − √(t/f) (their eq. 5); how far a window reaches is drawn from 1 … `window` for each word.
//
// One thread and one seed: the vectors depend on sentences and options alone. An experiment's
// draws, which protect nobody.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sotto {

struct WordVectorOptions {
  int dimension = 32;
  int window = 5;     // words to either side, at most
  int negatives = 5;  // the paper's for small text: 5 to 20
  int epochs = 10;
  int min_count = 2;        // rarer words have no vector
  double subsample = 1e-3;  // share of the text; the paper's 1e-5 is for a thousand million words
  double learning_rate = 0.05;  // falls linearly to a ten-thousandth of it
  std::uint64_t seed = 1;

  void Validate() const;  // throws Error
};

class WordVectors {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Throws Error when no word is frequent enough.
  static WordVectors Train(const std::vector<std::vector<std::string>>& sentences,
                           const WordVectorOptions& options = {});

  // Words from the most frequent to the rarest, those of one count in order of bytes.
  const std::vector<std::string>& Words() const { return words_; }
  const Eigen::MatrixXf& Vectors() const { return vectors_; }  // dimension × words
  std::size_t Find(const std::string& word) const;             // kNone: it has no vector
  // The mean loss of a pair in each epoch.
  const std::vector<double>& Losses() const { return losses_; }

  // The mean vector of those words that have one; zero where none has.
  Eigen::VectorXf Mean(const std::vector<std::string>& words) const;
  // The places of those words that have a vector, in order.
  std::vector<std::int32_t> Places(const std::vector<std::string>& words) const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::size_t> place_;
  Eigen::MatrixXf vectors_;
  std::vector<double> losses_;
};

// One step of the descent: `centre` is v_w, the columns `near` of `outputs` are u_c and then the
// u_n. All slopes are those at the vectors that came in, unless a column is named twice. The loss
// before the step.
double SkipGramStep(Eigen::Ref<Eigen::VectorXf> centre, Eigen::MatrixXf& outputs,
                    std::span<const std::size_t> near, float rate);

}  // namespace sotto
