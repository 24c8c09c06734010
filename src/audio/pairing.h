// Originals beside what was made of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "audio/corpus.h"

namespace sotto {

// Both sides, opened (audio/corpus.h). Two sound files are a pair of their own: the second has the
// name of the first.
struct CorpusPair {
  Corpus original, released;
};
CorpusPair OpenPair(const std::filesystem::path& original, const std::filesystem::path& released);

struct PairingRule {
  std::string original, released;   // what the sides are called in messages
  std::string what = "utterances";  // that have these ids
  bool may_lack_released = false;   // an original alone is no Error
  bool may_lack_originals = false;  // nor is something released alone
};

// Of recordings, utterances, whatever has an id.
template <typename Items>
std::vector<std::string> IdsOf(const Items& items) {
  std::vector<std::string> ids;
  ids.reserve(items.size());
  for (const auto& item : items) ids.push_back(item.id);
  return ids;
}

// Places in the two lists.
struct IdPair {
  std::size_t original = 0, released = 0;
};

// Pairs by id, in the order of the originals. Ids that are on one side only are an Error that
// counts them on both sides, unless the rule lets them pass; so is an id that is released twice.
std::vector<IdPair> PairById(std::span<const std::string> originals,
                             std::span<const std::string> released, const PairingRule& rule);

}  // namespace sotto
