// An utterance's embedding as its sound comes: by windows, in memory that does not grow with it.
// The rule stands in encoder.h.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "audio/resampler.h"

namespace sotto {

// Names the rule in caches and records: embeddings of another rule are others where an utterance is
// longer than a window.
inline constexpr const char* kEmbeddingRule = "windows of 60 s, 1";
inline constexpr double kEmbeddingWindowS = 60.0;

// The embedding of one window at 16 kHz (SpeakerEncoder::EmbedWindow, or what a cache knows).
using EmbedWindow = std::function<std::vector<float>(std::span<const float>)>;

class EmbeddingStream {
 public:
  // One channel at `fs`.
  EmbeddingStream(int fs, EmbedWindow embed);

  void Push(std::span<const float> x);
  // Throws Error when there was less than 0.1 s of sound, or when no window could be embedded (the
  // first one's reason). No Push may follow.
  std::vector<float> Finish();

 private:
  // How many pieces of 10 ms have which level: whole decibels, from −127 to 0 of full scale.
  using Levels = std::array<std::uint32_t, 128>;
  struct Window {
    std::vector<float> embedding;
    Levels levels{};
  };
  void Embed(std::size_t samples);
  std::vector<float> Pool() const;

  const int fs_;
  const EmbedWindow embed_;
  ResampleStream resampler_;
  std::size_t taken_ = 0;      // samples at fs_
  std::vector<float> held_;    // at 16 kHz, less than two windows
  std::vector<Window> heard_;  // 1.3 kB for a minute
  Levels levels_{};            // of the utterance
  std::exception_ptr refused_;
};

}  // namespace sotto
