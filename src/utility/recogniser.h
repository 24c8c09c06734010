// Recognisers of speech as judges: how many words of a protected recording does a machine still
// understand?
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onnx/models.h"

namespace sotto {

inline constexpr int kRecogniserRateHz = 16000;

class Recogniser {
 public:
  virtual ~Recogniser() = default;
  // What --recogniser calls it, and what it is: "Moonshine tiny, English, int8".
  virtual std::string Name() const = 0;
  virtual std::string Model() const = 0;
  // What was said, as the recogniser writes it; `x` at 16 kHz. May be called from several threads;
  // the text depends on `x` alone.
  virtual std::string Transcribe(std::span<const float> x) const = 0;
};

// "moonshine" and "pocketsphinx", the better first.
const std::vector<std::string>& RecogniserNames();

// Throws Error with the reason when it is not installed, or has no such name.
std::unique_ptr<Recogniser> OpenRecogniser(const std::string& name, const ModelFolders& models);

// Throws Error when the library was not there at build time or its model is not there now.
std::unique_ptr<Recogniser> OpenPocketSphinx();

}  // namespace sotto
