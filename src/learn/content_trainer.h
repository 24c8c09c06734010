// Training of the content encoder (nn/content_net.h): distillation of a recogniser's encoder (the
// teacher) without transcripts. The student hears speech that was changed (speed, which moves pitch
// and formants together; the mel axis, which moves formants alone; noise, room, channel, level;
// masked stretches) and is to give what the teacher's bottleneck (bottleneck.h) gave for the
// unchanged speech at the same places. What cannot be told from the changed voice, the speaker's
// own tract and pitch among it, is so not learnt (Qian et al. 2022, "ContentVec"). With `fresh` a
// part of each batch is speech that nobody recorded, of which the teacher is asked anew
// (fresh_speech.h).
// Loss: DistillationLoss (student.h). AdamW, moving average of the weights.
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
#include "learn/trainer.h"
#include "nn/content.h"

namespace sotto {

struct ContentTraining {
  ContentOptions net;
  RunOptions run;
  HoldOut hold_out;
  std::int64_t batch = 96;
  std::int64_t frames = 150;            // content frames (20 ms) of a crop
  std::int64_t margin = 8;              // of these at either end without a loss
  std::int64_t speaker_directions = 0;  // removed from the teacher's states (bottleneck.h)
  // Takes the bottleneck of this content encoder, so that a synthesiser serves both.
  std::optional<TensorFile> bottleneck_of;
  std::optional<TensorFile> base;  // begins with this content encoder's weights (base_net.h)
  std::vector<double> speeds = {0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.18, 1.25};
  HeardChange change;
  std::int64_t fresh = 0;  // crops of a batch
  FreshSpeechOptions fresh_speech;
  std::optional<TensorFile> listener;  // nn/onnx_weights.h: the teacher's net
  double dropout = 0.0;                // behind the GELU of every block

  ContentTraining() {
    run.learning_rate = 1e-3;
    run.steps = 6000;
    run.weight_decay = 0.02;
  }
  static const OptionTable<ContentTraining>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

// Its curve has of held-out speakers, unchanged: the squared error over the variance, and the mean
// cosine.
struct TrainedContent {
  TensorFile file;
  std::vector<TrainingPoint> curve;
  // Top-1 of a linear speaker classifier on time-averaged states, and what guessing gives.
  double probe_teacher = 0.0, probe_bottleneck = 0.0, probe_student = 0.0, probe_chance = 0.0;
};

TrainedContent TrainContent(const SpeechPack& pack, const FeaturePack& features,
                            const ContentTraining& options,
                            const std::vector<double>& emphasis = {});

// The student's states of every utterance: content frames of the corpus × size, half precision.
torch::Tensor StudentTable(const SpeechData& data, const TensorFile& content);

// How often a linear classifier names the speaker from a table's states averaged over time (up to
// 200 speakers); 0 where nobody has enough utterances.
double ProbeTable(const SpeechData& data, const torch::Tensor& table);

}  // namespace sotto
