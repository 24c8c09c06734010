#include "learn/augment.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr double kRateHz = 16000.0;
constexpr std::int64_t kResponse = 8192;  // samples of a room's or a noise's filter

Tensor Uniform(const Tensor& like, std::int64_t n, double low, double high) {
  return torch::rand({n, 1}, like.options()) * (high - low) + low;
}

// 1 with this probability, else 0.
Tensor Chance(const Tensor& like, std::int64_t n, double p) {
  return (torch::rand({n, 1}, like.options()) < p).to(like.scalar_type());
}

Tensor Power(const Tensor& x) { return x.square().mean(1, true).clamp_min(1e-12); }

Tensor RoomResponses(const Tensor& like, std::int64_t n) {
  const Tensor t = torch::arange(kResponse, like.options()).unsqueeze(0) / kRateHz;
  const Tensor t60 = Uniform(like, n, 0.1, 0.8);
  Tensor tail = torch::randn({n, kResponse}, like.options()) *
                torch::exp(-3.0 * std::numbers::ln10 * t / t60);
  tail = tail * (t > Uniform(like, n, 0.001, 0.01)).to(like.scalar_type());
  // The direct path is 0 to 15 dB above the tail.
  const Tensor gain = torch::pow(10.0, -Uniform(like, n, 0.0, 15.0) / 20.0);
  tail = tail / tail.square().sum(1, true).clamp_min(1e-12).sqrt() * gain;
  tail.select(1, 0) += 1.0;
  return tail;
}

// A gain for each bin of an `n`-point transform: ten random values in dB, joined linearly, and a
// band limit for some.
Tensor ChannelGains(const Tensor& like, std::int64_t batch, std::int64_t bins,
                    const AugmentOptions& o) {
  const Tensor points = (torch::rand({batch, 1, 10}, like.options()) * 12.0 - 6.0) *
                        Chance(like, batch, o.channel).unsqueeze(2);
  const Tensor db = torch::upsample_linear1d(points, {bins}, /*align_corners=*/true).squeeze(1);
  const Tensor hz = torch::linspace(0.0, kRateHz / 2.0, bins, like.options()).unsqueeze(0);
  const Tensor limited = Chance(like, batch, o.band_limit);
  const Tensor high = Uniform(like, batch, 3200.0, 7600.0);
  const Tensor low = Uniform(like, batch, 20.0, 300.0);
  const Tensor pass = torch::sigmoid((high - hz) / 60.0) * torch::sigmoid((hz - low) / 30.0);
  return torch::pow(10.0, db / 20.0) * (1.0 - limited + limited * pass);
}

// Added so that speech stands `snr_db` above it, where `chosen` is 1.
Tensor AddAt(const Tensor& x, const Tensor& noise, const Tensor& snr_db, const Tensor& chosen) {
  const Tensor gain = (Power(x) / Power(noise)).sqrt() * torch::pow(10.0, -snr_db / 20.0);
  return x + chosen * gain * noise;
}

Tensor MuLaw(const Tensor& x) {
  const double mu = 255.0;
  const Tensor peak = x.abs().amax(1, true).clamp_min(1e-4);
  const Tensor y = x / peak;
  Tensor code = torch::sign(y) * torch::log1p(mu * y.abs()) / std::log1p(mu);
  code = torch::round(code * 127.0) / 127.0;
  return torch::sign(code) * torch::expm1(code.abs() * std::log1p(mu)) / mu * peak;
}

}  // namespace

Tensor Augment(const Tensor& x, const NoiseBank& noises, const AugmentOptions& o) {
  const std::int64_t batch = x.size(0), n = x.size(1);
  std::int64_t size = 1;
  while (size < n + kResponse) size *= 2;
  const Tensor wet = Chance(x, batch, o.reverb);
  Tensor room = RoomResponses(x, batch) * wet;
  room.select(1, 0) += 1.0 - wet.squeeze(1);
  Tensor y = torch::fft::irfft(torch::fft::rfft(x, size) * torch::fft::rfft(room, size), size);
  y = y.narrow(1, 0, n);

  // White noise through a quiet stretch of the corpus has that stretch's colour.
  const Tensor pick = torch::randint(noises.size(0), {batch}, x.options().dtype(torch::kInt64));
  const Tensor white = torch::randn({batch, n}, x.options());
  const Tensor colour = torch::fft::rfft(noises.index_select(0, pick), size);
  const Tensor noise =
      torch::fft::irfft(torch::fft::rfft(white, size) * colour, size).narrow(1, 0, n);
  y = AddAt(y, noise, Uniform(x, batch, 0.0, 20.0), Chance(x, batch, o.noise));

  Tensor babble = torch::zeros_like(x);
  for (int voice = 1; voice <= 4; ++voice) {
    const std::int64_t shift =  // drawn on the host: no wait for the device
        1 + torch::randint(batch > 1 ? batch - 1 : 1, {1}).item<std::int64_t>();
    babble = babble + x.roll({shift, n / (voice + 1)}, {0, 1});
  }
  y = AddAt(y, babble, Uniform(x, batch, 5.0, 20.0), Chance(x, batch, o.babble));

  const Tensor gains = ChannelGains(x, batch, n / 2 + 1, o);
  y = torch::fft::irfft(torch::fft::rfft(y) * gains, n);
  const Tensor coarse = Chance(x, batch, o.mu_law);
  return y + coarse * (MuLaw(y) - y);
}

