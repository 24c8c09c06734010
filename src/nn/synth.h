// A synthesiser with its weights (synth_net.h), and its use on recordings of any length.
//
// The file is safetensors with metadata sotto.kind "synth", sotto.options (SynthOptions as JSON),
// sotto.content_noise (deviation of the noise added to the content, in training and in use) and
// sotto.training.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/safetensors.h"
#include "nn/source.h"
#include "nn/synth_net.h"

namespace sotto {

SynthOptions ReadSynthOptions(const TensorFile& file);
void WriteSynthOptions(const SynthOptions& options, TensorFile& file);

// The embedding as the net takes it: scaled to length √size. Throws Error for zeros.
Eigen::MatrixXf VoiceCondition(std::span<const float> embedding);

// How a net that makes a waveform is used on recordings of any length, in frames of 10 ms.
struct WaveformShape {
  std::int64_t content = 0, embedding = 0;
  Reach sees;              // beyond it nothing changes a frame, or little
  std::int64_t piece = 0;  // frames at a time
  std::int64_t fade = 0;   // from one piece to the next, where their samples are not the same
};

class WaveformNet {
 public:
  virtual ~WaveformNet() = default;
  virtual const TensorFile& File() const = 0;
  virtual WaveformShape Shape() const = 0;
  // In one piece.
  virtual Eigen::MatrixXf Run(const SynthInput<Eigen::MatrixXf>& input) const = 0;
};

class SynthNet : public WaveformNet {
 public:
  // Checks every tensor by a run on a few frames of zeros.
  explicit SynthNet(TensorFile file);

  const SynthOptions& Options() const { return options_; }
  const TensorFile& File() const override { return file_; }
  WaveformShape Shape() const override {
    return {options_.content, options_.embedding, options_.Sees(), 800, 0};
  }
  Eigen::MatrixXf Run(const SynthInput<Eigen::MatrixXf>& input) const override;

 private:
  TensorFile file_;
  SynthOptions options_;
};

// Frames in, samples out, in bounded memory: pieces of `chunk` frames (0: the net's), each with all
// that the net sees around it, so that the samples of a SynthNet are those of one piece (to
// rounding).
class SynthStream {
 public:
  // `net` must outlive the stream. The noise is drawn from the seed: it has no secret to keep.
  SynthStream(const WaveformNet& net, std::span<const float> embedding, std::uint64_t noise_seed,
              std::int64_t chunk = 0);

  // One content frame (a column) and the two frames of F0 (Hz, above 0) and voicing that belong to
  // it. Appends samples that are ready.
  void Push(const Eigen::Ref<const Eigen::VectorXf>& content, std::span<const double, 2> f0_hz,
            std::span<const bool, 2> voiced, std::vector<float>& out);
  // The rest: 320 samples for each content frame are out then.
  void Finish(std::vector<float>& out);

 private:
  void Run(std::int64_t end, std::int64_t to, std::vector<float>& out);

  const WaveformNet& net_;
  const WaveformShape shape_;
  Eigen::MatrixXf condition_;
  SourceMaker source_;
  Reach sees_;
  std::int64_t chunk_;
  std::vector<float> tail_;  // what the piece before has for the first frames of the next
  // From frame held_from_ on (even), frames of 10 ms.
  std::vector<float> content_, pitch_, harmonic_, noise_;
  std::int64_t held_from_ = 0, have_ = 0, next_ = 0;
};

}  // namespace sotto
