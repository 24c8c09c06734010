#include "voice/mcadams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "dsp/lpc.h"
#include "dsp/polynomial_roots.h"
#include "voice/overlap_add.h"
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
class McAdamsFrame : public FrameProcessor {
 public:
  McAdamsFrame(int rate_hz, const McAdamsOptions& options)
      : rate_hz_(rate_hz),
        options_(options),
        autocorrelation_(static_cast<std::size_t>(McAdamsOrder(rate_hz)) + 1) {}

  void Process(std::span<double> frame) override {
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
  return std::make_unique<OverlapAdd>(std::make_unique<McAdamsFrame>(rate_hz, options), hop,
                                      options.peak_limit);
}

}  // namespace sotto
