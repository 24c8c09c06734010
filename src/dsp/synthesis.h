// From vocoder frames back to sound: a pulse per period and a burst of noise per frame, each
// through the minimum-phase filter of the envelope (Morise et al. 2016; minimum phase by the folded
// cepstrum, Oppenheim & Schafer). Pulses take √(1 − a²) of the amplitude and noise a, a the
// aperiodicity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "dsp/fft.h"

namespace sotto {

// Frames in, samples out. The noise is drawn from a fixed seed: it is heard, it hides nothing.
class StreamSynthesiser {
 public:
  StreamSynthesiser(int rate_hz, double frame_period_s, std::size_t fft_size,
                    std::uint64_t seed = 1);

  // Frame t lies at t·frame_period_s. Envelope and aperiodicity have fft_size/2 + 1 values. Appends
  // the samples that are complete: all before t·frame_period_s, less LatencySamples().
  void Push(double f0_hz, std::span<const float> envelope, std::span<const float> aperiodicity,
            std::vector<float>& out);

  // Holds the last frame until `samples` samples have come out in all, and appends the rest. Throws
  // Error when more came out already.
  void Finish(std::size_t samples, std::vector<float>& out);

  // Samples kept back because filters ring slightly before their pulse: fft_size/16 + 1 (4 ms).
  std::size_t LatencySamples() const { return before_; }

 private:
  struct Frame {
    double f0_hz = 0.0;
    std::vector<float> log_magnitude, phase, aperiodicity;
  };

  void SetFilter(std::span<const float> envelope, Frame& frame);
  void AddNoise(std::size_t t);
  void AddPulses(std::size_t t);
  void AddPulse(double time, double period, double weight);
  // Adds response_ to the output, its sample 0 at `time`.
  void Place(std::int64_t time);
  void Emit(std::int64_t until, std::vector<float>& out);

  int rate_hz_;
  double hop_;
  std::size_t before_;
  RealFft fft_;
  SeededRng rng_;
  Frame last_, next_;
  std::size_t count_ = 0;  // frames taken
  double phase_ = 0.0;     // of the pulses, in periods
  bool voiced_ = false;
  std::vector<float> pending_;  // sums from sample pending_from_ on
  std::int64_t pending_from_;
  std::size_t emitted_ = 0;
  std::vector<float> response_, log_, angle_, re_, im_, noise_re_, noise_im_;
};

}  // namespace sotto
