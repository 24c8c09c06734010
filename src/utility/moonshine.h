// Moonshine tiny (Jeffries et al. 2024), English, int8: a transformer that hears raw samples and
// writes words with case and punctuation. 27 M parameters; the English model is MIT.
//
// Decoding is greedy with cached keys and values. The model was trained on at most 30 s, so longer
// recordings are cut at pauses. Two guards keep a model that has lost the thread from writing for
// ever: at most 6.5 tokens a second (the authors' figure), and an end when it repeats itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onnx/session.h"
#include "utility/recogniser.h"
#include "utility/speech_detector.h"

namespace sotto {

struct MoonshineOptions {
  double tokens_per_second = 6.5;
  double longest_s = 24.0;  // of a piece heard at once
};

class MoonshineRecogniser : public Recogniser {
 public:
  // Throws Error when a file of moonshine/ or silero/ is not installed or is not that model.
  MoonshineRecogniser(const OnnxRuntimePtr& runtime, const ModelFolders& models,
                      const MoonshineOptions& options = {});

  std::string Name() const override { return "moonshine"; }
  std::string Model() const override { return "Moonshine tiny, English, int8"; }
  std::string Transcribe(std::span<const float> x) const override;
  // What its decoder makes of states of the encoder (`size` values each, at most 30 s of them)
  // that came from elsewhere: how many words a bottleneck or a student of the encoder keeps.
  std::string TranscribeStates(std::span<const float> states, std::int64_t size,
                               double seconds) const;

 private:
  std::vector<std::int64_t> Decode(std::span<const float> x) const;
  std::vector<std::int64_t> Write(const OnnxTensor& hidden, double seconds) const;
  std::string Text(std::span<const std::int64_t> tokens) const;

  MoonshineOptions options_;
  OnnxSession encoder_, decoder_;
  SpeechDetector detector_;
  std::vector<std::string> pieces_;  // text of each token
  struct Cache {
    std::string past, present;  // names of the decoder's input and output
    bool of_encoder = false;    // made once, from what was heard
    std::vector<std::int64_t> empty_shape;
  };
  std::vector<Cache> caches_;
};

// The texts of tokens by number: one a line, "▁" for a space; "<0x41>" is the byte 0x41, and what
// else stands in angle brackets alone is control and has no text. Throws Error naming `where` when
// there are none.
std::vector<std::string> ParseTokenTable(std::string_view text, const std::string& where);

// The length of the end of `tokens` that repeats what stands before it: a phrase of up to 8 tokens
// said at least four times, and over at least 8 tokens. 0: none. What stays holds the phrase once.
std::size_t RepeatedTail(std::span<const std::int64_t> tokens);

}  // namespace sotto
