// Whole folders of embeddings against each other: what `sotto score` does.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "speaker/scoring.h"

namespace sotto {

struct ScoreSetOptions {
  std::string backend = "cosine";  // or "plda", which needs one of the next two
  std::filesystem::path plda;      // a folder of Kaldi's files
  std::filesystem::path train;     // embeddings to train it on
  std::filesystem::path cohort;    // embeddings for s-norm; empty: none
  std::filesystem::path keys;      // a trial list; empty: all pairs
  ModelOf by = ModelOf::kSpeaker;
  int lda_dimension = 150;
  int top = 200;
};

struct SetScores {
  std::vector<std::string> model_ids, trial_ids;
  Eigen::MatrixXf scores;                                    // models × trials
  std::vector<std::pair<Eigen::Index, Eigen::Index>> pairs;  // those asked for
};

// Folders of different encoders are an Error, and so is a model that holds one of its trial
// utterances when no list says what is meant.
SetScores ScoreSets(const std::filesystem::path& enrol, const std::filesystem::path& trials,
                    const ScoreSetOptions& options);

}  // namespace sotto
