// Speech that nobody recorded, and what the teacher hears in it. A student that hears the same
// utterances again, however changed, is always asked for the same states and comes to know them by
// heart; one that is asked for what the teacher says of the very sound it was given has to learn
// the teacher's function (Beyer et al. 2022, "Knowledge distillation: A good teacher is patient and
// consistent", section 3). So pieces of several utterances are joined, some with another one
// quietly behind them, at another speed; the teacher (listener.h) hears the result anew every time.
// What is said in it need not make sense: that words follow each other which never did is the use.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <random>
#include <vector>

#include "learn/frozen_nets.h"
#include "learn/options.h"
#include "learn/speech_data.h"

namespace sotto {

struct FreshSpeechOptions {
  double spliced = 0.6;     // share of crops that are pieces of several utterances
  std::int64_t pieces = 3;  // of those
  double mixed = 0.2;       // share with another utterance behind them
  double mixed_db_low = 5.0, mixed_db_high = 20.0;  // by which that one is quieter
  std::vector<double> speeds = {0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.18, 1.25, 1.33};

  static const OptionTable<FreshSpeechOptions>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

// The first of `from` up to a place of each row's own, then the second, and so on, faded over 10
// ms; of rows where `chosen` (batch × 1) is 0 the first alone.
torch::Tensor Splice(const std::vector<torch::Tensor>& from, const torch::Tensor& chosen);

// What `states` (batch × size × count), one every 384 samples, are at `frames` content frames: as
// InterpolateTeacher (nn/content.h).
torch::Tensor AtContentFrames(const torch::Tensor& states, std::int64_t frames);

class FreshSpeech {
 public:
  // All but the options are kept by reference.
  FreshSpeech(const SpeechData& data, const Words& teacher, FreshSpeechOptions options,
              std::mt19937_64& random);

  struct Batch {
    torch::Tensor samples, content;  // batch × samples, batch × size × frames
  };
  Batch Draw(std::int64_t batch, std::int64_t frames);

 private:
  const SpeechData& data_;
  const Words& teacher_;
  const FreshSpeechOptions o_;
  std::mt19937_64& random_;
};

}  // namespace sotto
