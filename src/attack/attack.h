// `sotto attack`: the ladder on two corpora, or on embeddings that somebody made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assess/ladder.h"
#include "attack/ladder.h"
#include "attack/trial_plan.h"
#include "voice/method_table.h"

namespace sotto {

struct AttackOptions {
  // Corpora …
  std::filesystem::path original, released;
  std::filesystem::path background;        // the attacker's own public speech
  std::string encoder;                     // name or file; empty: the default
  std::filesystem::path attacker_encoder;  // retrained on protected speech
  // … the draws of the release, for the informed attacker …
  std::filesystem::path key_file;
  std::optional<std::uint64_t> seed;  // of a seeded experiment
  std::string context;
  // … and what its record does not hold.
  std::map<std::string, std::filesystem::path> files;  // by Parameter::attack_flag
  bool trust_models = false;        // ONNX Runtime and Moonshine, taken as they are (onnx/models.h)
  std::filesystem::path id_map;     // of --map-out, where ids were replaced
  std::uint64_t attacker_seed = 1;  // the attacker's own draws: an experiment, so they repeat

  // Or folders of embeddings; those of one kind are joined.
  std::vector<std::filesystem::path> embeddings_original, embeddings_released;
  std::vector<std::filesystem::path> embeddings_enrolment;  // protected by the attacker
  std::vector<std::filesystem::path> embeddings_background, embeddings_background_protected;
  std::vector<std::filesystem::path> embeddings_retrained_released, embeddings_retrained_enrolment,
      embeddings_retrained_background;

  std::vector<std::filesystem::path> trial_lists;
  PlanOptions plan;
  LadderOptions ladder;
  // Trials of each speaker and enrolment utterances of each speaker that the informed attacker
  // re-transforms for strategy random, where every pair costs a transformation; 0: all, or 2
  // and 3 where quick.
  int informed_trials = 0, informed_enrolment = 0;
  // Background speakers and utterances of each; 0: all, or 150 and 4 where quick.
  int background_speakers = 0, background_utterances = 0;
  std::filesystem::path cache;  // of embeddings, mode 0700; empty: none
  int jobs = 1;
  MethodTable method_table = ProgramMethods();  // that the release may name

  bool GivesEmbeddings() const { return !embeddings_original.empty(); }
  // Throws Error when options contradict each other.
  void Validate() const;
};

LadderResult Attack(const AttackOptions& options);

}  // namespace sotto
