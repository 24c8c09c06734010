// An AdaIN net (adain_net.h) with its weights.
//
// The file is safetensors with metadata sotto.kind "adain", sotto.options (AdainOptions as JSON)
// and sotto.training.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "nn/adain_net.h"
#include "nn/safetensors.h"
#include "nn/synth.h"

namespace sotto {

AdainOptions ReadAdainOptions(const TensorFile& file);
void WriteAdainOptions(const AdainOptions& options, TensorFile& file);

// As a net that makes waveforms (SynthStream) it works on pieces of 20 s with 2 s around them, so
// that the normalisation over time has something to go by, and fades from one piece to the next
// over 40 ms, since their means and variances are not the same.
class AdainNet : public WaveformNet {
 public:
  // Checks every tensor by a run on a few frames of zeros.
  explicit AdainNet(TensorFile file);

  const AdainOptions& Options() const { return options_; }
  const TensorFile& File() const override { return file_; }
  WaveformShape Shape() const override;
  // mels × n (100 Hz) to bottleneck × `frames`: mel frames beyond the last repeat it.
  Eigen::MatrixXf Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const;
  // The vector of who speaks there, of length 1.
  Eigen::VectorXf Speaker(const Eigen::MatrixXf& mels) const;
  Eigen::MatrixXf Run(const SynthInput<Eigen::MatrixXf>& input) const override;

 private:
  TensorFile file_;
  AdainOptions options_;
};

}  // namespace sotto
