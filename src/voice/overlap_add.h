// Frames of two hops, windowed before and after by the square root of a periodic Hann window, which
// overlap-add to exactly one: a processor that changes nothing gives the input back.
#pragma once

#include <memory>

#include "voice/level_control.h"
#include "voice/transformer.h"

namespace sotto {

class FrameProcessor {
 public:
  virtual ~FrameProcessor() = default;
  // Changes one windowed frame in place.
  virtual void Process(std::span<double> frame) = 0;
};

// Runs a FrameProcessor over a stream, keeps its loudness and holds its peaks. Latency: the two
// hops of a frame and the one the peaks need.
class OverlapAdd : public StreamTransformer {
 public:
  OverlapAdd(std::unique_ptr<FrameProcessor> processor, std::size_t hop, double peak_limit);
  void Push(std::span<const float> in, std::vector<float>& out) override;
  void Finish(std::vector<float>& out) override;
  std::size_t LatencySamples() const override { return 3 * hop_; }

 private:
  void RunFrame(std::vector<float>& out);

  const std::unique_ptr<FrameProcessor> processor_;
  const std::size_t hop_;
  std::vector<double> window_;  // two hops
  std::vector<double> input_;   // two hops: the frame being filled
  std::vector<double> frame_;   // two hops: scratch
  std::vector<double> tail_;    // one hop: second half of the last frame's output
  std::size_t filled_;          // samples in input_
  bool before_signal_ = true;   // the next finished block lies before the signal
  LoudnessKeeper loudness_;
  PeakHolder peaks_;
  std::size_t pushed_ = 0, emitted_ = 0;
};

}  // namespace sotto
