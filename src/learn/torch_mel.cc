#include "learn/torch_mel.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace sotto {
namespace {

constexpr double kPreemphasis = 0.97;
constexpr double kFullScale = 32768.0;    // Kaldi's samples are 16-bit integers
constexpr double kFloor = 1.1920929e-07;  // FLT_EPSILON, Kaldi's floor before the logarithm

double Mel(double hz) { return 1127.0 * std::log1p(hz / 700.0); }

}  // namespace

TorchMel::TorchMel(const TorchMelOptions& o, torch::Device device)
    : window_(o.rate_hz / 40), shift_(o.rate_hz / 100), fft_(1) {
  while (fft_ < window_) fft_ *= 2;
  std::vector<float> taper(static_cast<std::size_t>(window_));
  for (int i = 0; i < window_; ++i) {
    taper[static_cast<std::size_t>(i)] = static_cast<float>(
        std::pow(0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * i / (window_ - 1)), 0.85));
  }
  taper_ = torch::tensor(taper).to(device);
  const int bins = fft_ / 2;  // Nyquist is left out
  const double low = Mel(o.low_hz), step = (Mel(o.high_hz) - low) / (o.mels + 1);
  bank_ = torch::zeros({bins, o.mels});
  auto bank = bank_.accessor<float, 2>();
  for (int k = 0; k < bins; ++k) {
    const double mel = Mel(static_cast<double>(k) * o.rate_hz / fft_);
    for (int m = 0; m < o.mels; ++m) {
      const double left = low + m * step, centre = left + step, right = centre + step;
      if (mel > left && mel < right) {
        bank[k][m] = static_cast<float>(mel <= centre ? (mel - left) / step : (right - mel) / step);
      }
    }
  }
  bank_ = bank_.to(device);
}

torch::Tensor TorchMel::operator()(const torch::Tensor& x) const {
  const std::int64_t n = x.size(1);
  const std::int64_t frames = (n + shift_ / 2) / shift_;
  const std::int64_t before = (window_ - shift_) / 2;
  const std::int64_t after =
      std::max<std::int64_t>(0, (frames - 1) * shift_ + window_ - before - n);
  torch::Tensor padded =
      torch::cat({x.narrow(1, 0, before).flip(1), x, x.narrow(1, n - after, after).flip(1)}, 1);
  torch::Tensor f = (padded * kFullScale).unfold(1, window_, shift_).narrow(1, 0, frames);
  f = f - f.mean(2, true);
  const torch::Tensor previous = torch::cat({f.narrow(2, 0, 1), f.narrow(2, 0, window_ - 1)}, 2);
  f = (f - kPreemphasis * previous) * taper_;
  const torch::Tensor spectrum = torch::fft::rfft(f, fft_).narrow(2, 0, fft_ / 2);
  const torch::Tensor power = torch::real(spectrum * spectrum.conj());
  return torch::matmul(power, bank_).clamp_min(kFloor).log().transpose(1, 2);
}

}  // namespace sotto
