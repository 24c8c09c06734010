#include "dsp/fbank.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "dsp/fft.h"
#include "dsp/spectrogram.h"
#include "dsp/vector_math.h"

namespace sotto {
namespace {

constexpr float kFloor = std::numeric_limits<float>::epsilon();  // 2⁻²³, as Kaldi has it
constexpr double kDecibelFloor = 1e-10;

std::vector<float> MakeWindow(const FbankOptions& options) {
  const std::size_t n = options.WindowSamples();
  std::vector<float> window(n, 1.0F);
  const double step =
      2.0 * std::numbers::pi / static_cast<double>(options.periodic_window ? n : n - 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double c = std::cos(step * static_cast<double>(i));
    switch (options.window) {
      case FrameWindow::kPovey:
        window[i] = static_cast<float>(std::pow(0.5 - 0.5 * c, 0.85));
        break;
      case FrameWindow::kHamming:
        window[i] = static_cast<float>(0.54 - 0.46 * c);
        break;
      case FrameWindow::kHann:
        window[i] = static_cast<float>(0.5 - 0.5 * c);
        break;
      case FrameWindow::kRectangular:
        break;
    }
  }
  return window;
}

// Non-zero weights of one mel bin.
struct Triangle {
  std::size_t first = 0;
  std::vector<float> weights;
};

double ToMel(double hz, MelScale scale) {
  if (scale == MelScale::kLinear) return hz;
  return scale == MelScale::kKaldi ? 1127.0 * std::log(1.0 + hz / 700.0)
                                   : 2595.0 * std::log10(1.0 + hz / 700.0);
}

double FromMel(double mel) { return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0); }

double HighHz(const FbankOptions& options) {
  return options.high_hz > 0.0 ? options.high_hz : 0.5 * options.rate_hz + options.high_hz;
}

std::vector<Triangle> MakeTriangles(const FbankOptions& options) {
  const std::size_t fft = options.FftSize();
  const double low = ToMel(options.low_hz, options.mel), high = ToMel(HighHz(options), options.mel);
  const auto count = static_cast<std::size_t>(options.bins);
  const double step = (high - low) / static_cast<double>(count + 1);
  const std::size_t used = options.mel == MelScale::kKaldi ? fft / 2 : fft / 2 + 1;
  std::vector<Triangle> triangles(count);
  for (std::size_t b = 0; b < count; ++b) {
    const double left = low + step * static_cast<double>(b);
    std::vector<float> weights(used);
    for (std::size_t k = 0; k < used; ++k) {
      const double hz = static_cast<double>(k) * options.rate_hz / static_cast<double>(fft);
      double weight = 0.0;
      if (options.mel != MelScale::kSpeechBrain) {
        const double mel = ToMel(hz, options.mel);
        weight = 1.0 - std::abs(mel - (left + step)) / step;
      } else {
        const double centre = FromMel(left + step), band = centre - FromMel(left);
        weight = 1.0 - std::abs(hz - centre) / band;
      }
      weights[k] = static_cast<float>(std::max(weight, 0.0));
    }
    const auto positive = [](float w) { return w > 0.0F; };
    const auto begin = std::find_if(weights.begin(), weights.end(), positive);
    const auto end = std::find_if(weights.rbegin(), weights.rend(), positive).base();
    if (begin == weights.end()) {
      throw Error(
          fmt::format("log-mel: bin {} of {} holds no FFT bin (size {}); use fewer bins or "
                      "a larger FFT",
                      b + 1, count, fft));
    }
    triangles[b].first = static_cast<std::size_t>(begin - weights.begin());
    triangles[b].weights.assign(begin, end);
  }
  return triangles;
}

// Cuts frames and turns them into mel energies.
class MelFrames {
 public:
  explicit MelFrames(const FbankOptions& options)
      : options_(options),
        window_(MakeWindow(options)),
        triangles_(MakeTriangles(options)),
        frame_(options.FftSize()),
        power_(options.FftSize() / 2 + 1),
        imaginary_(power_.size()) {
    const std::size_t size = options.FftSize();
    if (std::has_single_bit(size) && size >= 64) {
      fft_.emplace(size);
    } else {
      slow_fft_.emplace(size);
    }
  }

  // Writes the mel energies of frame t; returns its energy (Kaldi's raw energy).
  float Compute(std::span<const float> x, std::size_t t, std::span<float> mel) {
    Cut(x, t);
    const std::size_t n = window_.size();
    if (options_.remove_dc) {
      double sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += frame_[i];
      const auto mean = static_cast<float>(sum / static_cast<double>(n));
      for (std::size_t i = 0; i < n; ++i) frame_[i] -= mean;
    }
    const std::span<const float> cut(frame_.data(), n);
    const float energy = Dot(cut, cut);
    if (options_.preemphasis != 0.0) {
      const auto a = static_cast<float>(options_.preemphasis);
      for (std::size_t i = n; i-- > 1;) frame_[i] -= a * frame_[i - 1];
      frame_[0] -= a * frame_[0];
    }
    for (std::size_t i = 0; i < n; ++i) frame_[i] *= window_[i];
    std::fill(frame_.begin() + static_cast<std::ptrdiff_t>(n), frame_.end(), 0.0F);
    if (fft_) {
      fft_->Forward(frame_, power_, imaginary_);
      for (std::size_t k = 0; k < power_.size(); ++k) {
        power_[k] = power_[k] * power_[k] + imaginary_[k] * imaginary_[k];
      }
    } else {
      slow_fft_->Compute(frame_, power_);
    }
    for (std::size_t b = 0; b < triangles_.size(); ++b) {
      const Triangle& triangle = triangles_[b];
      mel[b] =
          Dot(triangle.weights, std::span(power_).subspan(triangle.first, triangle.weights.size()));
    }
    return energy;
  }

