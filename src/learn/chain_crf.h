// A linear-chain conditional random field (Lafferty, McCallum & Pereira 2001) on what a net says of
// each token, as the last layer of a tagger (Huang, Xu & Yu 2015, "Bidirectional LSTM-CRF models
// for sequence tagging"): the score of labels y for a sentence of n tokens is
//   s(y) = first[y_1] + Σ_t emission[t, y_t] + Σ_t between[y_{t−1}, y_t] + last[y_n],
// their probability exp(s(y) − log Z), Z the sum of exp s over all L^n rows of labels, found by the
// forward recursion in n·L² steps; the best row by Viterbi's.
//
// A batch has no padding: its sentences stand longest first, and its rows are ordered by time and
// then by sentence (the order of torch's packed sequences). `sizes[t]` is the number of sentences
// that have a token t, so that the rows of time t belong to the sentences 0 … sizes[t] − 1.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace sotto {

struct ChainWeights {
  torch::Tensor between;      // L × L: from the label of the row to that of the column
  torch::Tensor first, last;  // L
};

// log Z of each sentence.
torch::Tensor ChainLogPartition(const torch::Tensor& emissions,
                                const std::vector<std::int64_t>& sizes,
                                const ChainWeights& weights);

// s(labels) of each sentence; `labels` in the order of the rows.
torch::Tensor ChainScore(const torch::Tensor& emissions, const torch::Tensor& labels,
                         const std::vector<std::int64_t>& sizes, const ChainWeights& weights);

// The best labels, in the order of the rows; of equally good ones the first label.
std::vector<std::int64_t> ChainBest(const torch::Tensor& emissions,
                                    const std::vector<std::int64_t>& sizes,
                                    const ChainWeights& weights);

// What is added to weights so that nothing but BIO comes out (text/bio_labels.h): 0, or −10⁴ where
// MayFollow says no.
ChainWeights BioOnly();

}  // namespace sotto
