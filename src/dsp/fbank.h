// Log-mel filter banks, MFCC and LFCC as Kaldi computes them (Povey et al. 2011, "feature-window",
// "mel-computations"; mel scale of O'Shaughnessy 1987), and the variations other recipes use.
// Defaults differ from Kaldi's in two ways: snip_edges is off (frames are centred on multiples of
// the shift and edges are mirrored) and there is no dither, so that features do not depend on luck.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sotto {

// One column of `dimension` values per frame, columns one after the other.
struct Features {
  std::size_t dimension = 0, frames = 0;
  std::vector<float> values;

  std::span<float> Frame(std::size_t t) { return {values.data() + t * dimension, dimension}; }
  std::span<const float> Frame(std::size_t t) const {
    return {values.data() + t * dimension, dimension};
  }
};

enum class FrameWindow { kPovey, kHamming, kHann, kRectangular };
enum class FrameEdges {
  kMirror,  // Kaldi, snip_edges = false: round(n/shift) frames, samples mirrored at the ends
  kSnip,    // Kaldi, snip_edges = true: only frames that fit
  kCentre,  // 1 + floor(n/shift) frames around multiples of the shift, zeros beyond the ends
};
enum class MelScale {
  kKaldi,        // 1127·ln(1 + f/700), triangles on the mel axis, the highest FFT bin left out
  kSpeechBrain,  // 2595·log10(1 + f/700), triangles on the Hz axis, as wide as their lower half
  kLinear,       // f itself: of LFCC, with Mfcc
};
enum class MelLog {
  kNone,     // mel energies
  kNatural,  // ln(max(e, 2⁻²³))
  kDecibel,  // 10·log10(max(e, 1e-10)), not more than top_db below the largest of the utterance
};

struct FbankOptions {
  int rate_hz = 16000;
  double window_ms = 25.0;
  double shift_ms = 10.0;
  FrameWindow window = FrameWindow::kPovey;
  bool periodic_window = false;  // period N instead of N − 1
  FrameEdges edges = FrameEdges::kMirror;
  double preemphasis = 0.97;
  bool remove_dc = true;
  double scale = 32768.0;  // of samples with full scale 1; Kaldi works on 16-bit integers
  int fft_size = 0;        // 0: the next power of two
  int bins = 80;
  double low_hz = 20.0;
  double high_hz = 0.0;  // 0 or less: so far below half the rate
  MelScale mel = MelScale::kKaldi;
  MelLog log = MelLog::kNatural;
  double top_db = 80.0;

  // Of Sotto's encoders: 80 bins from 20 to 7600 Hz at 16 kHz.
  static FbankOptions Encoder();
  // Of SpeechBrain's ECAPA recipe: Hamming, FFT of 400, no pre-emphasis, dB with top_db 80.
  static FbankOptions SpeechBrain();

  void Validate() const;
  std::size_t WindowSamples() const;
  std::size_t ShiftSamples() const;
  std::size_t FftSize() const;
  // Of a signal with n samples.
  std::size_t Frames(std::size_t n) const;
};

// x at options.rate_hz, full scale 1. No samples, no frames.
Features LogMel(std::span<const float> x, const FbankOptions& options);

// The same as the signal comes, each frame once the samples of its window are there.
class LogMelStream {
 public:
  // Throws Error unless edges are mirrored and the logarithm is not the one of decibels, which
  // looks at the whole utterance.
  explicit LogMelStream(const FbankOptions& options);
  ~LogMelStream();
  LogMelStream(const LogMelStream&) = delete;
  LogMelStream& operator=(const LogMelStream&) = delete;

  // The frames that are ready.
  Features Push(std::span<const float> x);
  // The rest; no Push may follow.
  Features Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct MfccOptions {
  FbankOptions fbank;
  int cepstra = 13;           // c0 included
  double lifter = 22.0;       // 0: none
  bool use_energy = true;     // ln of the frame's energy, before window and pre-emphasis, for c0
  double energy_floor = 0.0;  // 0: 2⁻²³

  MfccOptions() { fbank.bins = 23; }
  void Validate() const;
};
Features Mfcc(std::span<const float> x, const MfccOptions& options);

// Appends `order` derivatives by regression over ±window frames (Kaldi's add-deltas); the first and
// last frame stand for those beyond the ends.
Features AddDeltas(const Features& features, int order = 2, int window = 2);

// Subtracts each coefficient's mean over the utterance, and divides by its deviation if asked.
void NormaliseUtterance(Features& features, bool variance = false);
// The same over a window of frames centred on each (Kaldi's apply-cmvn-sliding --center=true); at
// the ends the window is shifted inwards.
void NormaliseSliding(Features& features, int window = 300, bool variance = false);

struct VadOptions {
  double threshold = 5.0;
  double mean_scale = 0.5;
  int context = 0;  // frames to each side
  double proportion = 0.6;
};
// Kaldi's compute-vad: a frame is speech when `proportion` of the frames around it have a log
// energy (c0 of Mfcc with use_energy) above threshold + mean_scale·mean.
std::vector<bool> EnergyVad(const Features& mfcc, const VadOptions& options = {});

// The frames that are marked.
Features SelectFrames(const Features& features, const std::vector<bool>& keep);

}  // namespace sotto
