#include "learn/spectral_losses.h"

#include <fmt/format.h>

#include <cmath>

namespace sotto {
namespace {

using torch::Tensor;

constexpr double kRateHz = 16000.0;
constexpr std::int64_t kCriticWindows[] = {256, 512, 1024};

double Mel(double hz) { return 2595.0 * std::log10(1.0 + hz / 700.0); }

// Triangles evenly on the mel scale from 0 to half the rate, each with the sum 1: bins × bands.
Tensor MelBank(std::int64_t window, std::int64_t bands) {
  const std::int64_t bins = window / 2 + 1;
  Tensor bank = torch::zeros({bins, bands});
  auto at = bank.accessor<float, 2>();
  const double step = Mel(kRateHz / 2) / static_cast<double>(bands + 1);
  for (std::int64_t m = 0; m < bands; ++m) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < bins; ++k) {
      const double place =
          Mel(static_cast<double>(k) * kRateHz / static_cast<double>(window)) / step;
      const double height = 1.0 - std::abs(place - static_cast<double>(m + 1));
      if (height <= 0.0) continue;
      at[k][m] = static_cast<float>(height);
      sum += height;
    }
    for (std::int64_t k = 0; k < bins && sum > 0.0; ++k) at[k][m] /= static_cast<float>(sum);
  }
  return bank;
}

// √(|X|² + floor): its gradient is finite at 0.
Tensor SafeMagnitude(const Tensor& spectra, double floor) {
  const Tensor parts = torch::view_as_real(spectra);
  return (parts.square().sum(-1) + floor).sqrt();
}

}  // namespace

Tensor Spectra(const Tensor& x, std::int64_t window) {
  const Tensor hann =
      torch::hann_window(window, /*periodic=*/true, x.options().requires_grad(false));
  return torch::fft::rfft(x.unfold(1, window, window / 4) * hann).transpose(1, 2);
}

MelDistance::MelDistance(torch::Device device) : windows_{256, 512, 1024, 2048} {
  const std::int64_t bands[] = {20, 40, 80, 120};
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    banks_.push_back(MelBank(windows_[i], bands[i]).to(device));
  }
}

Tensor MelDistance::operator()(const Tensor& x, const Tensor& y) const {
  Tensor sum;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const auto mel = [&](const Tensor& signal) {
      const Tensor magnitude = SafeMagnitude(Spectra(signal, windows_[i]), 1e-9).transpose(1, 2);
      return torch::matmul(magnitude, banks_[i]).clamp_min(1e-4).log10();
    };
    const Tensor distance = (mel(x) - mel(y)).abs().mean();
    sum = i == 0 ? distance : sum + distance;
  }
  return sum / static_cast<double>(windows_.size());
}

Critics::Verdicts Critics::operator()(const Tensor& x) {
  Verdicts verdicts;
  for (const std::int64_t window : kCriticWindows) {
    const std::string name = fmt::format("critic{}", window);
    const Tensor spectra = Spectra(x, window);
    const Tensor squeeze = SafeMagnitude(spectra, 1e-6).pow(-0.7).unsqueeze(1);
    Tensor y = torch::view_as_real(spectra).permute({0, 3, 1, 2}) * squeeze;  // bins × frames
    y = backend.Work(y);
    for (int layer = 0; layer < 5; ++layer) {
      const std::vector<std::int64_t> kernel =
          layer < 4 ? std::vector<std::int64_t>{9, 3} : std::vector<std::int64_t>{3, 3};
      const std::vector<std::int64_t> stride = layer >= 1 && layer <= 3
                                                   ? std::vector<std::int64_t>{2, 1}
                                                   : std::vector<std::int64_t>{1, 1};
      y = torch::leaky_relu(
          backend.Conv2d(y, fmt::format("{}.{}", name, layer), channels_, kernel, stride), 0.1);
      verdicts.features.push_back(y);
    }
    verdicts.judgements.push_back(
        TorchBackend::Full(backend.Conv2d(y, name + ".last", 1, {3, 3}, {1, 1})));
  }
  return verdicts;
}

Tensor CriticLoss(const Critics::Verdicts& real, const Critics::Verdicts& made) {
  Tensor sum;
  for (std::size_t i = 0; i < real.judgements.size(); ++i) {
    const Tensor loss =
        (1.0 - real.judgements[i]).square().mean() + made.judgements[i].square().mean();
    sum = i == 0 ? loss : sum + loss;
  }
  return sum / static_cast<double>(real.judgements.size());
}

Tensor MakerLoss(const Critics::Verdicts& made) {
  Tensor sum;
  for (std::size_t i = 0; i < made.judgements.size(); ++i) {
    const Tensor loss = (1.0 - made.judgements[i]).square().mean();
    sum = i == 0 ? loss : sum + loss;
  }
  return sum / static_cast<double>(made.judgements.size());
}

Tensor FeatureLoss(const Critics::Verdicts& real, const Critics::Verdicts& made,
                   std::int64_t rows) {
  Tensor sum;
  for (std::size_t i = 0; i < real.features.size(); ++i) {
    const Tensor r = real.features[i].detach();
    const Tensor loss =
        ((made.features[i].narrow(0, 0, rows) - r).abs().mean() / (r.abs().mean() + 1e-5))
            .to(torch::kFloat32);
    sum = i == 0 ? loss : sum + loss;
  }
  return sum / static_cast<double>(real.features.size());
}

}  // namespace sotto
