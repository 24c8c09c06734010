// The content encoder as it is trained: speech that was changed goes in, the teacher's bottleneck
// of the unchanged speech is asked for. Used where it learns alone (content_trainer.h) and where it
// learns with the synthesiser that speaks from it (synth_trainer.h).
#pragma once

#include <cstdint>

#include "learn/augment.h"
#include "learn/flat_parameters.h"
#include "learn/options.h"
#include "learn/speech_data.h"
#include "learn/torch_backend.h"
#include "learn/torch_mel.h"
#include "nn/content.h"

namespace sotto {

inline constexpr TorchMelOptions kStudentMels = {16000, 80, 20.0, 7600.0};

// How speech is changed before the student hears it.
struct HeardChange {
  double warp = 0.15;      // of the mel axis
  double augmented = 0.8;  // share of crops with noise, room and channel
  double gain_db = 12.0;   // level, up or down
  AugmentOptions augment;
  std::int64_t mask_frames = 12, mask_bands = 8;  // widest of two masked stretches of each kind

  static const OptionTable<HeardChange>& Table();
  // Throws Error that names the field. `frames`: of 20 ms in a crop.
  void Validate(std::int64_t frames) const;
};

// batch × samples to batch × mels × frames.
torch::Tensor ChangedMels(const TorchMel& mel, const torch::Tensor& samples,
                          const NoiseBank& noises, const HeardChange& change);

// batch × mels × 2T to batch × size × T.
using Student = TorchNet<ContentStudent, ContentOptions>;

// Smooth L1 plus one minus the cosine of each frame, but for `margin` frames at either end.
torch::Tensor DistillationLoss(const torch::Tensor& states, const torch::Tensor& asked,
                               std::int64_t margin);

// Squared error over the variance of what was asked for.
double ErrorOverVariance(const torch::Tensor& heard, const torch::Tensor& asked);

// A content encoder that goes on learning while something else learns from its states.
class LearningStudent {
 public:
  // `teacher`: the bottleneck's table of the corpus (bottleneck.h).
  LearningStudent(const TensorFile& content, const SpeechData& data, torch::Tensor teacher,
                  NoiseBank noises, const HeardChange& change, double dropout, bool bf16);

  // States of `frames` content frames from where the crops begin, heard in changed speech with some
  // more around it, so that gradients come back; and how far all of it is from the teacher.
  struct Heard {
    torch::Tensor states, distillation;
  };
  Heard Hear(const Crops& crops, std::int64_t frames);
  // How far its states of `samples`, changed, are from the content asked for (fresh_speech.h).
  torch::Tensor Follow(const torch::Tensor& samples, const torch::Tensor& asked);
  // The moving average's states of unchanged speech, without gradients.
  torch::Tensor HearUnchanged(const Crops& crops, std::int64_t frames);
  // The moving average, in place of the tensors of the file it began with.
  TensorFile File();

 private:
  Crops Wider(const Crops& crops) const;

  const TensorFile begun_;
  const SpeechData& data_;
  const torch::Tensor teacher_;
  const NoiseBank noises_;
  const HeardChange change_;
  const TorchMel mel_;
  Student student_, smooth_;

 public:
  FlatParameters net, average;
};

}  // namespace sotto
