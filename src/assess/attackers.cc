#include "assess/attackers.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {
namespace {

using enum Attacker;

constexpr AttackerInfo kAttackers[] = {
    {kUnprotected, "unprotected", "original enrolment against original trials", ""},
    {kIgnorant, "ignorant", "original enrolment against released trials", ""},
    {kWithinRelease, "within-release",
     "released against released utterances, without the key or knowledge of the method",
     "the release holds no utterance of the enrolment"},
    {kLazyInformed, "lazy-informed",
     "enrolment protected with the attacker's own draws, against released trials",
     "no enrolment protected by the attacker was given"},
    {kSemiInformedQuick, "semi-informed-quick",
     "the same, with mean, LDA and PLDA re-estimated on protected background speech",
     "no protected background speech was given"},
    {kSemiInformed, "semi-informed", "the same, with a retrained encoder too",
     "no retrained encoder was given"},
    {kInformed, "informed", "enrolment protected with the draws of the release",
     "it needs the key of the release"},
    {kWaveformInversion, "waveform-inversion",
     "released trials with the change of voice undone at each point of a grid; the best score "
     "counts",
     "it needs the sound of the release"},
    {kEmbeddingInversion, "embedding-inversion",
     "released embeddings mapped back into the original space (Procrustes)",
     "no enrolment protected by the attacker was given"},
    {kPoolRule, "pool-rule",
     "the rule by which pseudonyms were chosen, where it looked at the source: the lowest (or "
     "highest) cosine of original enrolment and pseudonym counts",
     "the target does not depend on the source"},
    {kWords, "words",
     "original transcripts against released ones: the words alone, from books or chapters other "
     "than the trial's where ids tell them",
     "no transcripts were given", true, true},
    {kVoiceAndWords, "voice-and-words",
     "the same and the voice, as a sum calibrated on other speakers", "no transcripts were given",
     true, true},
    {kGenderOriginal, "gender-original", "gender, learnt from original speech", "", false},
    {kGenderProtected, "gender-protected", "gender, learnt from speech the attacker protected",
     "no speech protected by the attacker was given", false},
};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < std::size(kAttackers); ++i) {
    if (kAttackers[i].attacker != static_cast<Attacker>(i)) return false;
  }
  return true;
}
static_assert(InOrder(), "InfoOf takes an attacker for its place");

}  // namespace

std::span<const AttackerInfo> AllAttackers() { return kAttackers; }

const AttackerInfo& InfoOf(Attacker attacker) {
  return kAttackers[static_cast<std::size_t>(attacker)];
}

std::string Name(Attacker attacker) { return std::string(InfoOf(attacker).name); }

Attacker ParseAttacker(std::string_view name) {
  for (const AttackerInfo& info : kAttackers) {
    if (info.name == name) return info.attacker;
  }
  throw Error(fmt::format("there is no attacker '{}'", name));
}

}  // namespace sotto