 private:
  void Cut(std::span<const float> x, std::size_t t) {
    const auto size = static_cast<std::ptrdiff_t>(x.size());
    const auto n = static_cast<std::ptrdiff_t>(window_.size());
    const auto shift = static_cast<std::ptrdiff_t>(options_.ShiftSamples());
    std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(t) * shift;
    if (options_.edges == FrameEdges::kMirror) begin += shift / 2 - n / 2;
    if (options_.edges == FrameEdges::kCentre) begin -= n / 2;
    const auto scale = static_cast<float>(options_.scale);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      std::ptrdiff_t at = begin + i;
      if (options_.edges == FrameEdges::kCentre && (at < 0 || at >= size)) {
        frame_[static_cast<std::size_t>(i)] = 0.0F;
        continue;
      }
      // Short signals are mirrored more than once.
      while (at < 0 || at >= size) at = at < 0 ? -at - 1 : 2 * size - 1 - at;
      frame_[static_cast<std::size_t>(i)] = scale * x[static_cast<std::size_t>(at)];
    }
  }

  const FbankOptions& options_;
  std::vector<float> window_;
  std::vector<Triangle> triangles_;
  std::vector<float> frame_, power_, imaginary_;
  std::optional<RealFft> fft_;
  std::optional<PowerSpectrum> slow_fft_;
};

void ToDecibel(Features& features, double top_db) {
  float largest = -std::numeric_limits<float>::infinity();
  for (float& value : features.values) {
    value = static_cast<float>(10.0 * std::log10(std::max<double>(value, kDecibelFloor)));
    largest = std::max(largest, value);
  }
  const float floor = largest - static_cast<float>(top_db);
  for (float& value : features.values) value = std::max(value, floor);
}

}  // namespace

FbankOptions FbankOptions::Encoder() {
  FbankOptions options;
  options.high_hz = 7600.0;
  return options;
}

FbankOptions FbankOptions::SpeechBrain() {
  FbankOptions options;
  options.window = FrameWindow::kHamming;
  options.periodic_window = true;
  options.edges = FrameEdges::kCentre;
  options.preemphasis = 0.0;
  options.remove_dc = false;
  options.scale = 1.0;
  options.fft_size = 400;
  options.low_hz = 0.0;
  options.mel = MelScale::kSpeechBrain;
  options.log = MelLog::kDecibel;
  return options;
}

void FbankOptions::Validate() const {
  const auto in = [](double value, double lo, double hi, const char* name) {
    if (!(value >= lo && value <= hi)) {
      throw Error(fmt::format("{} {} is outside {} to {}", name, value, lo, hi));
    }
  };
  in(rate_hz, 1000, 192000, "features: rate_hz");
  in(window_ms, 1.0, 1000.0, "features: window_ms");
  in(shift_ms, 0.5, 1000.0, "features: shift_ms");
  in(preemphasis, 0.0, 1.0, "features: preemphasis");
  in(bins, 3, 1024, "features: bins");
  in(low_hz, 0.0, 0.5 * rate_hz, "features: low_hz");
  in(HighHz(*this), low_hz + 1.0, 0.5 * rate_hz, "features: high_hz");
  in(top_db, 0.0, 1000.0, "features: top_db");
  if (WindowSamples() < 8 || ShiftSamples() < 1 || FftSize() < WindowSamples() ||
      FftSize() % 2 != 0) {
    throw Error(
        fmt::format("features: a window of {} samples, a shift of {}, an even FFT of {} "
                    "that holds the window: not possible",
                    WindowSamples(), ShiftSamples(), FftSize()));
  }
}

std::size_t FbankOptions::WindowSamples() const {
  return static_cast<std::size_t>(rate_hz * 0.001 * window_ms + 1e-9);
}

std::size_t FbankOptions::ShiftSamples() const {
  return static_cast<std::size_t>(rate_hz * 0.001 * shift_ms + 1e-9);
}

std::size_t FbankOptions::FftSize() const {
  return fft_size > 0 ? static_cast<std::size_t>(fft_size) : std::bit_ceil(WindowSamples());
}

std::size_t FbankOptions::Frames(std::size_t n) const {
  const std::size_t window_n = WindowSamples(), shift = ShiftSamples();
  if (n == 0) return 0;
  switch (edges) {
    case FrameEdges::kSnip:
      return n < window_n ? 0 : 1 + (n - window_n) / shift;
    case FrameEdges::kCentre:
      return 1 + n / shift;
    default:
      return (n + shift / 2) / shift;
  }
}

