// How an encoder's cosines become likelihood ratios.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "nn/safetensors.h"
#include "speaker/embeddings.h"
#include "speaker/encoder.h"

namespace sotto {

// Logistic regression (assess/calibration.h, prior ½) over all pairs of different utterances. The
// speakers must not be those the encoder was trained on: known voices look too far apart. Throws
// Error without two speakers of which one has two utterances.
LlrCalibration CalibrateCosine(const EmbeddingSet& set);

struct CalibrationRun {
  std::filesystem::path corpus;                // speech of speakers the encoder was not trained on
  std::filesystem::path encoder;               // a file of room nn
  std::vector<std::filesystem::path> average;  // first averaged with these, of the same net
  std::filesystem::path centre;  // then the mean embedding of this corpus is subtracted; empty: no
  StoredAs stored = StoredAs::kFloat32;  // the calibration belongs to the weights as stored
  int jobs = 1;
};
struct CalibratedEncoder {
  TensorFile file;  // with the calibration
  LlrCalibration calibration;
  std::size_t utterances = 0, speakers = 0;
};
CalibratedEncoder CalibrateEncoder(const CalibrationRun& run);

}  // namespace sotto
