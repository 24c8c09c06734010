// What every verb's file offers to main.cc, and what the verbs share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "cli/flags.h"
#include "cli/table_flags.h"
#include "targets/targets.h"
#include "voice/voice_options.h"

namespace sotto::cli {

// Thrown by a verb that has said all there is to say and wants this exit code.
struct ExitWith {
  int code;
};

// Runs a check of what the flags say; an Error of it is bad usage, not bad input.
template <typename Check>
void CheckUsage(const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    throw CLI::ValidationError(error.what());
  }
}

// Adds a verb whose --help shows defaults and ends with these example commands.
CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& description,
                  const std::string& examples);

// The flag of the verbs that write what somebody keeps: sound, embeddings, models, packs, keys,
// maps, scores, tables. Report pages are replaced without it.
struct ForceFlag {
  bool force = false;

  void Add(CLI::App& verb);
  // For what writes the file after the work.
  IfExists OnExisting() const { return force ? IfExists::kReplace : IfExists::kRefuse; }
  // Before the work: throws Error when the file is there and may not be replaced. An empty path is
  // no file.
  void Check(const std::filesystem::path& path) const;
};

// --trust-models, of every verb that may open a foreign model (onnx/models.h).
void AddTrustFlag(CLI::App& verb, bool& trust_models);

// The flags that choose a target, shared by the verbs that transform a voice.
struct TargetFlags {
  std::string key_file;
  std::optional<std::uint64_t> seed;
  std::string context;

  void Add(CLI::App& verb);
};

// --method and the parameters of all methods in the table, shared by the same verbs.
class MethodFlags {
 public:
  MethodFlags();
  // `streams`: without those that a stream does not take.
  void Add(CLI::App& verb, bool streams = false);
  // The method, with what the flags say. Bad usage where a flag belongs to another method.
  VoiceOptions Options() const;

 private:
  std::string method_;  // empty: the default
  TableFlags flags_;
};

// --strategy: not given, the default of the method.
struct StrategyFlag {
  std::string name;

  void Add(CLI::App& verb);
  std::optional<Strategy> Asked() const;
};

// One function per verb, each in its own file.
void AddAnonymise(CLI::App& app);
void AddAssess(CLI::App& app);
void AddAttack(CLI::App& app);
void AddBuild(CLI::App& app);
void AddCheck(CLI::App& app);
void AddCompare(CLI::App& app);
void AddFeatures(CLI::App& app);
void AddDp(CLI::App& app);
void AddEmbed(CLI::App& app);
void AddEvaluate(CLI::App& app);
void AddFit(CLI::App& app);
void AddPrivasp(CLI::App& app);
void AddProtectEmbedding(CLI::App& app);
void AddRedact(CLI::App& app);
void AddScore(CLI::App& app);
void AddSpoof(CLI::App& app);
void AddStream(CLI::App& app);
void AddTrain(CLI::App& app);
void AddTrainCalibration(CLI::App& app);  // after AddTrain
void AddTrainIvector(CLI::App& app);      // after AddTrain
void AddUtility(CLI::App& app);
void AddVerify(CLI::App& app);

}  // namespace sotto::cli
