#include "dsp/spectrogram.h"

#include <kiss_fftr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sotto {

struct PowerSpectrum::Impl {
  kiss_fftr_cfg plan = nullptr;
  std::vector<kiss_fft_cpx> bins;
  ~Impl() { kiss_fftr_free(plan); }
};

PowerSpectrum::PowerSpectrum(std::size_t size) : size_(size), impl_(std::make_unique<Impl>()) {
  impl_->plan = kiss_fftr_alloc(static_cast<int>(size), 0, nullptr, nullptr);
  if (impl_->plan == nullptr) throw Error("no FFT of " + std::to_string(size) + " points");
  impl_->bins.resize(Bins());
}

PowerSpectrum::~PowerSpectrum() = default;

void PowerSpectrum::Compute(std::span<const float> frame, std::span<float> power) const {
  kiss_fftr(impl_->plan, frame.data(), impl_->bins.data());
  for (std::size_t k = 0; k < power.size(); ++k) {
    const kiss_fft_cpx& z = impl_->bins[k];
    power[k] = z.r * z.r + z.i * z.i;
  }
}

Spectrogram ComputeSpectrogram(std::span<const float> x, int rate_hz) {
  const auto window = static_cast<std::size_t>(25.0 * rate_hz / 1000.0);
  const auto hop = std::max<std::size_t>(1, static_cast<std::size_t>(5.0 * rate_hz / 1000.0));
  const std::size_t size = std::bit_ceil(window);
  const PowerSpectrum spectrum(size);
  Spectrogram result;
  result.bins = spectrum.Bins();
  result.bin_hz = static_cast<double>(rate_hz) / static_cast<double>(size);
  result.frames = x.size() / hop + 1;
  result.db.resize(result.frames * result.bins);
  std::vector<float> frame(size), power(result.bins);
  for (std::size_t t = 0; t < result.frames; ++t) {
    std::fill(frame.begin(), frame.end(), 0.0F);
    for (std::size_t i = 0; i < window; ++i) {
      // Frames are centred; the signal is silent outside.
      const auto at =
          static_cast<std::ptrdiff_t>(t * hop + i) - static_cast<std::ptrdiff_t>(window / 2);
      if (at < 0 || at >= static_cast<std::ptrdiff_t>(x.size())) continue;
      const double w =
          0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * (static_cast<double>(i) + 0.5) /
                               static_cast<double>(window));
      frame[i] = static_cast<float>(w * x[static_cast<std::size_t>(at)]);
    }
    spectrum.Compute(frame, power);
    for (std::size_t k = 0; k < result.bins; ++k) {
      result.db[t * result.bins + k] = 10.0F * std::log10(std::max(power[k], 1e-12F));
    }
  }
  return result;
}

}  // namespace sotto
