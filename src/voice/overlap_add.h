// Frames of two hops, windowed before and after by the square root of a periodic Hann window, which
// overlap-add to exactly one: a processor that changes nothing gives the input back.
#pragma once

#include <memory>

#include "voice/transformer.h"

namespace sotto {

class FrameProcessor {
 public:
  virtual ~FrameProcessor() = default;
  // Changes one windowed frame in place.
  virtual void Process(std::span<double> frame) = 0;
};

// Runs a FrameProcessor over a stream, keeps its loudness and holds its peaks.
//
// Loudness: overlapping frames that went through different filters add with a little less than
// their full amplitude. The energies of what went in and what came out are followed over about a
// second, and the frames to come are corrected by their ratio (at most ± 12 dB).
//
// Peaks: the gain at the border of two blocks of one hop is the smaller of the gains the two blocks
// need, and it runs linearly in between, so it never exceeds what a block needs and has no step.
class OverlapAdd : public StreamTransformer {
 public:
  OverlapAdd(std::unique_ptr<FrameProcessor> processor, std::size_t hop, double peak_limit);
  void Push(std::span<const float> in, std::vector<float>& out) override;
  void Finish(std::vector<float>& out) override;
  std::size_t LatencySamples() const override { return 3 * hop_; }

 private:
  void RunFrame();
  void FollowLoudness(std::span<const double> in, std::span<const double> out);
  void Emit(double next_gain, std::vector<float>& out);

  const std::unique_ptr<FrameProcessor> processor_;
  const std::size_t hop_;
  const double peak_limit_;
  std::vector<double> window_;   // two hops
  std::vector<double> input_;    // two hops: the frame being filled
  std::vector<double> frame_;    // two hops: scratch
  std::vector<double> tail_;     // one hop: second half of the last frame's output
  std::vector<double> ready_;    // one hop: finished but for the peak gain of the next
  std::size_t filled_;           // samples in input_
  std::size_t pushed_ = 0;
  std::size_t emitted_ = 0;
  int blocks_ = 0;               // finished blocks so far, the one before the start included
  double border_gain_ = 1.0;     // peak gain at the start of ready_
  double ready_gain_ = 1.0;      // peak gain ready_ needs
  double energy_in_ = 0.0, energy_out_ = 0.0;
  double loudness_gain_ = 1.0;
};

}  // namespace sotto
