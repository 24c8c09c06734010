// For tests only: voiceprints of nobody.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "speaker/embeddings.h"

namespace sotto::testing {

// Random voices; the names begin with `prefix`, genders alternate.
inline EmbeddingSet Voices(const std::string& prefix, int speakers, int utterances,
                           std::uint64_t seed, int dimension = 16) {
  SeededRng rng(seed);
  EmbeddingSet set;
  set.vectors.resize(dimension, speakers * utterances);
  for (int s = 0; s < speakers; ++s) {
    Eigen::VectorXf centre(dimension);
    for (float& x : centre) x = static_cast<float>(rng.Gaussian());
    const std::string name = prefix + std::to_string(s);
    set.genders[name] = s % 2 == 0 ? Gender::kFemale : Gender::kMale;
    for (int u = 0; u < utterances; ++u) {
      for (int k = 0; k < dimension; ++k) {
        set.vectors(k, s * utterances + u) = centre[k] + 0.1F * static_cast<float>(rng.Gaussian());
      }
      set.ids.push_back(name + "-" + std::to_string(u));
      set.speakers.push_back(name);
    }
  }
  return set;
}

}  // namespace sotto::testing
