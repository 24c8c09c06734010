#include "targets/targets.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace sotto {

Strategy ParseStrategy(std::string_view name) {
  for (const Strategy strategy : {Strategy::kConst, Strategy::kPerm, Strategy::kRandom}) {
    if (name == Name(strategy)) return strategy;
  }
  throw Error(fmt::format("strategy '{}': const, perm or random is allowed", name));
}

const char* Name(Strategy strategy) {
  switch (strategy) {
    case Strategy::kConst:
      return "const";
    case Strategy::kPerm:
      return "perm";
    case Strategy::kRandom:
      return "random";
  }
  return "";
}

TargetDraws::TargetDraws(const Key& key, Strategy strategy, std::string method, std::string context)
    : key_(key), strategy_(strategy), method_(std::move(method)), context_(std::move(context)) {}

double TargetDraws::Uniform(std::string_view parameter, double lo, double hi,
                            std::string_view speaker, std::string_view utterance) const {
  constexpr std::string_view kVersion = "sotto target draw 1";
  std::string_view level = "all", id;
  if (strategy_ == Strategy::kPerm) {
    level = "speaker";
    id = speaker;
  } else if (strategy_ == Strategy::kRandom) {
    level = "utterance";
    id = utterance;
  }
  return lo + (hi - lo) * key_.Uniform({kVersion, method_, parameter, level, id, context_});
}

Key TargetDraws::Derive(std::string_view parameter, std::string_view utterance) const {
  constexpr std::string_view kVersion = "sotto derived key 1";
  return key_.Derive({kVersion, method_, parameter, utterance, context_});
}

}  // namespace sotto
