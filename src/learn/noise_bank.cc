#include "learn/noise_bank.h"

#include "base/error.h"

namespace sotto {

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
