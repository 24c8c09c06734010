// What a release says about itself in its sotto-run.json: the method and parameters that attackers
// are assumed to know.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "targets/targets.h"
#include "voice/method_table.h"

namespace sotto {

struct ReleaseRecord {
  VoiceOptions voice;  // pool and profile are empty: the record does not hold them
  Strategy strategy = Strategy::kPerm;
  bool lacks_pool = false;     // it was not the program's, and the record does not hold it
  std::string nets;            // fingerprint of a method's nets
  bool context_given = false;  // draws were separated by a text
  bool new_ids = false;
  bool seeded = false;
  std::string randomness;  // "key file", "seeded experiment: protects nobody" …
  // What an attacker's encoder must agree with, as written.
  std::map<std::string, std::string> parameters;

  // False when every utterance gets the same treatment whatever the key.
  bool HasDraws() const { return voice.Method().HasDraws(voice); }
  // What an attacker knows of how targets were chosen, and of the cost of that.
  PoolRuleRecord Rule() const;
  std::string RuleRemark() const;
  std::string Describe() const;  // "mcadams, alpha 0.5:0.9, pitch keep, strategy random"
};

// Of a record of sotto anonymise or sotto protect-embedding. Throws Error as ParseReleaseRecord.
PoolRuleRecord ParsePoolRule(std::string_view json, const std::string& where,
                             const MethodTable& methods = ProgramMethods());

// Throws Error that names `where` and what is missing or wrong, or a method that is not in the
// table.
ReleaseRecord ParseReleaseRecord(std::string_view json, const std::string& where,
                                 const MethodTable& methods = ProgramMethods());
// Of the corpus at `released`.
ReleaseRecord ReadReleaseRecord(const std::filesystem::path& released,
                                const MethodTable& methods = ProgramMethods());

// The record's file, of a folder or beside a manifest or sound file; it may not be there.
std::filesystem::path RecordFile(const std::filesystem::path& released);

// The recogniser whose model the method uses itself (empty: of none), where there is a record.
std::optional<std::string> RecordedContent(const std::filesystem::path& released);

// The fields of a run record that an attacker's encoder must agree with, as written.
std::map<std::string, std::string> SoundFields(const nlohmann::json& record,
                                               const MethodDefinition& method);

}  // namespace sotto
