#include "targets/draw_ledger.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {

void DrawLedger::Enter(const std::string& utterance, const TargetDraw& draw) {
  const std::lock_guard lock(mutex_);
  std::set<std::string>& names = names_[utterance][draw.speaker];
  if (most_ && names.size() >= *most_ && !names.contains(draw.name)) {
    throw Error(fmt::format("utterance '{}': more draws of a target than the {} declared",
                            utterance, *most_));
  }
  names.insert(draw.name);
}

std::vector<TargetDraw> DrawLedger::Of(const std::string& utterance) const {
  const std::lock_guard lock(mutex_);
  std::vector<TargetDraw> draws;
  const auto found = names_.find(utterance);
  if (found == names_.end()) return draws;
  for (const auto& [speaker, names] : found->second) {
    for (const std::string& name : names) draws.push_back({speaker, name});
  }
  return draws;
}

}  // namespace sotto
