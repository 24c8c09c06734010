#include "learn/hold_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace sotto {

std::set<std::string> ChooseHeldOut(std::vector<std::string> candidates, const HoldOut& hold_out,
                                    int utterances, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::shuffle(candidates.begin(), candidates.end(), random);
  for (const std::string& name : hold_out.names) {
    const auto found = std::find(candidates.begin(), candidates.end(), name);
    if (found == candidates.end()) {
      throw Error(
          fmt::format("speaker '{}' cannot be held out: not there or fewer than {} utterances",
                      name, utterances));
    }
    std::rotate(candidates.begin(), found, found + 1);
  }
  const auto count = static_cast<std::size_t>(
      std::max(hold_out.count, static_cast<std::int64_t>(hold_out.names.size())));
  if (candidates.size() < count) {
    throw Error(fmt::format("{} speakers have {} utterances, {} are to be held out",
                            candidates.size(), utterances, count));
  }
  return {candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace sotto
