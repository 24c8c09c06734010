// The content encoder and the synthesiser as their input comes: every frame is computed once, and
// comes out as soon as all that it sees is there (nn/stream_backend.h). For nets with a bounded
// look-ahead; the result is that of one piece (ContentNet::Encode, SynthNet::Run), to rounding.
// Recordings go faster through ContentNet::Encode and SynthStream, whose pieces are long.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/content.h"
#include "nn/stream_backend.h"
#include "nn/synth.h"

namespace sotto {

class LiveContent {
 public:
  // `net` must outlive it.
  explicit LiveContent(const ContentNet& net);

  // Mel frames in, content frames out: frame j once mel frame 2·(j + ahead) + 1 has come, where
  // ahead is what the net sees to the right.
  Eigen::MatrixXf Push(const Eigen::MatrixXf& mels);
  // The rest, up to `frames` in all, at least what has come: mel frames beyond the last repeat it.
  Eigen::MatrixXf Finish(std::int64_t frames);

 private:
  Eigen::MatrixXf Run(bool last);

  const ContentNet& net_;
  StreamBackend backend_;
  ContentStudent<StreamBackend> student_;
  Eigen::MatrixXf waiting_;  // mel frames that are no pair yet
  Eigen::VectorXf last_mel_;
  std::int64_t taken_ = 0;  // mel frames that have come
};

class LiveSynth {
 public:
  // `net` must outlive it. The noise is drawn from the seed: it has no secret to keep.
  LiveSynth(const SynthNet& net, std::span<const float> embedding, std::uint64_t noise_seed);

  // From the next frame on, at once: for a pause.
  void SetVoice(std::span<const float> embedding);
  // F0 (Hz, above 0) and voicing of the next frame of 10 ms. Pitch may run ahead of the content.
  void PushPitch(double f0_hz, bool voiced);
  // Content frames (columns). Appends the samples that are ready to `out`: after content frame j
  // the first 320·j − 80 − 160·ahead, where ahead is what the blocks see to the right (and half of
  // a window of 640), once frame 2·j + 2 of the pitch has come too.
  void PushContent(const Eigen::MatrixXf& content, std::vector<float>& out);
  // The rest: 320 samples for each content frame are out then; needs two frames of pitch for each.
  void Finish(std::vector<float>& out);

 private:
  void Run(const Eigen::MatrixXf& content, bool last, std::vector<float>& out);

  const SynthNet& net_;
  StreamBackend backend_;
  Synthesiser<StreamBackend> synthesiser_;
  Eigen::MatrixXf condition_;
  SourceMaker source_;
  std::vector<float> pitch_, harmonic_, noise_;  // not yet given to the net
  std::int64_t content_frames_ = 0, pitch_frames_ = 0;
};

}  // namespace sotto
