// Speech and features of a corpus on the training device, and batches cut from them there: an index
// is drawn on the device, so that no step waits for the host.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "learn/training_run.h"

namespace sotto {

// Places in the corpus: of each row an utterance and where it begins, in content frames (320
// samples).
struct Crops {
  torch::Tensor utterance, start;  // batch, int64
};

// batch × size (× 1), each scaled to length √size, as the synthesiser takes it.
torch::Tensor UnitEmbeddings(const torch::Tensor& e);

class SpeechData {
 public:
  // `emphasis`: how much more often utterances of the speakers are drawn than others', one for each
  // utterance; empty: all alike. Speakers with more speech come more often, by the square root.
  SpeechData(const SpeechPack& pack, const FeaturePack& features, const HoldOut& hold_out,
             const std::vector<double>& emphasis, std::uint64_t seed, torch::Device device);

  torch::Device Device() const { return samples_.device(); }
  std::int64_t Utterances() const { return begin_.size(0); }
  std::int64_t StateSize() const { return states_.size(1); }
  double Hours() const { return static_cast<double>(samples_.size(0)) / 16000.0 / 3600.0; }
  const std::vector<std::int64_t>& Speakers() const { return speaker_; }  // of each utterance
  std::int64_t SpeakerCount() const { return speaker_count_; }
  const std::vector<std::int64_t>& Training() const { return training_; }  // utterances
  const std::vector<std::int64_t>& HeldOut() const { return held_out_; }
  std::int64_t ContentCount(std::int64_t utterance) const {
    return content_counts_[static_cast<std::size_t>(utterance)];
  }
  std::int64_t ContentBegin(std::int64_t utterance) const {
    return content_begins_[static_cast<std::size_t>(utterance)];
  }
  std::int64_t ContentTotal() const { return content_total_; }

  // `batch` places in training utterances from which `frames` content frames follow.
  Crops Draw(std::int64_t batch, std::int64_t frames) const;
  // The same few places in held-out utterances every time.
  Crops Fixed(std::int64_t batch, std::int64_t frames) const;

  // `frames` content frames of another utterance of the same speaker, where there is one; `fixed`:
  // the same every time.
  Crops Other(const Crops& crops, std::int64_t frames, bool fixed = false) const;

  // batch × n samples of full scale 1. Utterances that end before go round.
  torch::Tensor Samples(const Crops& crops, std::int64_t n) const;
  // batch × frames of 10 ms: F0 in Hz without gaps, and 1 or 0 for voiced or not.
  torch::Tensor F0(const Crops& crops, std::int64_t frames) const;
  torch::Tensor Voiced(const Crops& crops, std::int64_t frames) const;
  // Rows of `table` (all content frames of the corpus × size) at content frames start + speed·(j +
  // ½) − ½, j = 0 … frames − 1, linear between two: batch × size × frames.
  torch::Tensor Content(const torch::Tensor& table, const Crops& crops, std::int64_t frames,
                        double speed = 1.0) const;
  // One whole utterance: 1 × samples.
  torch::Tensor Whole(std::int64_t utterance, std::int64_t most_samples) const;

  // batch × size × 1, length √size: of another utterance of the same speaker where there is one.
  torch::Tensor OtherEmbedding(const Crops& crops) const;
  // The speaker's mean over utterances.
  torch::Tensor MeanEmbedding(const Crops& crops) const;
  // Gain (batch × 1) that brings the utterance's voiced frames to the power 0.05².
  torch::Tensor LevelGain(const Crops& crops) const;
  // Mean ln F0 of the crops' speakers, batch × 1.
  torch::Tensor SpeakerPitch(const Crops& crops) const;

  // Teacher states of content frames [begin, end): (end − begin) × size, float.
  torch::Tensor TeacherStates(std::int64_t begin, std::int64_t end) const;

 private:
  void LoadSpeakers(const SpeechPack& pack, const HoldOut& hold_out,
                    const std::vector<double>& emphasis, std::uint64_t seed);
  void NumberSpeakers(const SpeechPack& pack);
  void LoadFeatures(const SpeechPack& pack, const FeaturePack& features, torch::Device device);
  torch::Tensor OtherUtterance(const Crops& crops, const torch::Tensor& share) const;
  torch::Tensor FrameIndex(const Crops& crops, std::int64_t frames) const;

  torch::Tensor samples_;                                      // int16
  torch::Tensor begin_, cycle_, content_begin_, frame_begin_;  // of each utterance
  torch::Tensor cumulative_;  // of the weights of training utterances
  torch::Tensor training_index_;
  torch::Tensor states_, state_index_, state_share_;  // of each content frame
  torch::Tensor f0_, voiced_;
  torch::Tensor embeddings_, means_, gain_, pitch_;
  torch::Tensor speaker_index_, other_begin_, other_count_, other_list_, place_;
  std::vector<std::int64_t> content_counts_, content_begins_, sample_counts_, sample_begins_;
  std::vector<std::int64_t> speaker_, training_, held_out_;
  std::int64_t content_total_ = 0, speaker_count_ = 0;
};

}  // namespace sotto
