// The bottleneck that student and teacher share (nn/content.h), and how much of the speaker is left
// in it.
//
// z = P·(h − m): a linear map of the teacher's states h, found in closed form. First the k
// directions that tell speakers apart most for what they tell about speech are removed: with W the
// covariance of all states and B that of the speakers' mean states, the k largest eigenvectors of
// W^{−½}·B·W^{−½} are nulled by an oblique projection (nuisance attribute projection, Solomonoff,
// Quillen & Campbell 2005, in the metric of Belrose et al. 2023, "LEACE", which keeps everything
// else as it is). Then the d largest principal components are kept, on states whose components were
// brought to variance 1 before, so that no single loud component decides; one common factor gives z
// the mean variance 1. A linear map commutes with interpolation in time, so the teacher's own rate
// does not matter. What it costs and brings (60 utterances of libri_eval, Moonshine's decoder on
// states that went through the bottleneck and linearly back, neural_bench --words; a linear probe
// among 35 speakers; fitted on 1.9 h): 5.1 % word errors and 63 % named without it; d = 96: 7.2 %
// and 32 %; d = 64: 12.2 % and 29 %; d = 96 with k = 16: 25 % and 30 %. So k is 0 by default: the
// directions of speakers are those of words, too. Limits: what is not linear, and what is not in
// the mean over time, stays; the student, trained on changed voices against the unchanged one's
// states, loses more of it.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "learn/speech_data.h"
#include "nn/safetensors.h"

namespace sotto {

struct Bottleneck {
  torch::Tensor weight, bias;  // d × teacher, d; float on the data's device
  double kept = 0.0;           // share of the (standardised) states' variance; 0: not known
};

// From the training speakers of `data`.
Bottleneck FitBottleneck(const SpeechData& data, std::int64_t size, std::int64_t directions);

// The one that a content encoder's file holds.
Bottleneck ReadBottleneck(const TensorFile& content, torch::Device device);

// All content frames of the corpus × size, half precision.
torch::Tensor BottleneckTable(const SpeechData& data, const Bottleneck& bottleneck);

// Means over time of a table of content frames, one row for each of `utterances`.
torch::Tensor TimeMeans(const SpeechData& data, const torch::Tensor& table,
                        const std::vector<std::int64_t>& utterances);

// Which speakers a probe sees: utterances of up to `most_speakers` training speakers with at least
// four utterances, up to eight of each.
std::vector<std::int64_t> ProbeUtterances(const SpeechData& data, std::int64_t most_speakers);

// Share of right answers of a linear classifier (ridge regression onto speakers) that learns from
// every other row of `means` and is asked about the rest.
double SpeakerProbe(const torch::Tensor& means, const std::vector<std::int64_t>& speakers);

}  // namespace sotto
