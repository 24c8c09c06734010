// What a release says about itself in its sotto-run.json: the method and parameters that attackers
// are assumed to know.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assess/ladder.h"
#include "voice/method_table.h"
#include "voice/targets.h"

namespace sotto {

struct ReleaseRecord {
  VoiceOptions voice;  // pool and profile are empty: the record does not hold them
  Strategy strategy = Strategy::kPerm;
  bool pool_given = false;     // another pool than the program's
  std::string nets;            // fingerprint of a method's nets
  bool context_given = false;  // draws were separated by a text
  bool new_ids = false;
  bool seeded = false;
  // What an attacker's encoder must agree with, as written.
  std::map<std::string, std::string> parameters;

  // False when every utterance gets the same treatment whatever the key.
  bool HasDraws() const { return voice.Method().HasDraws(voice); }
  PoolRuleRecord Rule() const { return voice.Method().Rule(voice); }
  std::string Describe() const;  // "mcadams, alpha 0.5:0.9, pitch keep, strategy random"
};

// Of a record of sotto anonymise or sotto protect-embedding. Throws Error as ParseReleaseRecord.
PoolRuleRecord ParsePoolRule(std::string_view json, const std::string& where,
                             const MethodTable& methods = ProgramMethods());

// Throws Error that names `where` and what is missing or wrong, or a method that is not in the
// table.
ReleaseRecord ParseReleaseRecord(std::string_view json, const std::string& where,
                                 const MethodTable& methods = ProgramMethods());
// Of the corpus at `released`: sotto-run.json in the folder, or beside a manifest file.
ReleaseRecord ReadReleaseRecord(const std::filesystem::path& released,
                                const MethodTable& methods = ProgramMethods());

// Throws Error unless `header`, the metadata "sotto.attacker" of a retrained encoder, {"base":
// fingerprint of the weights it was fine-tuned from (empty: from scratch), "run": a
// sotto-run.json}, names the release's method and parameters, and this base. The strategy may be
// another: one retrained encoder serves all. An empty header is an Error too.
void RequireAttackerOf(std::string_view header, const ReleaseRecord& release,
                       const std::string& base_weights, const std::string& where);

// The same as a question: empty when it fits, else in which parameter it does not. What is no such
// header at all is an Error.
std::string AttackerMismatch(std::string_view header, const ReleaseRecord& release,
                             const std::string& base_weights, const std::string& where);

// From the metadata "sotto.training" {"curve": [{"step", "loss", "held_out_eer"}]}; empty without.
std::vector<AttackerCurvePoint> ParseTrainingCurve(std::string_view training,
                                                   const std::string& where);

}  // namespace sotto
