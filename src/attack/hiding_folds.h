// Defences that hide an attribute, on one set of voiceprints alone: fitted, attacked and tested by
// folds of speakers. For sets that no other corpora belong to (x-vectors of other people's
// encoders): a fold's defence and its attackers come from the speakers of all other folds, so
// attackers hear the very speakers the defence was fitted on. A space of another fold is another
// space: figures are means over folds, and there is no attacker within the few speakers of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attack/attributes.h"
#include "speaker/attributes.h"
#include "speaker/embeddings.h"

namespace sotto {

struct FoldOptions {
  // "leace", or with parameters: "transport:dimension=10,erased=0"; empty: nothing is done, which
  // always is the first row.
  std::vector<std::string> defences;
  int folds = 5;
  ClassifierOptions classifier;
  std::uint64_t seed = 1;  // of defences that draw
};

struct FoldRow {
  std::string name;  // "unprotected" or as asked for
  double eer = 0.0;  // of pairs of utterances of the speakers of one fold; NaN: one each
  // AUC, turned where it lies below ½, by classifier in the order of kAttributeClassifiers.
  std::vector<double> uninformed;  // empty: the defence changes the dimension
  std::vector<double> informed;
};

struct FoldStudy {
  std::string attribute;
  std::size_t speakers = 0, voiceprints = 0;
  int folds = 0;
  std::vector<FoldRow> rows;
};

// Folders of embeddings, one after the other; a file or a folder with one vector per speaker too
// (ReadPoolEmbeddings). Speakers of the same name are one person.
EmbeddingSet ReadFoldVoices(const std::vector<std::filesystem::path>& sources);

// Throws Error where a speaker has no label, a category fewer speakers than folds, or a defence
// cannot be fitted.
FoldStudy StudyFolds(const EmbeddingSet& set, const AttributeLabels& labels,
                     const FoldOptions& options);

}  // namespace sotto
