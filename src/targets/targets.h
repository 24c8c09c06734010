// Which target a speaker or an utterance gets: the strategies of the house, drawn under a key.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace sotto {

// const: one target for all. perm: one for each speaker. random: one for each utterance.
enum class Strategy { kConst, kPerm, kRandom };

// "const", "perm", "random"; Error for anything else.
Strategy ParseStrategy(std::string_view name);
const char* Name(Strategy strategy);

// Draws by keyed hash of (version, method, parameter, level, id, context), each length-prefixed:
// who knows every id but not the key learns nothing about a draw, and draws of two keys, two
// contexts, two methods or two parameters are independent.
class TargetDraws {
 public:
  TargetDraws(const Key& key, Strategy strategy, std::string method, std::string context = {});

  // Uniform on [lo, hi) for this utterance of this speaker.
  double Uniform(std::string_view parameter, double lo, double hi, std::string_view speaker,
                 std::string_view utterance) const;

  Strategy How() const { return strategy_; }

  // A key for this utterance alone, whatever the strategy: for noise that must differ in each.
  Key Derive(std::string_view parameter, std::string_view utterance) const;

 private:
  Key key_;
  Strategy strategy_;
  std::string method_;
  std::string context_;
};

}  // namespace sotto
