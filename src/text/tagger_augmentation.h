// Sentences as they might have been, for training: with other names from the lists in place of
// theirs, so that a name is known by what stands around it, and as recognisers write (lower case,
// no punctuation), so that capitals are no crutch. Draws are an experiment's (SeededRng).
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/gazetteers.h"
#include "text/labelled_corpora.h"

namespace sotto {

struct AugmentationOptions {
  double transcripts = 0.6;  // share of sentences without capitals and punctuation
  double lowered = 0.06;     // … in lower case with punctuation
  double capitals = 0.03;    // … in capitals only
  double replaced = 0.4;     // share of entities that become others
  double unknown = 0.1;      // share of tokens whose word is not seen

  void Validate() const;
};

class Augmentation {
 public:
  // Other organisations, dates and times are those of the corpora's training sentences.
  Augmentation(std::span<const LabelledCorpus> corpora, const NameLists& names,
               const AugmentationOptions& options);

  // Another form of a sentence of the corpus of this index.
  LabelledSentence Vary(const LabelledSentence& sentence, std::size_t corpus, SeededRng& rng) const;
  // Which tokens' words are not seen.
  std::vector<bool> Unknown(std::size_t tokens, SeededRng& rng) const;

 private:
  // Empty: the entity stays.
  std::string Other(std::string_view words, EntityType type, std::size_t corpus,
                    SeededRng& rng) const;
  std::string OtherPerson(std::string_view words, SeededRng& rng) const;
  std::string OtherPlace(std::string_view words, SeededRng& rng) const;
  LabelledSentence Replace(const LabelledSentence& sentence, std::size_t corpus,
                           SeededRng& rng) const;

  const NameLists& names_;
  Gazetteers gazetteers_;
  AugmentationOptions options_;
  std::vector<std::array<std::vector<std::string>, kTaggedTypes>> pools_;  // of each corpus
};

}  // namespace sotto
