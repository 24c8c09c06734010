// Corpora from which surrogates are counted: those in which entities are marked, and any text in
// which a finder finds them.
#pragma once

#include <cstdint>
#include <filesystem>

#include "text/entity_finder.h"
#include "text/surrogate_counts.h"

namespace sotto {

struct SurrogateCorpusSize {
  std::uint64_t texts = 0;  // sentences or lines
  bool labelled = false;    // entities were marked in it; false: found
  bool speakers = false;    // it names who speaks; false: texts that differ count as people
};

// By what it is:
//   a folder                      marked corpora, as ReadLabelledCorpora knows them
//   .tsv with a column annotation one of them (NLU-eval)
//   .tsv with a column text       any text, with `speaker` where there is such a column (manifests)
//   .conll                        one of them (WikiGold)
//   else                          any text, line by line
// Throws Error that names the file and the line, never what stands there.
SurrogateCorpusSize CountSurrogates(const std::filesystem::path& corpus, const EntityFinder& finder,
                                    SurrogateCounts& counts);

}  // namespace sotto
