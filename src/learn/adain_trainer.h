// Training of the AdaIN net (nn/adain_net.h), from speech and F0 alone. Crops are resynthesised
// (resynthesis.h) from their own content, F0 and the speaker vector of *another* utterance of the
// speaker. The content is heard through a stretched mel axis (augment.h) and with noise on it, so
// that it pays for the decoder to take the voice from the vector. Conversions are judged by the
// net's own encoders too (their moving averages): the vector asked for should be heard in them, and
// the content that went in. Vectors of different crops are pushed apart (squared cosines), so that
// they fill the sphere that new voices are drawn on. A speaker encoder may judge too, and shows in
// validations how much of source and target it hears.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "learn/resynthesis.h"
#include "nn/adain.h"

namespace sotto {

struct AdainTraining : ResynthesisOptions {
  AdainOptions net;
  RunOptions run;
  HoldOut hold_out;
  std::int64_t voice_frames = 300;  // of the other utterance
  double warp = 0.1;                // of the mel axis that the content is taken from
  double gain_db = 10.0;            // level of the other utterance, up or down
  double spread_weight = 1.0;       // of the squared cosines between the vectors of a batch
  double encoder_weight = 1.0;      // of the speaker encoder's verdict, where one is given

  // The normalisation goes by all frames of a crop, so crops are long. The content's noise (on
  // variance 1) is not in use.
  AdainTraining() {
    frames = 160;
    content_noise = 0.5;
    run.final_learning_rate = 2e-5;
  }
  static const OptionTable<AdainTraining>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

// Its curve has of held-out speakers: the mel distance; of conversions the cosine of the net's own
// speaker vector to the one asked for and to the source's, the same by the given speaker encoder (0
// without), and the content's relative error.
struct TrainedAdain {
  TensorFile file;
  std::vector<TrainingPoint> curve;
};

// `encoder`: a speaker encoder (nn/ecapa.h) that made the features' embeddings, or nullptr.
TrainedAdain TrainAdain(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile* encoder, const AdainTraining& options,
                        const std::vector<double>& emphasis = {});

}  // namespace sotto
