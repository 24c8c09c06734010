// Scores of a countermeasure, and how well they tell spoofs from genuine speech.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assess/figure.h"
#include "assess/intervals.h"
#include "spoof/spoof_corpus.h"
#include "spoof/spoof_model.h"

namespace sotto {

struct SpoofRow {
  std::string utterance, speaker, attack;
  std::optional<bool> bona_fide;
  double score = 0.0;  // larger: more genuine
  bool accepted = false;
  std::string refused;  // why there is no score
};

struct SpoofScores {
  std::string model, features;  // name and fingerprint
  double threshold = 0.0;
  bool decision_only = false;
  std::vector<SpoofRow> rows;  // in the order of the corpora

  std::size_t Refused() const;
};

SpoofScores ScoreCorpora(const SpoofModel& model, const SpoofCorpora& corpora, int jobs);

// Columns utt, attack, key (bonafide|spoof, "-" where nobody says), score, decision
// (genuine|spoof), which `assess tandem --cm` reads; no row for what was refused.
std::string FormatSpoofScores(const SpoofScores& scores);

struct SpoofFigures {
  // Over all attacks and for each: cm_eer (ASVspoof's rule), then of all p_miss and p_fa at the
  // model's threshold. The attack stands where figures name their attacker.
  std::vector<Figure> figures;
  std::string bootstrap;
};

// Nothing where there is no genuine speech or no spoof. Intervals draw speakers (voices) within
// genuine speech and within each attack.
std::optional<SpoofFigures> MeasureSpoof(const SpoofScores& scores,
                                         const IntervalOptions& intervals);

}  // namespace sotto
