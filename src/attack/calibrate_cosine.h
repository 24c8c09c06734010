// How an encoder's cosines become likelihood ratios.
#pragma once

#include "speaker/embeddings.h"
#include "speaker/encoder.h"

namespace sotto {

// Logistic regression (assess/calibration.h, prior ½) over all pairs of different utterances. The
// speakers must not be those the encoder was trained on: known voices look too far apart. Throws
// Error without two speakers of which one has two utterances.
LlrCalibration CalibrateCosine(const EmbeddingSet& set);

}  // namespace sotto
