// `sotto anonymise`: a file or a whole corpus, with resumption, failures by name, and a run record.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "base/files.h"
#include "base/random.h"
#include "targets/targets.h"
#include "voice/voice_options.h"

namespace sotto {

struct AnonymiseOptions : VoiceOptions {
  std::filesystem::path in;
  std::filesystem::path out;
  std::optional<Strategy> strategy;  // not given: the method's default
  std::string context;               // separates releases that share a key

  // Where the key comes from: the operating system unless one of these is given.
  std::filesystem::path key_file;
  std::optional<std::uint64_t> experiment_seed;
  std::filesystem::path key_out;

  int jobs = 1;
  std::optional<Container> container;  // of the output; not given: see OutputFormat
  bool allow_pipes = false;
  bool skip_failed = false;  // finish the corpus without the recordings that failed
  bool new_ids = false;
  bool mark = false;  // every file says in a comment that its voice is not the speaker's
  std::filesystem::path map_out;
  bool replace = false;         // an output file, key or map that is there already
  bool absolute_paths = false;  // in wav.scp (audio/corpus.h, Naming)

  Strategy TargetStrategy() const;
  IfExists Outputs() const { return replace ? IfExists::kReplace : IfExists::kRefuse; }
  // Throws Error when options contradict each other.
  void Validate() const;
};

struct AnonymiseReport {
  struct Failure {
    std::string id;
    std::string reason;
  };
  std::size_t recordings = 0, utterances = 0, speakers = 0;
  std::size_t done = 0;     // recordings protected, those of an interrupted run included
  std::size_t resumed = 0;  // of these, found complete from an interrupted run
  std::vector<Failure> failures;
  double audio_seconds = 0.0;  // protected in this run
  double wall_seconds = 0.0;
  // Draws of a target by the source: at most, for the speaker with most utterances. 0: none.
  std::size_t target_draws = 0;
  double target_eps = 0.0;         // what each costs
  bool complete = false;           // the output is a whole corpus (or file)
  std::vector<std::string> notes;  // what the user should know: warnings, files left out
  // For the user's eyes alone: what depends on the speech and is in no epsilon.
  std::vector<std::string> private_notes;
};

// Runs. Throws Error when the run cannot start or finish as a whole; items that fail are in the
// report. `version` goes into the run record.
//
// A corpus run keeps its key and parameters in OUT/.sotto-work/state (mode 0600) until it is
// complete; the same command started again goes on where it stopped, with the same targets. What
// changed in the corpus meanwhile is protected again, what was withdrawn is removed. The folder is
// removed when the corpus is complete (release/run_state.h).
AnonymiseReport Anonymise(const AnonymiseOptions& options, const std::string& version);

// The record (sotto-run.json) that a complete run with these options leaves, all counts zero: what
// attackers will be told.
std::string PlannedRecord(const AnonymiseOptions& options, const std::string& version);

}  // namespace sotto