std::vector<std::int64_t> EvenShares(std::int64_t batch, std::size_t groups) {
  std::vector<std::int64_t> shares(groups);
  for (std::int64_t i = 0; i < batch; ++i) ++shares[static_cast<std::size_t>(i) % groups];
  return shares;
}

std::int64_t SamplesAtSpeed(std::int64_t n, double speed) {
  return static_cast<std::int64_t>(std::llround(speed * static_cast<double>(n) / 2.0)) * 2;
}

Tensor ChangeSpeed(const Tensor& x, std::int64_t n) {
  if (x.size(1) == n) return x;
  const Tensor spectrum = torch::fft::rfft(x);
  const std::int64_t bins = n / 2 + 1, have = spectrum.size(1);
  const Tensor fitted = have >= bins ? spectrum.narrow(1, 0, bins)
                                     : torch::constant_pad_nd(spectrum, {0, bins - have});
  return torch::fft::irfft(fitted, n) * (static_cast<double>(n) / static_cast<double>(x.size(1)));
}

Tensor MaskFeatures(const Tensor& mels, std::int64_t frames, std::int64_t bands) {
  Tensor keep = torch::ones({mels.size(0), 1, 1}, mels.options());
  for (const std::int64_t axis : {std::int64_t{1}, std::int64_t{2}}) {
    const std::int64_t size = mels.size(axis), widest = axis == 1 ? bands : frames;
    const Tensor at = torch::arange(size, mels.options())
                          .view(axis == 1 ? std::vector<std::int64_t>{1, size, 1}
                                          : std::vector<std::int64_t>{1, 1, size});
    for (int i = 0; i < 2; ++i) {
      const Tensor width =
          torch::rand({mels.size(0), 1, 1}, mels.options()) * static_cast<double>(widest);
      const Tensor begin =
          torch::rand({mels.size(0), 1, 1}, mels.options()) * static_cast<double>(size - widest);
      keep = keep * (1.0 - ((at >= begin) & (at < begin + width)).to(mels.scalar_type()));
    }
  }
  const Tensor mean = mels.mean(2, true);
  return mean + keep * (mels - mean);
}

Tensor WarpMels(const Tensor& mels, double most, double low_hz, double high_hz) {
  const std::int64_t bands = mels.size(1);
  const auto mel = [](double hz) { return 1127.0 * std::log1p(hz / 700.0); };
  const double low = mel(low_hz), step = (mel(high_hz) - low) / static_cast<double>(bands + 1);
  const Tensor centres = (torch::arange(1, bands + 1, mels.options()) * step + low).unsqueeze(0);
  const Tensor hz = 700.0 * torch::expm1(centres / 1127.0);
  const Tensor factor = Uniform(mels, mels.size(0), 1.0 - most, 1.0 + most);
  const Tensor from =
      ((1127.0 * torch::log1p(hz * factor / 700.0) - low) / step - 1.0).clamp(0.0, bands - 1.0);
  const Tensor below = from.floor().clamp_max(bands - 2.0);
  const Tensor share = (from - below).unsqueeze(2);
  const Tensor index = below.to(torch::kInt64).unsqueeze(2).expand({-1, -1, mels.size(2)});
  return mels.gather(1, index) * (1.0 - share) + mels.gather(1, index + 1) * share;
}

NoiseBank QuietStretches(const SpeechPack& pack, torch::Device device) {
  constexpr std::size_t kLength = 8000, kStep = 1600;
  std::vector<float> bank;
  for (std::size_t u = 0; u < pack.utterances.size(); u += 4) {
    const PackedUtterance& utterance = pack.utterances[u];
    double least = 1e300;
    std::size_t best = 0;
    for (std::size_t at = 0; at + kLength <= utterance.count; at += kStep) {
      double energy = 0.0;
      for (std::size_t i = 0; i < kLength; i += 4) {
        const double v = pack.samples[utterance.begin + at + i];
        energy += v * v;
      }
      if (energy > 0.0 && energy < least) {
        least = energy;
        best = utterance.begin + at;
      }
    }
    if (least > 1e299) continue;
    for (std::size_t i = 0; i < kLength; ++i) bank.push_back(pack.samples[best + i] / 32768.0f);
  }
  if (bank.empty()) throw Error("no utterance of half a second to take noise from");
  return torch::tensor(bank).view({-1, static_cast<std::int64_t>(kLength)}).to(device);
}

}  // namespace sotto
