// Training of the synthesiser (nn/synth_net.h). Crops are resynthesised from their content, F0 and
// the embedding of *another* utterance of the speaker, and compared by log-mel spectra at four
// resolutions and by critics (spectral_losses.h). A part of each batch is converted to another
// speaker of the batch, or to a voice between two, with F0 moved to that speaker's level; no
// recording says how that sounds, so it is judged by the critics, by the speaker encoder (cosine to
// the embedding asked for, and none to the source's beyond the asked one's own) and by the content
// encoder (its states against those that were asked for). Content comes from the teacher or the
// student, at random, so that one synthesiser serves both.
//
// With `distillation` the student learns along. Its states are near the teacher's by one measure
// for all of them, and what is lost by it is not what a listener would miss least; so gradients of
// the speech that is made from them go on into the student, which hears changed voices (student.h)
// and is held near the teacher by its own task. The voice judges' gradients reach it as well: what
// it says of the source is a fault of every conversion. With `fresh` half of its own task is to
// follow the listener in speech that nobody recorded.
//
// With `listener` a recogniser hears all that is made (listener.h) and compares it with what it
// hears in the recording, in the coordinates of the bottleneck, which hold little of the voice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "learn/fresh_speech.h"
#include "learn/speech_data.h"
#include "learn/student.h"
#include "learn/training_run.h"
#include "nn/synth.h"

namespace sotto {

struct SynthTraining {
  SynthOptions net;
  std::optional<TensorFile> base;  // begins with this synthesiser's weights (base_net.h)
  RunOptions run;
  HoldOut hold_out;
  std::int64_t batch = 64;
  std::int64_t frames = 64;     // of 10 ms, even: those that are compared
  std::int64_t margin = 16;     // further frames at either end that the net sees
  double student = 0.5;         // share of crops with the student's content
  double mean_embedding = 0.3;  // share of crops with the speaker's mean embedding
  double content_noise = 0.0;   // deviation of noise added to the content, kept in use
  double mel_weight = 15.0, feature_weight = 2.0, critic_weight = 1.0;
  double critics_from = 0.08;  // part of the run after which the critics judge
  std::int64_t critic_channels = 24;
  std::int64_t converted = 16;  // crops of a batch that are converted as well; needs `encoder`
  double mixed = 0.5;           // of these: to a voice between two speakers
  double speaker_weight = 2.0, content_weight = 2.0;
  double source_weight = 0.0;  // for being nearer to the source than the voice asked for is
  double average = 0.999;
  double weight_decay = 0.01;
  // Weight of the student's own task while it learns along; 0: it stays as it is.
  double distillation = 0.0;
  HeardChange change;      // of the speech that it hears then
  std::int64_t fresh = 0;  // crops of speech that nobody recorded (fresh_speech.h), too
  FreshSpeechOptions fresh_speech;
  std::int64_t fresh_frames = 200;     // of 20 ms in each
  double dropout = 0.0;                // in the student's blocks then
  std::optional<TensorFile> listener;  // nn/onnx_weights.h
  double listener_weight = 10.0;

  SynthTraining() { run.final_learning_rate = 2e-5; }
  // Throws Error that names the field.
  void Validate() const;
};

struct SynthPoint {
  std::int64_t step = 0;
  double mel = 0.0, critic = 0.0, maker = 0.0, feature = 0.0;  // means over the steps before
  // On held-out speakers: mel distance with the teacher's and the student's content; of conversions
  // the cosine to the embedding asked for and to the source's, and the content's relative error.
  double held_out_mel = 0.0, held_out_mel_student = 0.0;
  double target_cosine = 0.0, source_cosine = 0.0, content_error = 0.0;
  // What the listener hears in conversions with the teacher's and the student's content: squared
  // error over the variance; 0 without a listener.
  double words_error = 0.0, words_error_student = 0.0;
  double student_error = 0.0;  // of the student's states, over the variance of the teacher's
  double seconds = 0.0;
};

struct TrainedSynth {
  TensorFile file;
  std::optional<TensorFile> content;  // the student, where it learnt along
  std::vector<SynthPoint> curve;
};

// `content`: the trained content encoder. `encoder`: the speaker encoder that made the embeddings
// (nn/ecapa.h); nullptr: nothing is converted.
TrainedSynth TrainSynth(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile& content, const TensorFile* encoder,
                        const SynthTraining& options, const std::vector<double>& emphasis = {});

}  // namespace sotto
