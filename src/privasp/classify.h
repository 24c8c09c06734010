// Recordings at the service.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "privasp/secure_client.h"

namespace sotto {

struct ClassifiedRecording {
  std::string utterance;
  std::string refused;  // why there is no answer; empty where there is one
  SecureAnswer answer;
  QueryCost cost;
};

struct Classified {
  OfferMessage offer;
  double features_ms = 0.0;               // of one recording, the mean
  double connect_ms = 0.0;                // both handshakes and the offers
  std::vector<ClassifiedRecording> rows;  // in the order of the corpora

  std::size_t Refused() const;
};

// Sound files and corpora, 16 kHz and mono, by model `model` (empty: the newest); one query for
// each utterance. What is no speech is refused in its row; a server that refuses or is gone is an
// Error unless rows were answered before it.
Classified ClassifyAtService(const PartyConfig& config, const std::string& model,
                             const std::vector<std::filesystem::path>& recordings, int jobs);

}  // namespace sotto
