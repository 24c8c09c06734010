// What is said, without who says it: a content encoder with its weights, and the bottleneck that it
// shares with its teacher.
//
// The file is safetensors with metadata sotto.kind "content", sotto.options (ContentOptions as
// JSON), sotto.training; tensors of ContentStudent, and bottleneck.weight (size × teacher) and
// bottleneck.bias: states of the teacher (Moonshine tiny's encoder) to the same bottleneck.
// Content frame j describes the speech around sample 320·j + 160 at 16 kHz.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "nn/content_net.h"
#include "nn/safetensors.h"

namespace sotto {

// 80 bands at 100 Hz of round(samples/160) frames, as the encoder sees them.
ContentOptions ReadContentOptions(const TensorFile& file);
void WriteContentOptions(const ContentOptions& options, TensorFile& file);

// Content frames of so many samples: ⌈samples/320⌉, at least 1.
std::int64_t ContentFrames(std::int64_t samples);

// Cut to, or filled up with the last column to, so many columns.
Eigen::MatrixXf FitColumns(const Eigen::MatrixXf& x, Eigen::Index count);

// States of the teacher, one a column every 384 samples, at the places of `frames` content frames:
// linear between two, the first and last beyond the ends.
Eigen::MatrixXf InterpolateTeacher(const Eigen::MatrixXf& states, std::int64_t frames);

class ContentNet {
 public:
  // Checks every tensor by a run on a few frames of zeros.
  explicit ContentNet(TensorFile file);

  const ContentOptions& Options() const { return options_; }
  const TensorFile& File() const { return file_; }
  // mels × n (100 Hz) to size × `frames`: mel frames beyond the last repeat it. In one piece.
  Eigen::MatrixXf Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const;
  // The same through teacher states (not yet interpolated).
  Eigen::MatrixXf FromTeacher(const Eigen::MatrixXf& states, std::int64_t frames) const;

 private:
  TensorFile file_;
  ContentOptions options_;
};

}  // namespace sotto
