// The tagger: names, places, organisations, dates and times in transcripts and in ordinary text, by
// a conditional random field (crf.h) over hashed features (tagger_features.h). A model is one file
// (safetensors): weights in 8 bits, the lists of names as hashes, and a table that says which
// threshold on the probability of being an entity reaches which share of the entities' tokens.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/safetensors.h"
#include "text/bio_labels.h"
#include "text/crf.h"
#include "text/feature_index.h"
#include "text/gazetteers.h"

namespace sotto {

// A line of the table: tokens whose probability of belonging to an entity is at least `threshold`
// were `recall` of the entities' tokens and `masked` of the others in the held-out sentences on
// which it was chosen.
struct RecallPoint {
  double recall = 0.0, threshold = 0.0, masked = 0.0;

  friend bool operator==(const RecallPoint&, const RecallPoint&) = default;
};

struct TaggerModel {
  std::vector<std::uint32_t> features;                 // hashes, ascending
  std::vector<std::array<float, kBioLabels>> weights;  // of each feature
  TransitionScores transitions{};
  Gazetteers gazetteers;
  std::vector<RecallPoint> recalls;         // recall ascends, threshold does not
  std::map<std::string, std::string> card;  // what it was trained on; more metadata of the file

  // Rounds the weights to what the file holds.
  TensorFile ToFile() const;
  std::string Serialise() const;
};

// Throws Error that names `where` and what is wrong.
TaggerModel ParseTaggerModel(std::string_view bytes, const std::string& where);
TaggerModel ReadTaggerModel(const std::filesystem::path& path);

struct TaggedText {
  std::vector<Token> tokens;
  std::vector<BioLabel> labels;        // the most probable labelling
  std::vector<LabelScores> marginals;  // probability of each label
};

class Tagger {
 public:
  // Texts are tagged in windows of so many tokens, each with kContext tokens more on either side
  // that speak and are not kept: time is linear, memory bounded, and the labels are those of the
  // whole text but for what is told over more than kContext tokens.
  static constexpr std::size_t kWindow = 400, kContext = 40;

  explicit Tagger(TaggerModel model);

  // The windows of a text of so many tokens, as places of tokens.
  static std::vector<std::pair<std::size_t, std::size_t>> Windows(std::size_t tokens);
  // One of them.
  TaggedText TagWindow(std::string_view text, std::span<const Token> tokens, std::size_t begin,
                       std::size_t end) const;

  // A text of any length in one: memory grows with it.
  TaggedText Tag(std::string_view text) const;
  // Tokens that are there already.
  TaggedText Tag(std::string_view text, std::vector<Token> tokens) const;

  // The threshold for a wanted share of the entities' tokens, 0 < recall < 1. Throws Error where
  // the model's table ends below it.
  double ThresholdOf(double recall) const;

  const TaggerModel& Model() const { return model_; }

 private:
  TaggerModel model_;
  FeatureIndex index_;
};

// Probability that a token belongs to an entity.
inline double EntityProbability(const LabelScores& marginals) { return 1.0 - marginals[kOutside]; }

// The labels, and tokens of at least this probability as entities of their most probable type. A
// token after one of the same type goes on with it.
std::vector<BioLabel> LabelsAbove(const TaggedText& tagged, double threshold);

}  // namespace sotto
