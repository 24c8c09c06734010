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

#include "targets/pseudo_speakers.h"
#include "targets/targets.h"
#include "voice/method.h"
#include "voice/parameter.h"
#include "voice/voice_options.h"

namespace sotto {

// The method that sotto takes where none is asked for.
inline constexpr const char* kDefaultMethod = "neural";

// A guess at what was done to a recording, and how it is undone.
struct Inverse {
  std::string name;  // "alpha 0.7"
  std::function<std::unique_ptr<StreamTransformer>(int rate_hz, double peak_limit)> make;
};

// Whether the choice of a target looked at the source (Srivastava et al. 2022, pools; Han et al.
// 2020, voice-indistinguishability): who knows the rule ranks the enrolled by it, whatever the
// sound says.
enum class PoolRule {
  kIndependent,  // drawn without a look at the source, or no target voice at all
  kFarthest,     // far from the source: the lowest similarity to the pseudonym is the source's
  kNearest,      // near it, for certain or more likely: the highest
};
struct PoolRuleRecord {
  PoolRule rule = PoolRule::kIndependent;
  std::string text;  // "region farthest", "target voice-ind, eps 4", "target generated"
};

// What a run record says beside the values of parameters.
struct RunFacts {
  Strategy strategy = Strategy::kPerm;
  std::size_t target_draws = 0;  // by the source: at most, for the speaker with most utterances
};

class MethodDefinition {
 public:
  MethodDefinition(std::string name, std::string help, std::vector<Parameter> parameters)
      : name_(std::move(name)), help_(std::move(help)), parameters_(std::move(parameters)) {}
  MethodDefinition(const MethodDefinition&) = delete;
  MethodDefinition& operator=(const MethodDefinition&) = delete;
  virtual ~MethodDefinition() = default;

  const std::string& Name() const { return name_; }
  const std::string& Help() const { return help_; }  // after "--method NAME: "
  const std::vector<Parameter>& Parameters() const { return parameters_; }
  // Null: the method has no such parameter.
  const Parameter* Find(std::string_view parameter) const;
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
  // What the user should know of these values; before the run, and once `run` is known.
  virtual std::vector<std::string> PrivacyNotes(const VoiceOptions&) const { return {}; }
  virtual std::vector<std::string> FitNotes(const VoiceOptions&, const RunFacts&) const {
    return {};
  }

  // False when every utterance is treated alike, whatever the key.
  virtual bool HasDraws(const VoiceOptions&) const { return true; }
  // Draws of a target by the source for an utterance, at most.
  virtual std::size_t DrawsPerUtterance(const VoiceOptions&) const { return 1; }
  virtual PoolRuleRecord Rule(const VoiceOptions&) const;
  // What one must know of the rule's cost, where it has one; stands behind its text.
  virtual std::string RuleRemark(const VoiceOptions&, Strategy) const { return {}; }
  // The pool of a rule that looks at the source; empty where there is none.
  virtual std::optional<SpeakerPool> RulePool(const VoiceOptions&) const { return std::nullopt; }
  // The method backwards, over a grid of what an attacker does not know; `quick` takes fewer
  // points. Empty where there is nothing to undo.
  virtual std::vector<Inverse> Inverses(const VoiceOptions&, bool /*quick*/) const { return {}; }

 private:
  std::string name_, help_;
  std::vector<Parameter> parameters_;
};

class MethodTable {
 public:
  // Throws Error where another one has the name.
  void Add(std::shared_ptr<const MethodDefinition> method);
  // Throws Error that lists the names.
  std::shared_ptr<const MethodDefinition> Find(std::string_view name) const;
  const std::vector<std::shared_ptr<const MethodDefinition>>& All() const { return methods_; }
  std::vector<std::string> Names() const;
  // Which methods have the parameter.
  std::vector<std::string> Owners(std::string_view parameter) const;

 private:
  std::vector<std::shared_ptr<const MethodDefinition>> methods_;
};

// Those in the program. A program of one's own copies the table and adds to it.
const MethodTable& ProgramMethods();

// "NAME or NAME:PARAMETER=VALUE[,PARAMETER=VALUE…]": "mcadams", "mcadams:alpha=0.5:0.9",
// "neural:streaming". The parameters are those of `sotto anonymise`, with the same values and
// defaults. Throws Error that names the text, the parameter and what is allowed.
VoiceOptions ParseMethodText(const std::string& text,
                             const MethodTable& methods = ProgramMethods());

// What `sotto` says when a parameter is given to a method that has none of this name.
std::string BelongsTo(std::string_view parameter, const MethodTable& methods);

std::unique_ptr<VoiceMethod> MakeVoiceMethod(const VoiceOptions& options, TargetDraws draws);

}  // namespace sotto
