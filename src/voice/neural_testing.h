// For tests of the neural method.
#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "targets/pseudo_speakers.h"
#include "voice/neural_voice.h"

namespace sotto::testing {

inline double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

// The folder as the training leaves it, with these nets and thirty voices.
inline void WriteNets(const std::filesystem::path& folder, const NeuralModels& models) {
  WriteTensorFile(folder / "content.safetensors", models.Content().File(), StoredAs::kFloat16);
  WriteTensorFile(folder / "synth.safetensors", models.Synth().File(), StoredAs::kFloat16);
  SpeakerPool pool;
  SeededRng random(2);
  for (int i = 0; i < 30; ++i) {
    SpeakerVoice voice;
    voice.name = std::to_string(i);
    voice.gender = i % 2 == 0 ? Gender::kFemale : Gender::kMale;
    for (std::int64_t k = 0; k < models.Synth().Options().embedding; ++k) {
      voice.embedding.push_back(static_cast<float>(random.Gaussian()));
    }
    voice.log_f0_mean = std::log(i % 2 == 0 ? 210.0 : 110.0);
    voice.log_f0_deviation = 0.2;
    pool.voices.push_back(std::move(voice));
  }
  WriteTensorFile(folder / "voices.safetensors", WriteSpeakerPool(pool), StoredAs::kFloat16);
}

}  // namespace sotto::testing
