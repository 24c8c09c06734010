// Augmentation of speech batches on the training device. Every recording of a batch draws its own
// disturbances: reverberation by a synthetic impulse response (a direct path and exponentially
// decaying noise, T60 0.1–0.8 s), a smooth channel (±6 dB over ten bands, sometimes a band limit as
// of a telephone or a low-rate codec), noise from the corpus itself (its own pauses as the colour
// of the noise), coloured noise, babble of other recordings of the batch, and µ-law quantisation.
// Reproducible from torch's seed on one device only.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "audio/speech_pack.h"

namespace sotto {

struct AugmentOptions {
  double reverb = 0.35;  // probabilities
  double channel = 0.5;
  double band_limit = 0.2;
  double noise = 0.35;
  double babble = 0.25;
  double mu_law = 0.1;
};

// Quiet stretches of the corpus, n × length: the colours of its noise.
using NoiseBank = torch::Tensor;
// The quietest half second of every fourth utterance.
NoiseBank QuietStretches(const SpeechPack& pack, torch::Device device);

// batch × samples, full scale 1.
torch::Tensor Augment(const torch::Tensor& x, const NoiseBank& noises,
                      const AugmentOptions& options);

// `batch` rows in `groups` parts of almost the same size, of which some may be 0.
std::vector<std::int64_t> EvenShares(std::int64_t batch, std::size_t groups);

// Samples that become `n` when they are played `speed` times as fast; even, so that the transform
// there and back keeps lengths.
std::int64_t SamplesAtSpeed(std::int64_t n, double speed);

// Speed changed by rate/100 (pitch and formants move with it): batch × round(n·speed) samples to
// batch × n, by resampling in the frequency domain.
torch::Tensor ChangeSpeed(const torch::Tensor& x, std::int64_t n);

// SpecAugment (Park et al. 2019): two stretches of up to `frames` frames and of up to `bands` bands
// set to the mean, different for each recording.
torch::Tensor MaskFeatures(const torch::Tensor& mels, std::int64_t frames, std::int64_t bands);

// Vocal tract length perturbation (Jaitly & Hinton 2013): the frequency axis of log-mel features
// (bands evenly on the mel scale from low to high Hz) stretched by a factor of 1 ± `most`, another
// for each recording. Moves formants and leaves time and, but for the lowest bands, pitch alone.
torch::Tensor WarpMels(const torch::Tensor& mels, double most, double low_hz, double high_hz);

}  // namespace sotto
