// For tests: a corpus of made-up voices, with the features that trainers ask for.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "base/random.h"
#include "nn/safetensors.h"

namespace sotto {

inline constexpr int kSpeakers = 6, kUtterances = 4;
inline constexpr std::int64_t kStates = 12, kEmbedding = 8;

inline double Pitch(int speaker) { return 100.0 + 20.0 * speaker; }

// A vowel whose formant moves: what is said.
inline std::vector<float> Utterance(int speaker, int number, std::size_t n) {
  SeededRng random(static_cast<std::uint64_t>(100 * speaker + number));
  std::vector<float> x(n);
  double a = 0.0, b = 0.0, phase = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    const double formant = 900.0 + 500.0 * std::sin(2.0 * std::numbers::pi * 2.0 * t + number);
    const double r = 0.97, c = 2.0 * r * std::cos(2.0 * std::numbers::pi * formant / 16000.0);
    phase += Pitch(speaker) / 16000.0;
    const double pulse = phase >= 1.0 ? 1.0 : 0.0;
    if (phase >= 1.0) phase -= 1.0;
    const double y = pulse + 0.02 * random.Gaussian() + c * a - r * r * b;
    b = a;
    a = y;
    x[i] = static_cast<float>(0.05 * y);
  }
  return x;
}

struct Corpus {
  SpeechPack pack;
  FeaturePack features;
};

// The teacher's states follow the formant, and the speaker in two components.
inline Corpus MadeUp(std::int64_t states = kStates) {
  Corpus corpus;
  corpus.features.state_size = states;
  corpus.features.embedding_size = kEmbedding;
  for (int s = 0; s < kSpeakers; ++s) {
    for (int u = 0; u < kUtterances; ++u) {
      const std::vector<float> x = Utterance(s, u, 17777);
      const std::string id = std::to_string(s) + "-" + std::to_string(u);
      corpus.pack.utterances.push_back(
          {id, std::to_string(s), Gender::kUnknown, corpus.pack.samples.size(), x.size()});
      for (const float v : x) {
        corpus.pack.samples.push_back(
            static_cast<std::int16_t>(std::lround(32767.0f * std::clamp(v, -1.0f, 1.0f))));
      }
      UtteranceFeatures features;
      SeededRng random(static_cast<std::uint64_t>(s * 10 + u));
      for (std::int64_t i = 0; i < 44; ++i) {
        const double t = (384.0 * static_cast<double>(i) + 447.0) / 16000.0;
        const double angle = 2.0 * std::numbers::pi * 2.0 * t + u;
        for (int k = 0; k < states; ++k) {
          double value =
              (k % 2 == 0 ? std::sin(angle) : std::cos(angle)) * (1.0 + k % kStates) / 3.0 +
              0.05 * random.Gaussian();
          const double place = 2.0 * std::numbers::pi * s / kSpeakers;
          if (k == 3) value = std::cos(place) + 0.1 * random.Gaussian();
          if (k == 5) value = std::sin(place) + 0.1 * random.Gaussian();
          features.states.push_back(HalfFromFloat(static_cast<float>(value)));
        }
      }
      features.f0_hz.assign(static_cast<std::size_t>(PitchFrames(x.size())),
                            static_cast<float>(Pitch(s)));
      features.f0_hz[3] = 0.0f;
      for (std::int64_t k = 0; k < kEmbedding; ++k) {
        features.embedding.push_back(
            static_cast<float>((k == s % kEmbedding ? 1.0 : 0.0) + 0.05 * random.Gaussian()));
      }
      corpus.features.ids.push_back(id);
      corpus.features.utterances.push_back(std::move(features));
    }
  }
  return corpus;
}

}  // namespace sotto