Features LogMel(std::span<const float> x, const FbankOptions& options) {
  options.Validate();
  Features features{static_cast<std::size_t>(options.bins), options.Frames(x.size()), {}};
  features.values.resize(features.dimension * features.frames);
  MelFrames frames(options);
  for (std::size_t t = 0; t < features.frames; ++t) frames.Compute(x, t, features.Frame(t));
  if (options.log == MelLog::kNatural) LogInto(features.values, kFloor, features.values);
  if (options.log == MelLog::kDecibel) ToDecibel(features, options.top_db);
  return features;
}

struct LogMelStream::State {
  explicit State(const FbankOptions& o) : options(o), frames(options) {}

  // Frames next … end − 1.
  Features Compute(std::size_t end) {
    Features features{static_cast<std::size_t>(options.bins), end - std::min(end, next), {}};
    features.values.resize(features.dimension * features.frames);
    for (std::size_t t = 0; t < features.frames; ++t) {
      frames.Compute(held, next + t - held_from, features.Frame(t));
    }
    if (options.log == MelLog::kNatural) LogInto(features.values, kFloor, features.values);
    next += features.frames;
    // A window begins less than its length before its frame does.
    const std::size_t shift = options.ShiftSamples(), reach = options.WindowSamples() / shift + 1;
    const std::size_t keep = std::max(held_from, next - std::min(next, reach));
    held.erase(held.begin(),
               held.begin() + static_cast<std::ptrdiff_t>((keep - held_from) * shift));
    held_from = keep;
    return features;
  }

  const FbankOptions options;
  MelFrames frames;
  std::vector<float> held;                         // samples from frame held_from on
  std::size_t held_from = 0, next = 0, taken = 0;  // frames, frames, samples
};

LogMelStream::LogMelStream(const FbankOptions& options) {
  options.Validate();
  if (options.edges != FrameEdges::kMirror || options.log == MelLog::kDecibel) {
    throw Error("log-mel of a stream: mirrored edges and no decibels are possible");
  }
  state_ = std::make_unique<State>(options);
}

LogMelStream::~LogMelStream() = default;

Features LogMelStream::Push(std::span<const float> x) {
  State& s = *state_;
  s.held.insert(s.held.end(), x.begin(), x.end());
  s.taken += x.size();
  const std::size_t shift = s.options.ShiftSamples(), window = s.options.WindowSamples();
  const std::size_t after = shift / 2 + window - window / 2;  // the end of the first window
  return s.Compute(s.taken < after ? s.next : (s.taken - after) / shift + 1);
}

Features LogMelStream::Finish() { return state_->Compute(state_->options.Frames(state_->taken)); }

void MfccOptions::Validate() const {
  fbank.Validate();
  if (cepstra < 1 || cepstra > fbank.bins) {
    throw Error(fmt::format("MFCC: {} cepstra of {} mel bins, 1 to {} are possible", cepstra,
                            fbank.bins, fbank.bins));
  }
  if (!(lifter >= 0.0) || !(energy_floor >= 0.0)) {
    throw Error(fmt::format("MFCC: lifter {} and energy floor {} must not be negative", lifter,
                            energy_floor));
  }
}

Features Mfcc(std::span<const float> x, const MfccOptions& options) {
  options.Validate();
  const auto bins = static_cast<std::size_t>(options.fbank.bins);
  const auto cepstra = static_cast<std::size_t>(options.cepstra);
  std::vector<float> dct(cepstra * bins);
  for (std::size_t k = 0; k < cepstra; ++k) {
    const double norm = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(bins));
    const double lift =
        options.lifter > 0.0
            ? 1.0 + 0.5 * options.lifter *
                        std::sin(std::numbers::pi * static_cast<double>(k) / options.lifter)
            : 1.0;
    for (std::size_t n = 0; n < bins; ++n) {
      dct[k * bins + n] =
          static_cast<float>(lift * norm *
                             std::cos(std::numbers::pi / static_cast<double>(bins) *
                                      (static_cast<double>(n) + 0.5) * static_cast<double>(k)));
    }
  }
  Features features{cepstra, options.fbank.Frames(x.size()), {}};
  features.values.resize(cepstra * features.frames);
  MelFrames frames(options.fbank);
  std::vector<float> mel(bins);
  const float energy_floor = std::max(kFloor, static_cast<float>(options.energy_floor));
  for (std::size_t t = 0; t < features.frames; ++t) {
    const float energy = frames.Compute(x, t, mel);
    LogInto(mel, kFloor, mel);
    const auto out = features.Frame(t);
    for (std::size_t k = 0; k < cepstra; ++k) {
      out[k] = Dot(std::span<const float>(dct).subspan(k * bins, bins), mel);
    }
    if (options.use_energy) out[0] = std::log(std::max(energy, energy_floor));
  }
  return features;
}

}  // namespace sotto
