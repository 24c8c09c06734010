// The methods there are. A method is one definition in files of its own; flags, method texts, run
// records and their reader, what attackers know and try, and what `sotto evaluate` measures all
// come from it. Nothing outside those files names a method.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/definition_table.h"
#include "targets/target_rule.h"
#include "voice/method.h"
#include "voice/voice_options.h"

namespace sotto {

// The method that sotto takes where none is asked for.
inline constexpr const char* kDefaultMethod = "neural";

// A guess at what was done to a recording, and how it is undone.
struct Inverse {
  std::string name;  // "alpha 0.7"
  std::function<std::unique_ptr<StreamTransformer>(int rate_hz, double peak_limit)> make;
};

class MethodDefinition : public TableEntry {
 public:
  using TableEntry::TableEntry;

  // The fields of a run record that tell how it sounds; the method's own name is the first.
  std::vector<std::string> RecordFields() const;

  // For anonymise, stream and evaluate alike, and for whoever calls the library.
  virtual Strategy DefaultStrategy() const { return Strategy::kPerm; }
  // The default of a parameter, which may depend on the others.
  virtual std::string Preset(const VoiceOptions& options, const Parameter& parameter) const;
  // The file that a parameter stands for; empty: what is in the program.
  virtual std::filesystem::path FileOf(const VoiceOptions& options,
                                       const Parameter& parameter) const;
  // Throws Error where the values contradict each other.
  virtual void Check(const VoiceOptions& /*options*/) const {}
  // Throws Error where they cannot be asked for with this strategy. A record of an earlier version
  // may say what is refused here.
  virtual void CheckStrategy(const VoiceOptions& /*options*/, Strategy /*strategy*/) const {}
  // Sets what a stream needs. Throws Error where it cannot be one.
  virtual void SetUpStream(VoiceOptions& options, Strategy strategy) const;

  // Opens what the method needs. Throws Error as Check does, and where a file is missing or
  // damaged.
  virtual std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options,
                                            TargetDraws draws) const = 0;

  // Every sample is made anew, none is the speaker's.
  virtual bool IsSynthetic() const { return false; }
  // What the sound depends on beside the parameters, by its field in the record: the name of nets.
  virtual std::vector<std::pair<std::string, std::string>> Facts(const VoiceOptions&) const {
    return {};
  }
  virtual std::vector<std::string> FactFields() const { return {}; }
  // Whether a parameter matters with these values, and is recorded.
  virtual bool IsUsed(const VoiceOptions&, const Parameter&) const { return true; }
  // Adds to a run record what is neither parameter nor fact.
  virtual void AddToRecord(const VoiceOptions&, const RunFacts&, nlohmann::ordered_json&) const {}
  // What the user should know of these values before the run.
  virtual std::vector<std::string> PrivacyNotes(const VoiceOptions&) const { return {}; }

  // False when every utterance is treated alike, whatever the key.
  virtual bool HasDraws(const VoiceOptions&) const { return true; }
  // How its targets are chosen; null where no rule of the table is asked.
  virtual std::shared_ptr<const TargetRule> Rule(const VoiceOptions&) const { return nullptr; }
  // The pool of a rule that chooses by the source; empty where there is none.
  virtual std::optional<SpeakerPool> RulePool(const VoiceOptions&) const { return std::nullopt; }
  // The method backwards, over a grid of what an attacker does not know; `quick` takes fewer
  // points. Empty where there is nothing to undo.
  virtual std::vector<Inverse> Inverses(const VoiceOptions&, bool /*quick*/) const { return {}; }
};

class MethodTable : public DefinitionTable<MethodDefinition> {
 public:
  MethodTable() : DefinitionTable("method") {}
};

// Those in the program. A program of one's own copies the table and adds to it.
const MethodTable& ProgramMethods();
// The same methods; those whose targets are chosen by a rule take them from this table.
MethodTable MethodsWith(const TargetRules& rules);

// "NAME or NAME:PARAMETER=VALUE[,PARAMETER=VALUE…]": "mcadams", "mcadams:alpha=0.5:0.9",
// "neural:streaming". The parameters are those of `sotto anonymise`, with the same values and
// defaults. Throws Error that names the text, the parameter and what is allowed.
VoiceOptions ParseMethodText(const std::string& text,
                             const MethodTable& methods = ProgramMethods());

// What `sotto` says when a parameter is given to a method that has none of this name.
std::string BelongsTo(std::string_view parameter, const MethodTable& methods);

std::unique_ptr<VoiceMethod> MakeVoiceMethod(const VoiceOptions& options, TargetDraws draws);

}  // namespace sotto
