// Training of the synthesiser (nn/synth_net.h). Crops are resynthesised (resynthesis.h) from their
// content, F0 and the embedding of *another* utterance of the speaker. Conversions are judged by
// the speaker encoder too (cosine to the embedding asked for, and none to the source's beyond the
// asked one's own) and by the content encoder (its states against those that were asked for).
// Content comes from the teacher or the student, at random, so that one synthesiser serves both.
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
#include "learn/resynthesis.h"
#include "learn/student.h"
#include "nn/synth.h"

namespace sotto {

// Without a speaker encoder nothing is converted. The content's noise is kept in use.
struct SynthTraining : ResynthesisOptions {
  SynthOptions net;
  std::optional<TensorFile> base;  // begins with this synthesiser's weights (base_net.h)
  RunOptions run;
  HoldOut hold_out;
  double student = 0.5;         // share of crops with the student's content
  double mean_embedding = 0.3;  // share of crops with the speaker's mean embedding
  double source_weight = 0.0;   // for being nearer to the source than the voice asked for is
  // Weight of the student's own task while it learns along; 0: it stays as it is.
  double distillation = 0.0;
  HeardChange change;      // of the speech that it hears then
  std::int64_t fresh = 0;  // crops of speech that nobody recorded (fresh_speech.h), too
  FreshSpeechOptions fresh_speech;
  std::int64_t fresh_frames = 200;     // of 20 ms in each
  double dropout = 0.0;                // in the student's blocks then
  std::optional<TensorFile> listener;  // nn/onnx_weights.h
  double listener_weight = 10.0;

  SynthTraining() {
    batch = 64;
    converted = 16;
    speaker_weight = content_weight = 2.0;
    run.final_learning_rate = 2e-5;
  }
  static const OptionTable<SynthTraining>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

// Its curve has of held-out speakers: the mel distance with the teacher's and the student's
// content; of conversions with the student's the cosine to the embedding asked for and to the
// source's, and the content's relative error; what the listener hears in conversions with either
// content (squared error over the variance, 0 without a listener); the error of the student's
// states, over the variance of the teacher's.
struct TrainedSynth {
  TensorFile file;
  std::optional<TensorFile> content;  // the student, where it learnt along
  std::vector<TrainingPoint> curve;
};

// `content`: the trained content encoder. `encoder`: the speaker encoder that made the embeddings
// (nn/ecapa.h); nullptr: nothing is converted.
TrainedSynth TrainSynth(const SpeechPack& pack, const FeaturePack& features,
                        const TensorFile& content, const TensorFile* encoder,
                        const SynthTraining& options, const std::vector<double>& emphasis = {});

}  // namespace sotto
