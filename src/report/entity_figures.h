// What `sotto train entities` says of a tagger that it has fitted: how well it finds entities in
// sentences that are for reports alone.
#pragma once

#include <string>
#include <vector>

#include "text/entity_scores.h"
#include "text/tagger.h"

namespace sotto {

struct CorpusScores {
  std::string corpus;
  bool transcripts = false;          // lower case, no punctuation
  std::vector<EntityType> types;     // that the corpus marks
  EntityScores likely, with_recall;  // most probable labels; with the threshold for `recall`
};

struct TaggerReport {
  std::string file;
  std::size_t bytes = 0, features = 0, names = 0, sentences = 0;  // sentences trained on
  double recall = 0.99;
  std::vector<CorpusScores> corpora;
  double seconds = 0.0;
};

// Tables, or `json`: file, bytes, features, names, sentences, recall, held_out (for each corpus and
// form: precision, recall, f1 and counts of each type and of all, token_recall, other_masked, and
// the last two at the recall), seconds.
std::string PrintedTaggerReport(const TaggerReport& report, bool json);

}  // namespace sotto
