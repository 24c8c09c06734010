// The small JSON beside a foreign speaker encoder ("net.json" beside "net.onnx") that says what the
// ONNX file itself does not: what it wants to hear.
//
//   {"input": "feats", "output": "embs",
//    "features": {"kind": "log_mel", "recipe": "kaldi", "mels": 80, "low_hz": 20, "high_hz": 7600},
//    "layout": "time_first", "normalise": "mean"}
//
// Names that are not known are an Error: a misspelt setting would change the embeddings silently.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sotto {

struct ModelDescription {
  enum class Features {
    kWaveform,  // "waveform": samples [1, n]
    kLogMel,    // "log_mel": frames [1, T, mels] or [1, mels, T]
  };
  enum class Recipe {
    kKaldi,        // "kaldi": Povey window, pre-emphasis, natural log
    kSpeechBrain,  // "speechbrain": Hamming window, dB
  };
  enum class Layout { kTimeFirst, kMelsFirst };              // "time_first", "mels_first"
  enum class Normalise { kNone, kMean, kMeanVariance };      // over the utterance
  enum class LengthUnit { kFrames, kFractionOfTheLongest };  // "frames", "fraction" (always 1)

  std::string name;           // for people; the file's name when not given
  std::string input, output;  // required
  std::optional<std::string> length_input;
  LengthUnit length_unit = LengthUnit::kFrames;

  Features features = Features::kLogMel;
  Recipe recipe = Recipe::kKaldi;
  int rate_hz = 16000;
  int mels = 80;
  double low_hz = 20.0, high_hz = 7600.0;
  std::optional<double> scale;  // of samples with full scale 1; the recipe's own when not given
  Layout layout = Layout::kTimeFirst;
  Normalise normalise = Normalise::kNone;
};

// Throws Error naming `where`, the field, its value and what is allowed.
ModelDescription ParseModelDescription(std::string_view json, const std::string& where);

// Where the description of `model` lies: the same name with ".json".
std::filesystem::path DescriptionPath(const std::filesystem::path& model);
ModelDescription ReadModelDescription(const std::filesystem::path& model);

}  // namespace sotto
