// How a target voice is chosen (--target). A rule is one definition in files of its own: its name,
// its parameters, its checks, what a run record says of it and what attackers know of the choice
// all come from it. A program of one's own copies the table, adds to it and makes its methods with
// it (MethodsWith, voice/method_table.h).
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/definition_table.h"
#include "speaker/pool_pseudonyms.h"
#include "targets/draw_ledger.h"
#include "targets/pseudo_speakers.h"
#include "targets/source_voices.h"
#include "targets/targets.h"

namespace sotto {

class SpeakerEncoder;

// What a run record says beside the values of parameters.
struct RunFacts {
  Strategy strategy = Strategy::kPerm;
  std::size_t target_draws = 0;  // by the source: at most, for the speaker with most utterances
};

// What a voice is drawn for: an utterance from its beginning, or from pause n of a stream on.
struct TargetUnit {
  std::string speaker, utterance;
  std::size_t pause = 0;
  // For draws without a look at the source another utterance begins after a pause.
  std::string Name() const;
};

// A rule at work on one pool.
class TargetChoice {
 public:
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

  virtual ~TargetChoice() = default;
  // Whose embeddings of the utterances it has to be told; null where it does not look at them.
  virtual const SpeakerEncoder* Encoder() const { return nullptr; }
  // Throws Error when one of these speakers may not be protected by this rule.
  virtual void RefuseSpeakers(const std::vector<std::string>& /*speakers*/) const {}
  // Voices for one utterance of a stream, at most; then the last is held.
  virtual std::size_t MostVoices() const { return kUnbounded; }
  // A voice of this gender. `sources` may be null where Encoder() is. Throws Error where there is
  // none.
  virtual SpeakerVoice Draw(const TargetUnit& unit, Gender gender,
                            const SourceVoices* sources) const = 0;
  // The draws so far for this utterance that looked at the source (targets/draw_ledger.h).
  virtual std::vector<TargetDraw> DrawsMade(const std::string& /*utterance*/) const { return {}; }
};

class TargetRule : public TableEntry {
 public:
  using TableEntry::TableEntry;

  // Whether it chooses by the source's embedding: the pool's must be by the program's encoder.
  virtual bool LooksAtSource() const { return false; }
  // Throws Error where the values, the method's among them, contradict each other.
  virtual void Check(const ParameterValues&) const {}
  virtual void CheckStrategy(const ParameterValues&, Strategy) const {}
  // Throws Error where a stream cannot have such targets.
  virtual void CheckStream() const {}

  // `nearest`: the cosine above which a new voice counts as one of the pool (pseudo_speakers.h).
  virtual std::shared_ptr<const TargetChoice> Make(std::shared_ptr<const SpeakerPool> pool,
                                                   double nearest, const ParameterValues& values,
                                                   const TargetDraws& draws) const = 0;

  // Draws by the source for an utterance, at most, and what each of them costs.
  virtual std::size_t DrawsPerUtterance(const ParameterValues&) const { return 1; }
  virtual double EpsilonOfDraw(const ParameterValues&) const { return 0.0; }
  // Adds to a run record what is no parameter.
  virtual void AddToRecord(const ParameterValues&, const RunFacts&, nlohmann::ordered_json&) const {
  }
  // What the user should know once the run is known.
  virtual std::vector<std::string> FitNotes(const ParameterValues&, const RunFacts&) const {
    return {};
  }
  // What an attacker knows of the choice, and of its cost, where it has one: stands behind.
  virtual PoolRuleRecord Known(const ParameterValues&) const;
  virtual std::string Remark(const ParameterValues&, Strategy) const { return {}; }
};

class TargetRules : public DefinitionTable<TargetRule> {
 public:
  TargetRules() : DefinitionTable("target") {}
  // Those that choose without a look at the source.
  TargetRules Blind() const;
};

// Those in the program; the first is the default.
const TargetRules& ProgramTargetRules();

// A file of voices in place of those that belong to the method; a parameter of any rule that takes
// its voices from a pool.
Parameter TargetPoolParameter();

}  // namespace sotto
