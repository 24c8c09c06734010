// Training of the AdaIN net (nn/adain_net.h), from speech and F0 alone. Crops are resynthesised
// from their own content, F0 and the speaker vector of *another* utterance of the speaker, and
// compared by log-mel spectra at four resolutions and by critics (spectral_losses.h), as the
// synthesiser's are. The content is heard through a stretched mel axis (augment.h) and with noise
// on it, so that it pays for the decoder to take the voice from the vector. A part of each batch is
// converted to another speaker of the batch, or to a voice between two, with F0 moved to that
// level, and judged by the critics and by the net's own encoders (their moving averages): the
// vector asked for should be heard in it, and the content that went in. Vectors of different crops
// are pushed apart (squared cosines), so that they fill the sphere that new voices are drawn on. A
// speaker encoder may judge too, and shows in validations how much of source and target it hears.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "learn/speech_data.h"
#include "learn/training_run.h"
#include "nn/adain.h"

namespace sotto {

struct AdainTraining {
  AdainOptions net;
  RunOptions run;
  HoldOut hold_out;
  std::int64_t batch = 32;
  // Of 10 ms, even: those that are compared, and further ones at either end. Both together are what
  // the normalisation goes by.
  std::int64_t frames = 160, margin = 16;
  std::int64_t voice_frames = 300;  // of the other utterance
  double content_noise = 0.5;       // deviation, on content of variance 1; not in use
  double warp = 0.1;                // of the mel axis that the content is taken from
  double gain_db = 10.0;            // level of the other utterance, up or down
  double mel_weight = 15.0, feature_weight = 2.0, critic_weight = 1.0;
  double critics_from = 0.08;  // part of the run after which critics judge and voices are converted
  std::int64_t critic_channels = 24;
  std::int64_t converted = 8;  // crops of a batch that are converted as well
  double mixed = 0.5;          // of these: to a voice between two speakers
  double speaker_weight = 1.0, content_weight = 1.0;
  double spread_weight = 1.0;   // of the squared cosines between the vectors of a batch
  double encoder_weight = 1.0;  // of the speaker encoder's verdict, where one is given
  double average = 0.999;
  double weight_decay = 0.01;

  AdainTraining() { run.final_learning_rate = 2e-5; }
  // Throws Error that names the field.
  void Validate() const;
};

struct AdainPoint {
  std::int64_t step = 0;
  double mel = 0.0, critic = 0.0, maker = 0.0, feature = 0.0;  // means over the steps before
  // On held-out speakers: mel distance; of conversions the cosine of the net's own speaker vector
  // to the one asked for and to the source's, the same by the given speaker encoder (0 without),
  // and the content's relative error.
  double held_out_mel = 0.0;
  double target_cosine = 0.0, source_cosine = 0.0;
  double encoder_target = 0.0, encoder_source = 0.0;
  double content_error = 0.0;
  double seconds = 0.0;
};

struct TrainedAdain {
  TensorFile file;
  std::vector<AdainPoint> curve;
};

// `encoder`: a speaker encoder (nn/ecapa.h) that made the features' embeddings, or nullptr.
TrainedAdain TrainAdain(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile* encoder, const AdainTraining& options,
                        const std::vector<double>& emphasis = {});

}  // namespace sotto
