// Training of a speaker encoder (nn/ecapa.h, nn/xvector.h): additive angular margin softmax (Deng
// et al. 2019, eq. 3) over speakers × speeds, plus an angular prototypical term (Chung et al. 2020,
// eq. 8) between two crops of each speaker, on augmented crops; AdamW with warm-up and cosine
// decay; the saved net is an exponential moving average of the weights. The equal error rate on
// held-out speakers is measured as training goes on, the best net is kept, and training stops when
// it no longer falls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "audio/speech_pack.h"
#include "learn/augment.h"
#include "nn/encoder_net.h"
#include "nn/safetensors.h"

namespace sotto {

// Ends the name of a speaker in an altered copy, before its number ("p001\x1f1"): a voice of its
// own, but held out together with the original.
inline constexpr char kAlteredMark = '\x1f';

struct EncoderTraining {
  EncoderNetOptions net = EcapaOptions{};
  std::vector<double> speeds = {1.0, 0.9, 1.1};  // each is a speaker of its own
  std::int64_t speakers_per_batch = 128;         // two crops of each
  std::int64_t frames = 256;                     // of 10 ms in a crop
  std::int64_t least_frames = 0;  // each batch draws its length from these to `frames`; 0: never
  std::int64_t steps = 6000;
  std::int64_t warm_up = 300;
  double learning_rate = 1e-3, final_learning_rate = 1e-5;
  double weight_decay = 0.05;
  double margin = 0.2, scale = 30.0;  // radians; the margin grows over the first third
  double prototype_weight = 0.5;
  double average = 0.998;  // decay of the moving average
  AugmentOptions augment;
  double augmented = 0.85;                 // share of crops that are augmented
  std::map<std::string, double> emphasis;  // speakers drawn this much more often than others
  std::int64_t held_out = 40;         // speakers with at least three utterances, drawn by the seed
  std::vector<std::string> hold_out;  // of these, by name
  std::int64_t validate_every = 500;
  std::int64_t patience = 0;  // validations without a new best before stopping; 0: never
  bool keep_last = false;     // the net after the last step, not the best on held-out speakers
  std::uint64_t seed = 1;
  bool bf16 = false;  // activations in bfloat16 (CUDA)
  std::string device = "cpu";

  // Throws Error that names the field.
  void Validate() const;
};

struct TrainingPoint {
  std::int64_t step = 0;
  double loss = 0.0;
  double accuracy = 0.0;  // of the softmax on augmented crops
  double held_out_eer = 0.0;
  double seconds = 0.0;
};

struct TrainedEncoder {
  TensorFile file;  // with sotto.kind, sotto.options, sotto.features, sotto.training
  std::vector<TrainingPoint> curve;
  std::int64_t best_step = 0;
};

// `base` non-empty: fine-tuned from this file. `log` gets a line at each validation.
TrainedEncoder TrainEncoder(const SpeechPack& pack, const EncoderTraining& options,
                            const TensorFile* base);

}  // namespace sotto
