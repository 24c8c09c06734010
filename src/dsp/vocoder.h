// A speech vocoder after WORLD (Morise, Yokomori & Ozawa 2016): speech as F0, spectral envelope and
// aperiodicity every 5 ms, and back. 16–48 kHz. The parts: f0.h, envelope.h (CheapTrick),
// aperiodicity.h (D4C), synthesis.h (minimum-phase pulses and noise).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dsp/f0.h"

namespace sotto {

// Frame t describes the signal around t·frame_period_s.
struct VocoderFrames {
  int rate_hz = 16000;
  double frame_period_s = 0.005;
  std::size_t fft_size = 0;
  std::vector<double> f0_hz;    // 0: unvoiced
  std::vector<float> envelope;  // frames × (fft_size/2 + 1), power per sample
  std::vector<float>
      aperiodicity;  // the same shape: amplitude of the noise part over the whole, 0–1

  std::size_t Frames() const { return f0_hz.size(); }
  std::size_t Bins() const { return fft_size / 2 + 1; }
  std::span<float> Envelope(std::size_t t) { return {envelope.data() + t * Bins(), Bins()}; }
  std::span<const float> Envelope(std::size_t t) const {
    return {envelope.data() + t * Bins(), Bins()};
  }
  std::span<float> Aperiodicity(std::size_t t) {
    return {aperiodicity.data() + t * Bins(), Bins()};
  }
  std::span<const float> Aperiodicity(std::size_t t) const {
    return {aperiodicity.data() + t * Bins(), Bins()};
  }
};

struct VocoderOptions {
  using F0Method = sotto::F0Method;
  F0Method f0_method = F0Method::kFast;
  double f0_floor_hz = 71.0;
  double f0_ceil_hz = 800.0;
  double frame_period_s = 0.005;
  double lifter_q1 = -0.15;  // spectral recovery of CheapTrick; its paper of 2015 has −0.09

  // Throws Error unless 16–48 kHz, 40 Hz ≤ floor < ceiling ≤ 1000 Hz, period 1–20 ms.
  void Validate(int rate_hz) const;
};

// The envelope's FFT: the smallest power of two that holds three periods of the lowest F0 twice
// over (1024 at 16 kHz, 2048 at 48 kHz).
std::size_t VocoderFftSize(int rate_hz, double f0_floor_hz = 71.0);

// floor(samples/(rate·period)) + 1: the last frame lies at or before the end.
std::size_t VocoderFrameCount(std::size_t samples, int rate_hz, double frame_period_s = 0.005);

// All frames of a signal. About 0.8 MB a second at 16 kHz: use BlockAnalyser for long recordings.
VocoderFrames Analyse(std::span<const float> x, int rate_hz, const VocoderOptions& options = {});

// Exactly `samples` samples. The same frames give the same samples.
std::vector<float> Synthesise(const VocoderFrames& frames, std::size_t samples);

// Analysis of a recording of any length in bounded memory: blocks of `block_s` seconds, each
// analysed with a second of context on either side. Frames equal those of Analyse() except where an
// F0 decision hangs on speech more than a second away.
class BlockAnalyser {
 public:
  BlockAnalyser(int rate_hz, const VocoderOptions& options = {}, double block_s = 10.0);

  // Takes samples; returns the frames that became ready, often none (Frames() == 0).
  VocoderFrames Push(std::span<const float> x);
  // The remaining frames. Together they are VocoderFrameCount(all samples).
  VocoderFrames Finish();

 private:
  void Drain(std::size_t last_frame, VocoderFrames& out);
  int rate_hz_;
  VocoderOptions options_;
  std::size_t block_frames_, context_frames_;
  std::vector<float> held_;  // samples from held_from_ on
  std::size_t held_from_ = 0;
  std::size_t next_frame_ = 0;
};

}  // namespace sotto
