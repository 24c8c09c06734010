// What replacing entities leaves of a text's use: table 4 of the COMPRISE deliverable D2.2 (Adelani
// et al. 2020, § 2.4). A tagger of names, places, organisations, dates and times is trained on
// sentences whose entities were replaced with probability p by surrogates of their type
// (algorithm 1, text/replacement.h) and is tested on sentences as they were said; ε is that of
// lemma 2.1 with the relative frequencies π of the training part.
//
// The source measures it on Verbmobil, which cannot be had, with Flair's BiLSTM-CRF on BERT's
// vectors; here the corpora are voice commands (SLURP, NLU-eval, SNIPS) as transcripts (lower case,
// no punctuation), and the taggers know nothing but the training part. So the column of what is
// published and ours are to be compared by what p does to them, not by their height. What the
// source leaves open is decided so: entities are replaced whole; the development part, which the
// learner sees as well, is replaced like the training part; the test part is not, and what a tagger
// finds in a test part that was replaced likewise stands beside it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assess/intervals.h"
#include "text/entity_scores.h"
#include "text/labelled_corpora.h"
#include "text/replacement.h"
#include "text/replacement_epsilon.h"
#include "text/tagged_sentences.h"

namespace sotto {

// Sentences as transcripts, in three parts that share no sentence and no template.
struct ReplacementData {
  std::vector<std::string> corpora;
  std::vector<LabelledSentence> training, development, test;
  std::vector<std::size_t> test_corpus;  // of each sentence of the test part
};

inline constexpr const char* kReplacementCorpora[] = {"slurp", "nlu_eval", "snips"};

// Those of kReplacementCorpora that lie in a folder as ../shared/data/text has them. `most`
// training sentences, drawn by the seed, and development sentences in proportion; 0: all. Throws
// Error where there is none.
ReplacementData ReadReplacementData(const std::filesystem::path& folder, std::size_t most,
                                    std::uint64_t seed);

using TaggedRows = std::vector<std::vector<BioLabel>>;  // of sentences, a label for each word

// Trains on the first list, stops by the second, and tags the others, whose labels it does not
// read. Called from several threads at a time.
struct StudiedTagger {
  std::string name;
  std::function<std::vector<TaggedRows>(
      const std::vector<TaggedSentence>& training, const std::vector<TaggedSentence>& development,
      const std::vector<std::vector<TaggedSentence>>& to_tag, std::uint64_t seed)>
      train;
};

// The program's conditional random field (text/tagger_training.h), without lists of names and
// without sentences of its own making: all that it knows is the training part. It has no use for
// the development part.
StudiedTagger StudiedCrf();

struct ReplacementStudyOptions {
  std::vector<Chance> p = PublishedP();  // rising; others are compared with the first
  bool placeholder = true;               // a row more
  std::size_t seeds = 2;                 // trainings of each row, with draws of their own
  std::uint64_t min_people = 1;          // sentences that have a surrogate at least
  std::uint64_t seed = 1;
  int jobs = 1;  // trainings at a time; the figures do not depend on it
  IntervalOptions intervals;

  static std::vector<Chance> PublishedP();  // 0, 1/2, 9/10, 1
  // Throws Error that names the field.
  void Validate() const;
};

// Of one tagger, of all seeds together.
struct TaggingFigures {
  EntityCounts all;                              // in the test part
  std::array<EntityCounts, kTaggedTypes> types;  // of these
  std::vector<EntityCounts> corpora;
  EntityCounts replaced;  // in the test part with its entities replaced likewise
  std::vector<double> f1_of_seeds;
  std::optional<Interval> f1;      // over sentences
  std::optional<Interval> change;  // of F1, against the first row on the same sentences
  double seconds = 0.0;            // of its trainings
};

struct ReplacementRow {
  std::optional<Chance> p;  // absent: placeholders
  EpsilonStatement epsilon;
  double changed = 0.0;                 // share of the training part's entities
  std::vector<TaggingFigures> taggers;  // as the study's
};

// What the source says of a p.
struct PublishedReplacement {
  double p = 0.0, eps = 0.0, f1 = 0.0;
};
const std::vector<PublishedReplacement>& PublishedReplacements();
inline constexpr double kPublishedLeastShare = 1.297e-4;  // what its ε of p = 0.5 and 0.9 come from
inline constexpr const char* kPublishedReplacement =
    "Adelani, Davody, Srivastava, Tommasi, Vauquier, Improved transformation library and initial "
    "privacy guarantees, COMPRISE deliverable D2.2, 2020, table 4";
// Null for a p of which it says nothing.
const PublishedReplacement* PublishedFor(const ReplacementRow& row);

struct ReplacementStudy {
  struct Class {
    EntityType type = EntityType::kPerson;
    std::size_t entities = 0, words = 0;  // of the training part: all, different
    double log_least_share = 0.0;
    std::size_t test_entities = 0;
    std::optional<double> missed;  // of these, by the first tagger of the first row: not all of the
                                   // entity is covered, by whatever type
  };
  ReplacementStudyOptions options;
  std::vector<std::string> corpora;
  std::size_t training = 0, development = 0, test = 0;  // sentences
  std::vector<std::size_t> test_of_corpora;
  std::vector<Class> classes;
  std::optional<double> missed;  // of all test entities
  std::vector<std::string> taggers;
  std::vector<ReplacementRow> rows;
  double seconds = 0.0;

  double LogLeastShare() const;  // of the class where it is least
};

ReplacementStudy StudyReplacement(const ReplacementData& data,
                                  const std::vector<StudiedTagger>& taggers,
                                  const ReplacementStudyOptions& options);

}  // namespace sotto
