// What an unfinished corpus run keeps, so that it can be taken up again with the same targets.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"

namespace sotto {

// An output of a run. Fingerprints are keyed with the key of the run: who reads the state without
// it cannot test whether a recording was among the originals.
struct MadeItem {
  std::string file;                // below OUT
  std::string output;              // fingerprint of the file
  std::string input;               // of all that it was made from
  std::vector<std::string> draws;  // names of the targets drawn by the source, keyed too
};

// Lives in OUT/.sotto-work (mode 0700):
//   lock    flocked as long as the run goes on, before anything else in OUT is looked at: two runs
//           never share an output;
//   state   (mode 0600) the key of the run, when it came from the operating system, keyed hashes of
//           the parameters and tables, and a line for each output, written before the output gets
//           its name;
//   *.part  files being written.
// A run that has made everything replaces the state by one without the key ("finishing"), which
// holds the run record and a fingerprint of each file in OUT; then the record is written and the
// folder goes. Every step is durable before the next begins.
class RunState {
 public:
  // Takes up the run in `out` or starts one. `given_key` is the user's key, absent when the
  // operating system is to give one. Throws Error when `out` holds anything else than an unfinished
  // run with the same parameters, when that run is still going on, or when another version of the
  // program began it.
  RunState(const std::filesystem::path& out, const std::optional<Key>& given_key,
           std::initializer_list<std::string_view> parameters);
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;
  ~RunState();

  bool IsResumed() const { return resumed_; }
  // The record of a run that was stopped while it finished. It needs no key, and has none.
  const std::optional<std::string>& FinishingRecord() const { return record_; }
  // The recordings that it went without, and why.
  const std::vector<std::pair<std::string, std::string>>& FinishingFailures() const {
    return failures_;
  }
  // What of that run's files is missing or not as it was made; empty: all are whole.
  std::string NotWhole() const;
  // That run cannot take anything out any more, or make anything again: its outputs are removed and
  // another one starts. Stopped in between, it goes on here.
  void Restart();
  const Key& RunKey() const { return *key_; }
  const std::filesystem::path& WorkFolder() const { return work_; }

  // The outputs that an interrupted run has made, by their names without extension.
  const std::map<std::string, MadeItem>& Made() const { return made_; }
  // Durable when it returns.
  void AddMade(std::span<const MadeItem> items);

  // Whether the interrupted run read the same tables; these count from now on.
  bool SetTables(const std::string& text);
  // A file outside OUT, key or map. Whether it is there as this run, or the interrupted one, wrote
  // it: then, and only then, the run may replace it.
  bool Wrote(const std::filesystem::path& file) const;
  // Those that are still there so.
  std::vector<std::string> WrittenFiles() const;
  // Before it is written with this content.
  void SetWritten(const std::filesystem::path& file, const std::string& content);

  // What a run that finishes leaves in its state.
  struct Finished {
    std::string corpus;              // a text of all that the outputs were made from
    std::string record;              // of the run
    std::vector<std::string> files;  // all that lie in OUT, the record apart
    std::vector<std::pair<std::string, std::string>> failures;  // ids and reasons
  };
  // Everything is made: the key goes.
  void BeginFinishing(const Finished& finished);
  // Whether `corpus` is what the finishing run was made from.
  bool IsSameCorpus(const std::string& corpus) const;
  // The run is complete: the work folder is deleted.
  void Complete();

 private:
  void Lock(const std::filesystem::path& out);
  // `own`: files of key and map that the run before wrote and this one may replace.
  void Start(const std::vector<std::string>& own);
  void Read();
  void ReadFinishing(const std::string& text);
  bool ReadLine(std::string_view line);
  void Append(const std::string& lines);
  std::string Signed(const std::string& line) const;
  std::string Fingerprint(const Key& key, const std::string& text) const;
  std::string GivenFingerprint(const Key& salt) const;
  // Of the file's content; empty where there is none to be read.
  std::string OfFile(const std::filesystem::path& file) const;
  Key Salt() const;

  std::filesystem::path out_, work_;
  const std::optional<Key> given_key_;
  std::vector<std::string> parameters_;
  std::optional<Key> key_;
  bool resumed_ = false;
  std::map<std::string, MadeItem> made_;
  std::string tables_;
  // Absolute paths, and fingerprints of what was written there: by the key, or by the salt.
  std::set<std::pair<std::string, std::string>> written_;
  // Of a finishing run.
  std::optional<std::string> record_;
  bool restarting_ = false;
  std::string salt_, corpus_;
  std::vector<std::pair<std::string, std::string>> files_;  // below OUT, and fingerprints
  std::vector<std::pair<std::string, std::string>> failures_;
  int lock_ = -1, state_ = -1;
};

}  // namespace sotto
