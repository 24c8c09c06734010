#include "audio/pairing.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"

namespace sotto {

CorpusPair OpenPair(const std::filesystem::path& original, const std::filesystem::path& released) {
  if (!IsSingleFile(original)) return {OpenCorpus(original), OpenCorpus(released)};
  CorpusPair pair{SingleFileCorpus(original), SingleFileCorpus(original)};
  pair.released.recordings[0].path = released;
  return pair;
}

std::vector<IdPair> PairById(std::span<const std::string> originals,
                             std::span<const std::string> released, const PairingRule& rule) {
  std::map<std::string, std::size_t> left;
  for (std::size_t i = 0; i < released.size(); ++i) {
    if (left.emplace(released[i], i).second) continue;
    throw Error(fmt::format("'{}' holds '{}' twice", rule.released, released[i]));
  }
  std::vector<IdPair> pairs;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const auto found = left.find(originals[i]);
    if (found == left.end()) {
      missing.push_back(originals[i]);
      continue;
    }
    pairs.push_back({i, found->second});
    left.erase(found);
  }
  if (rule.may_lack_released) missing.clear();
  if (rule.may_lack_originals) left.clear();
  if (missing.empty() && left.empty()) return pairs;
  throw Error(fmt::format(
      "'{}' and '{}' do not hold the same {}: {} only in the first{}, {} only in the second{}",
      rule.original, rule.released, rule.what, missing.size(),
      missing.empty() ? "" : fmt::format(" ('{}')", missing[0]), left.size(),
      left.empty() ? "" : fmt::format(" ('{}')", left.begin()->first)));
}

}  // namespace sotto
