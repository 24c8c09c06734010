// The attackers of the ladder, from those who know nothing to those who know the draws: each one's
// name and meaning stand here alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sotto {

enum class Attacker {
  kUnprotected,
  kIgnorant,
  kWithinRelease,
  kLazyInformed,
  kSemiInformedQuick,
  kSemiInformed,
  kInformed,
  kWaveformInversion,
  kEmbeddingInversion,
  kPoolRule,
  kWords,
  kVoiceAndWords,
  kGenderOriginal,
  kGenderProtected,
};

struct AttackerInfo {
  Attacker attacker;
  std::string_view name;     // in JSON, tables and notes
  std::string_view meaning;  // what is compared with what
  std::string_view lacks;  // why it did not run, where nothing more is known; empty: it always does
  bool links_speakers = true;  // false: it tells an attribute, and its EER is another thing
  // True: by what is said, which no change of voice hides, and on trials of its own (other books):
  // never the row that stands for a protection of voices.
  bool by_words = false;
};

std::span<const AttackerInfo> AllAttackers();  // in the order of the ladder
const AttackerInfo& InfoOf(Attacker attacker);
std::string Name(Attacker attacker);
// Throws Error for a name that no attacker has.
Attacker ParseAttacker(std::string_view name);

}  // namespace sotto
