// What a run of `sotto protect-embedding` says of itself.
//
// The record lies in the release, so under a claim of epsilon it may hold parameters, public counts
// and the mechanism's own output, nothing else. Here that is a matter of types: ProtectRecord sees
// what was asked for, facts of a model and counts of ids, never a voiceprint, an owner's attribute
// or a figure made from one. What is measured on voiceprints is for the terminal and the private
// report. (An expected distance alone named 20 of 20 speakers at epsilon 0.1, where the bound
// allows 5.5 %.)
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "speaker/embeddings.h"
#include "speaker/pool_pseudonyms.h"
#include "speaker/protect_embeddings.h"
#include "speaker/voice_indistinguishability.h"

namespace sotto {

// Of ids, speakers and the public pool.
struct ProtectCounts {
  std::size_t utterances = 0, speakers = 0, pool_voices = 0;
  std::size_t most_utterances = 0;             // of one speaker
  std::map<Gender, std::size_t> pool_genders;  // voices of each; empty where not all are labelled
};
ProtectCounts CountProtect(const EmbeddingSet& source);
void CountPool(const EmbeddingSet& pool, ProtectCounts& counts);

// What voice-ind spends on the speaker with most draws.
double EpsilonPerSpeaker(const VoiceIndOptions& options, const ProtectCounts& counts);

// OUT/sotto-run.json. `hiding`: of a defence.
std::string ProtectRecord(const ProtectOptions& options, const ProtectCounts& counts,
                          const std::optional<HidingFacts>& hiding, const std::string& version);

}  // namespace sotto
