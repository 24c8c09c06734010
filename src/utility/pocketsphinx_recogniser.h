// PocketSphinx with its US English model (Huggins-Daines et al. 2006): Gaussian mixtures and a
// trigram. It errs on a quarter of clean read words, so it is the weaker judge; it needs nothing
// but two Debian packages.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "utility/recogniser.h"

namespace sotto {

class PocketSphinxRecogniser : public Recogniser {
 public:
  // Throws Error when the library was not there at build time or its model is not there now.
  PocketSphinxRecogniser();
  ~PocketSphinxRecogniser() override;

  std::string Name() const override { return "pocketsphinx"; }
  std::string Model() const override { return "PocketSphinx, US English"; }
  std::string Transcribe(std::span<const float> x) const override;

 private:
  class Decoder;
  // A decoder serves one thread at a time; threads beyond the first get decoders of their own.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Decoder>> idle_;
};

}  // namespace sotto
