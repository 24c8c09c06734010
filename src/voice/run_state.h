// What an unfinished corpus run keeps, so that it can be taken up again with the same targets.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "base/random.h"

namespace sotto {

// Lives in OUT/.sotto-work (mode 0700): the file `state` (mode 0600) with the key of the run, when
// it came from the operating system, and a keyed hash of the parameters; and files being written.
// The state file is locked, so that two runs never share an output.
class RunState {
 public:
  // Takes up the run in `out` or starts one. `given_key` is the user's key, absent when the
  // operating system is to give one. Throws Error when `out` holds anything else than an unfinished
  // run with the same parameters, or when that run is still going on.
  RunState(const std::filesystem::path& out, const std::optional<Key>& given_key,
           std::initializer_list<std::string_view> parameters);
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  const Key& RunKey() const { return *key_; }
  bool IsResumed() const { return resumed_; }
  const std::filesystem::path& WorkFolder() const { return work_; }

  // The run is complete: the key and everything else in the work folder is deleted.
  void Complete();

 private:
  // An exclusive flock, held as long as the object lives.
  class FileLock {
   public:
    explicit FileLock(const std::filesystem::path& path);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

   private:
    int fd_;
  };

  std::filesystem::path work_;
  std::optional<Key> key_;
  bool resumed_ = false;
  std::unique_ptr<FileLock> lock_;
};

}  // namespace sotto
