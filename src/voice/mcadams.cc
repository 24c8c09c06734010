#include "voice/mcadams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "dsp/lpc.h"
#include "dsp/polynomial_roots.h"
#include "voice/level_control.h"
#include "voice/resampled.h"

namespace sotto {
namespace {

constexpr int kMaxProcessingRateHz = 48000;
constexpr double kPivotRateHz = 16000.0;
// Poles are multiplied out into sections of at most this order. A single polynomial of order 60
// (48 kHz) would lose all its digits once α has drawn the poles together; with sections of order 20
// the sample error at 48 kHz and α = 0.5 was 5e-4, with 10 it is below 1e-6.
constexpr std::size_t kSectionOrder = 10;

// Replaces the all-pole filter of a frame by the one with moved poles.
class McAdamsFrame {
 public:
  McAdamsFrame(int rate_hz, const McAdamsOptions& options)
      : rate_hz_(rate_hz),
        options_(options),
        autocorrelation_(static_cast<std::size_t>(McAdamsOrder(rate_hz)) + 1) {}

  void Process(std::span<double> frame) {
    Autocorrelate(frame, autocorrelation_);
    // Below the quietest sound any format holds (32 bit: -187 dB) there is nothing to protect.
    const double energy = autocorrelation_[0];
    if (energy < 1e-19 * static_cast<double>(frame.size())) {
      std::fill(frame.begin(), frame.end(), 0.0);
      return;
    }
    const LpcResult lpc = LevinsonDurbin(autocorrelation_);
    const RealPolynomialRoots poles =
        options_.use_companion_roots ? CompanionRoots(lpc.a) : tracker_.Find(lpc.a);
    residual_.resize(frame.size());
    FilterFir(lpc.a, frame, residual_);
    for (const auto& section : MovedSections(poles)) FilterAllPole(section, residual_, residual_);
    double moved_energy = 0.0;
    for (const double y : residual_) moved_energy += y * y;
    const double gain = std::sqrt(energy / moved_energy);
    for (std::size_t i = 0; i < frame.size(); ++i) {
      // A frame that cannot be transformed is silenced: never copied.
      frame[i] = std::isfinite(gain) ? gain * residual_[i] : 0.0;
    }
  }

 private:
  // The moved poles as polynomials in z^−1. Poles are dealt out by angle, so that neighbours, which
  // would make a polynomial ill-conditioned, come into different sections.
  std::vector<std::vector<double>> MovedSections(const RealPolynomialRoots& poles) const {
    const std::size_t order = 2 * poles.pairs.size() + poles.reals.size();
    const std::size_t count = (order + kSectionOrder - 1) / kSectionOrder;
    std::vector<std::vector<double>> sections(count, std::vector<double>{1.0});
    auto pairs = poles.pairs;
    if (count > 1) {
      std::sort(pairs.begin(), pairs.end(),
                [](const auto& a, const auto& b) { return std::arg(a) < std::arg(b); });
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double radius = std::abs(pairs[i]);
      const double angle = McAdamsAngle(std::arg(pairs[i]), options_.alpha, rate_hz_);
      Multiply(sections[i % count], -2.0 * radius * std::cos(angle), radius * radius);
    }
    for (std::size_t i = 0; i < poles.reals.size(); ++i) {
      Multiply(sections[(pairs.size() + i) % count], -poles.reals[i], 0.0);
    }
    return sections;
  }

  // a(z)·(1 + b z^−1 + c z^−2); with c = 0 the degree grows by one only.
  static void Multiply(std::vector<double>& a, double b, double c) {
    const std::size_t old = a.size();
    a.resize(old + (c == 0.0 ? 1 : 2), 0.0);
    for (std::size_t i = a.size() - 1; i > 0; --i) {
      a[i] += b * a[i - 1] + (i >= 2 ? c * a[i - 2] : 0.0);
    }
  }

  const int rate_hz_;
  const McAdamsOptions options_;
  RootTracker tracker_;
  std::vector<double> autocorrelation_;
  std::vector<double> residual_;
};

// Frames of two hops, windowed before and after by the square root of a periodic Hann window, which
// overlap-add to exactly one: α = 1 gives the input back. Keeps the loudness and holds the peaks.
// Latency: the two hops of a frame and the one the peaks need.
class OverlapAdd : public StreamTransformer {
 public:
  OverlapAdd(int rate_hz, std::size_t hop, const McAdamsOptions& options);
  void Push(std::span<const float> in, std::vector<float>& out) override;
  void Finish(std::vector<float>& out) override;
  std::size_t LatencySamples() const override { return 3 * hop_; }

