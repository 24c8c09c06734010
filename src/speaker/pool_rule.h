// Whether the choice of a voice from a pool looked at the source (Srivastava et al. 2022, pools;
// Han et al. 2020, voice-indistinguishability): who knows the rule ranks the enrolled by it,
// whatever the sound says.
#pragma once

#include <string>

namespace sotto {

enum class PoolRule {
  kIndependent,  // drawn without a look at the source, or no target voice at all
  kFarthest,     // far from the source: the lowest similarity to the pseudonym is the source's
  kNearest,      // near it, for certain or more likely: the highest
};

struct PoolRuleRecord {
  PoolRule rule = PoolRule::kIndependent;
  std::string text;  // "region farthest", "target voice-ind, eps 4", "target generated"
};

}  // namespace sotto
