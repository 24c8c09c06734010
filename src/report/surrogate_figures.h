// What `sotto build text` says of surrogates that it has built.
#pragma once

#include <string>

#include "text/surrogate_corpus.h"

namespace sotto {

struct BuiltSurrogates {
  SurrogateCorpusSize size;  // of all corpora
  std::size_t corpora = 0;
  std::uint64_t min_people = 0;
  std::array<SurrogateCounts::OfType, kEntityTypes> types;
};

// Text, or `json`: file, corpora, texts, labelled, counted_by, min_count, bytes, and for each type
// entities, words, kept_entities, kept_words, least_share (of a surrogate of any form), from
// ("corpus", "program", "none").
std::string PrintedSurrogates(const BuiltSurrogates& built, const Surrogates& surrogates,
                              std::size_t bytes, const std::string& file, bool json);

}  // namespace sotto