 private:
  void RunFrame(std::vector<float>& out);

  McAdamsFrame processor_;
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

OverlapAdd::OverlapAdd(int rate_hz, std::size_t hop, const McAdamsOptions& options)
    : processor_(rate_hz, options),
      hop_(hop),
      window_(2 * hop),
      input_(2 * hop),
      frame_(2 * hop),
      tail_(hop),
      filled_(hop),  // the first frame begins one hop before the signal
      peaks_(hop, options.peak_limit) {
  for (std::size_t i = 0; i < window_.size(); ++i) {
    // sqrt(0.5 − 0.5 cos(2πi/N)) = sin(πi/N)
    window_[i] = std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(2 * hop));
  }
}

void OverlapAdd::RunFrame(std::vector<float>& out) {
  const auto half = static_cast<std::ptrdiff_t>(hop_);
  for (std::size_t i = 0; i < 2 * hop_; ++i) frame_[i] = input_[i] * window_[i];
  processor_.Process(frame_);
  for (std::size_t i = 0; i < 2 * hop_; ++i) frame_[i] *= window_[i];
  for (std::size_t i = 0; i < hop_; ++i) frame_[i] += tail_[i];
  std::copy(frame_.begin() + half, frame_.end(), tail_.begin());
  if (!before_signal_) {
    const std::span<double> block(frame_.data(), hop_);
    loudness_.Process({input_.data(), hop_}, block, peaks_.LostGain());
    const std::span<const double> finished = peaks_.Process(block);
    for (const double y : finished) out.push_back(static_cast<float>(y));
    emitted_ += finished.size();
  }
  before_signal_ = false;
  std::copy(input_.begin() + half, input_.end(), input_.begin());
  filled_ = hop_;
}

void OverlapAdd::Push(std::span<const float> in, std::vector<float>& out) {
  while (!in.empty()) {
    const std::size_t count = std::min(in.size(), 2 * hop_ - filled_);
    std::copy_n(in.begin(), count, input_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += count;
    pushed_ += count;
    in = in.subspan(count);
    if (filled_ == 2 * hop_) RunFrame(out);
  }
}

void OverlapAdd::Finish(std::vector<float>& out) {
  const std::size_t total = pushed_;
  const std::vector<float> silence(hop_, 0.0F);
  while (emitted_ < total) Push(silence, out);
  // The silence brought out a little more than the signal.
  out.resize(out.size() - (emitted_ - total));
}

}  // namespace

void McAdamsOptions::Validate() const {
  if (!(alpha >= kMinAlpha && alpha <= kMaxAlpha)) {
    throw Error(fmt::format("alpha {}: {} to {} is allowed", alpha, kMinAlpha, kMaxAlpha));
  }
  if (!(peak_limit > 0.0)) throw Error(fmt::format("peak limit {}: must be positive", peak_limit));
}

int McAdamsOrder(int rate_hz) {
  return std::min(60, static_cast<int>(std::lround(20.0 * rate_hz / kPivotRateHz)));
}

double McAdamsAngle(double angle, double alpha, int rate_hz) {
  const double c = kPivotRateHz / rate_hz;
  constexpr double kMargin = 1e-6;
  return std::clamp(c * std::pow(angle / c, alpha), kMargin, std::numbers::pi - kMargin);
}

std::unique_ptr<StreamTransformer> MakeMcAdams(int rate_hz, const McAdamsOptions& options) {
  options.Validate();
  if (rate_hz > kMaxProcessingRateHz) {
    return std::make_unique<Resampled>(MakeMcAdams(kMaxProcessingRateHz, options), rate_hz,
                                       kMaxProcessingRateHz, options.peak_limit);
  }
  constexpr double kHopSeconds = 0.010;
  const auto hop = static_cast<std::size_t>(kHopSeconds * rate_hz);
  return std::make_unique<OverlapAdd>(rate_hz, hop, options);
}

}  // namespace sotto
