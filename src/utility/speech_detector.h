// Voice activity by Silero VAD version 5 (Silero Team 2024, MIT): the probability of speech every
// 32 ms, and what follows from it: pauses, and places where long recordings can be cut.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "onnx/session.h"

namespace sotto {

class SpeechDetector {
 public:
  static constexpr int kRateHz = 16000;
  static constexpr std::size_t kWindow = 512;  // samples

  // Throws Error when silero/silero_vad_v5.onnx is not installed.
  SpeechDetector(const OnnxRuntimePtr& runtime, const ModelFolders& models);

  // Probability of speech in each window of x (16 kHz); the last window is filled with zeros. May
  // be called from several threads.
  std::vector<float> Probabilities(std::span<const float> x) const;

 private:
  OnnxSession session_;
};

// The share of time between the first and the last speech that is pause: at least 0.2 s below one
// half. None when there is no speech.
std::optional<double> PauseRatio(std::span<const float> probabilities);

// Pieces [begin, end) of n samples that cover all of them, each at most `longest` samples: cut in
// the middle of the longest pause that leaves the piece at least half as long, or where speech is
// least probable when there is none.
std::vector<std::pair<std::size_t, std::size_t>> CutAtPauses(std::span<const float> probabilities,
                                                             std::size_t n, std::size_t longest);

}  // namespace sotto
