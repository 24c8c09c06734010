// A speaker net with its weights: what a file holds, and mel features to an embedding.
//
// The file is safetensors with metadata
//   sotto.kind     "ecapa" or "xvector"
//   sotto.options  JSON of the net's sizes (EcapaOptions, XvectorOptions); absent in a foreign
//   file,
//                  whose sizes are then read off its tensors
//   sotto.features JSON of the front-end (dsp/fbank.h), sotto.calibration JSON {scale, offset},
//   sotto.training JSON: what it was trained on and how, sotto.attacker JSON (attack): optional
// Foreign SpeechBrain checkpoints (ECAPA-TDNN, x-vector) load with their own tensor names
// (docs/models.md has the map).
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "nn/ecapa.h"
#include "nn/safetensors.h"
#include "nn/xvector.h"

namespace sotto {

using EncoderNetOptions = std::variant<EcapaOptions, XvectorOptions>;

// Kind and sizes from metadata or, without it, from the tensors. Throws Error when they fit neither
// net.
EncoderNetOptions ReadEncoderNetOptions(const TensorFile& file);
// Sets sotto.kind and sotto.options.
void WriteEncoderNetOptions(const EncoderNetOptions& options, TensorFile& file);

// Subtracts `mean` from every embedding of this net, folded into the bias of its last layer:
// cosines of another kind of recording than the training's are then not all alike.
void CentreEmbeddings(TensorFile& file, std::span<const float> mean);

// The mean of nets that were trained on from the same one (Wortsman et al. 2022, "Model soups",
// uniform): each weight's, the running statistics of norms included. Metadata is the first one's.
// Throws Error where their tensors differ in name or shape.
TensorFile AverageNets(std::span<const TensorFile> nets);

class EncoderNet {
 public:
  // Checks every tensor by a run on a second of zeros.
  explicit EncoderNet(TensorFile file);

  std::int64_t Mels() const;
  std::int64_t Dimension() const;
  const TensorFile& File() const { return file_; }
  // The embedding of mels × frames (at least 10 frames), not normalised. Thread-safe.
  std::vector<float> Embed(const Eigen::MatrixXf& mels) const;

 private:
  TensorFile file_;
  EncoderNetOptions options_;
};

}  // namespace sotto
