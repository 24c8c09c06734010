// Training of a speaker encoder (nn/ecapa.h, nn/xvector.h): additive angular margin softmax (Deng
// et al. 2019, eq. 3) over speakers × speeds, plus an angular prototypical term (Chung et al. 2020,
// eq. 8) between two crops of each speaker, on augmented crops; The
// equal error rate on held-out speakers is measured as training goes on, and the best net is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "audio/speech_pack.h"
#include "learn/augment.h"
#include "learn/trainer.h"
#include "nn/encoder_net.h"
#include "nn/safetensors.h"

namespace sotto {

// Ends the name of a speaker in an altered copy, before its number ("p001\x1f1"): a voice of its
// own, but held out together with the original.
inline constexpr char kAlteredMark = '\x1f';

struct EncoderTraining {
  EncoderNetOptions net = EcapaOptions{};
  RunOptions run;
  HoldOut hold_out;                              // speakers with at least three utterances
  std::vector<double> speeds = {1.0, 0.9, 1.1};  // each is a speaker of its own
  std::int64_t batch_speakers = 128;             // two crops of each
  std::int64_t frames = 256;                     // of 10 ms in a crop
  std::int64_t least_frames = 0;  // each batch draws its length from these to `frames`; 0: never
  double margin = 0.2, scale = 30.0;  // radians; the margin grows over the first third
  double prototype_weight = 0.5;
  AugmentOptions augment;
  double augmented = 0.85;                 // share of crops that are augmented
  std::map<std::string, double> emphasis;  // speakers drawn this much more often than others

  EncoderTraining() {
    run.steps = 6000;
    run.warm_up = 300;
    run.decay_after_warm_up = true;
    run.learning_rate = 1e-3;
    run.weight_decay = 0.05;
    run.average = 0.998;
    run.keep_best = true;
    hold_out.count = 40;
  }
  static const OptionTable<EncoderTraining>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

// Its curve has the loss, the accuracy of the softmax on augmented crops and the held-out EER.
struct TrainedEncoder {
  TensorFile file;  // with sotto.kind, sotto.options, sotto.features, sotto.training
  std::vector<TrainingPoint> curve;
  std::int64_t best_step = 0;
};

// `base`: fine-tuned from this file, or nullptr.
TrainedEncoder TrainEncoder(const SpeechPack& pack, const EncoderTraining& options,
                            const TensorFile* base);

}  // namespace sotto
